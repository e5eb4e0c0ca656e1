package formats

import (
	"strconv"
	"strings"

	"vitrine/library"
)

// readDrawThings reads the JSON that Draw Things keeps in XMP's
// exif:UserComment: "c" and "uc" are the prompts, "v2" repeats the settings in
// the app's own terms, with control nets, networks and upscaling.
func readDrawThings(src *Source) (Record, bool) {
	named := strings.HasPrefix(src.text("CreatorTool"), "Draw Things")
	r := src.find(`"c"`, func(o object) bool {
		return o.has("c") && (named || o.has("v2") || o.has("seed_mode") || o.has("uc", "scale", "size"))
	})
	if r == nil {
		return readDrawThingsText(src)
	}
	src.markUsed(r, src.Get("description"))
	o := r.asObject()
	v2 := o.object("v2")
	l := library.Lineage{Tool: "draw-things"}
	if version, ok := strings.CutPrefix(src.text("CreatorTool"), "Draw Things"); ok { // else an editor's name
		l.ToolVersion = strings.TrimSpace(version)
	}
	l.Positive, l.Negative = o.str("c"), o.str("uc")
	drawSettings(&l, o, v2)
	drawModels(&l, o, v2)
	o.extras(&l, map[string]bool{"c": true, "uc": true, "seed": true, "steps": true, "scale": true, "sampler": true, "size": true, "model": true, "v2": true, "lora": true, "control": true})
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

func drawSettings(l *library.Lineage, o, v2 object) {
	p := params(l)
	p.Seed = o.seed("seed")
	if p.Seed == nil {
		p.Seed = v2.seed("seed")
	}
	p.Steps = firstInt(o.int("steps"), v2.int("steps"))
	p.CFGScale = firstFloat(o.float("scale"), v2.float("guidanceScale"))
	p.Sampler = o.named("sampler")
	nameScheduler(p)
	p.ModelName = firstText(o.named("model"), v2.named("model"))
	p.Width, p.Height = parseSize(o.name("size"))
	if p.Width == nil {
		p.Width, p.Height = v2.positive("width"), v2.positive("height")
	}
	p.ClipSkip = v2.clipSkip("clipSkip")
	p.Denoise = firstFloat(o.float("strength"), v2.float("strength"))
	p.BatchSize = v2.positive("batchSize")
	if drawGuidance(firstOf(o.name("model"), v2.name("model")), v2) {
		p.Guidance = v2.float("guidanceEmbed")
	}
	drawHires(l, o, v2)
}

// drawGuidance reports whether the distilled guidance counts. The app writes one for
// every model; only some are distilled, and there the scale stands for it unless
// that is switched off.
func drawGuidance(model string, v2 object) bool {
	return strings.Contains(strings.ToLower(model), "flux") && v2.has("speedUpWithGuidanceEmbed") && !v2.bool("speedUpWithGuidanceEmbed")
}

// drawHires reads the upscaling pass. The size of the record is the second pass's.
func drawHires(l *library.Lineage, o, v2 object) {
	if !v2.bool("hiresFix") && !o.bool("hires_fix") {
		return
	}
	p := params(l)
	w, h := parseSize(o.name("first_stage_size"))
	if w == nil {
		w, h = v2.positive("hiresFixWidth"), v2.positive("hiresFixHeight")
	}
	l.Hires = &library.Hires{Denoise: firstFloat(o.float("second_stage_strength"), v2.float("hiresFixStrength")), Width: p.Width, Height: p.Height}
	if w != nil && h != nil {
		p.Width, p.Height = w, h
	}
}

// readDrawThingsText reads the description that Draw Things puts beside its
// JSON: like infotext, with "-" before the negative prompt and settings of its own.
func readDrawThingsText(src *Source) (Record, bool) {
	for _, r := range src.Unused() {
		if !strings.Contains(r.Text, "Seed Mode:") || looksLikeObject(r.Text) {
			continue
		}
		t, ok := parseInfotext(r.Text)
		if !ok || t.settings.get("Seed Mode") == "" {
			continue
		}
		src.markUsed(r)
		if prompt, negative, cut := strings.Cut(t.prompt, "\n-"); cut && t.negative == nil {
			t.prompt, t.negative = strings.TrimSpace(prompt), nonEmpty(strings.TrimSpace(negative))
		}
		l := infotextLineage(t)
		l.Tool, l.ToolVersion = "draw-things", ""
		params(&l).Denoise = parseFloat(t.settings.number("Strength"))
		for i := 1; i <= 20; i++ {
			n := "LoRA " + strconv.Itoa(i)
			addWeighted(&l, library.ModelUse{Type: "lora", Name: t.settings.get(n + " Model"), Strength: parseFloat(t.settings.number(n + " Weight"))})
		}
		tidy(&l)
		return Record{Lineage: l, Place: r.Place}, true
	}
	return Record{}, false
}

func drawModels(l *library.Lineage, o, v2 object) {
	addCheckpoint(l, firstOf(o.name("model"), v2.name("model")), "")
	loras := o.objects("lora", "loras")
	if len(loras) == 0 {
		loras = v2.objects("loras")
	}
	for _, m := range loras {
		addWeighted(l, library.ModelUse{Type: "lora", Name: m.name("model", "file"), Strength: m.float("weight")})
	}
	controls := o.objects("control", "controls")
	if len(controls) == 0 {
		controls = v2.objects("controls")
	}
	for _, m := range controls {
		addWeighted(l, library.ModelUse{Type: "controlnet", Name: m.name("model", "file"), Strength: m.float("weight")})
	}
	addModel(l, library.ModelUse{Type: "checkpoint", Name: firstOf(o.name("refiner"), v2.name("refinerModel"))})
	addModel(l, library.ModelUse{Type: "upscaler", Name: firstOf(o.name("upscaler"), v2.name("upscaler"))})
}
