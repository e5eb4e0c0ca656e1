package formats

import (
	"strings"

	"vitrine/library"
)

// infotextKeys are the chunks in which the family itself writes its text. Any
// other text counts only with a full settings line.
var infotextKeys = []string{"parameters", "UserComment", "ImageDescription", "Comment", "Description", "stealth"}

// readInfotext reads the text record of AUTOMATIC1111's web UI, of the Forge
// line, of SD.Next, and of the many savers that imitate it.
func readInfotext(src *Source) (Record, bool) {
	var f Record
	found := false
	for _, r := range infotextEntries(src) {
		t, ok := parseInfotext(r.Text)
		if !ok {
			continue
		}
		src.markUsed(r)
		if found {
			continue // a copy, or another picture's text: the first is this file's
		}
		f, found = Record{Lineage: infotextLineage(t), Place: r.Place}, true
	}
	if found {
		readPostprocessing(src, &f.Lineage)
		return f, true
	}
	if f, ok := readBarePrompt(src); ok {
		return f, true
	}
	return readEnlarged(src)
}

// readEnlarged reads a picture that the extras tab made of one without a record:
// what enlarged it is all that is known.
func readEnlarged(src *Source) (Record, bool) {
	r := src.Get("postprocessing", "extras")
	if r == nil || parseSettings(r.Text).get("Postprocess upscale by", "Postprocess upscaler", "Upscaler", "Upscale") == "" {
		return Record{}, false
	}
	f := Record{Lineage: library.Lineage{Tool: "sd-webui"}, Place: r.Place}
	readPostprocessing(src, &f.Lineage)
	return f, true
}

// readPostprocessing adds what the extras tab records when it enlarges a picture
// that was generated before.
func readPostprocessing(src *Source, l *library.Lineage) {
	r := src.Get("postprocessing", "extras")
	if r == nil {
		return
	}
	src.markUsed(r)
	s := parseSettings(r.Text)
	addLaterPasses(l, s)
	infotextExtra(l, s)
}

// infotextEntries returns the candidates, the family's own places first.
func infotextEntries(src *Source) []*Entry {
	var own, other []*Entry
	for _, r := range src.Unused() {
		switch {
		case looksLikeObject(r.Text) && !r.prompt, len(r.Text) > maxJSON:
		case isOneOf(r.Key, infotextKeys):
			own = append(own, r)
		default:
			other = append(other, r)
		}
	}
	return append(own, other...)
}

// readBarePrompt reads a "parameters" text of two prompts without settings.
func readBarePrompt(src *Source) (Record, bool) {
	r := src.Get("parameters")
	if r == nil || !strings.Contains("\n"+r.Text, "\n"+negativeMark) {
		return Record{}, false
	}
	src.markUsed(r)
	prompt, negative := splitPrompts(strings.Split(strings.ReplaceAll(r.Text, "\r\n", "\n"), "\n"))
	l := library.Lineage{Tool: "sd-webui", Positive: &prompt, Negative: negative}
	addPromptModels(&l, prompt)
	return Record{Lineage: l, Place: r.Place}, true
}

func isOneOf(key string, keys []string) bool {
	for _, k := range keys {
		if strings.EqualFold(k, key) {
			return true
		}
	}
	return false
}

// infotextLineage turns the parts of the text into lineage.
func infotextLineage(t infotext) library.Lineage {
	var l library.Lineage
	l.Tool, l.ToolVersion = infotextTool(t.settings)
	prompt := t.prompt
	l.Positive, l.Negative = &prompt, t.negative
	infotextSettings(&l, t.settings)
	if l.Tool == "stable-diffusion.cpp" {
		cppSettings(&l, t.settings)
	}
	infotextHires(&l, t.settings)
	infotextModels(&l, t)
	infotextPasses(&l, t.settings)
	infotextParent(&l, t.settings)
	infotextExtra(&l, t.settings)
	tidy(&l)
	return l
}

func infotextSettings(l *library.Lineage, s settings) {
	p := params(l)
	p.Seed = parseSeed(s.number("Seed"))
	p.Steps = parseCount(s.number("Steps"))
	p.CFGScale = parseFloat(s.number("CFG scale", "Guidance scale"))
	p.Guidance = parseFloat(s.number("Distilled CFG Scale", "Distilled CFG", "Flux Guidance"))
	p.Sampler = nonEmpty(s.get("Sampler"))
	p.Scheduler = nonEmpty(s.get("Schedule type", "Scheduler", "Schedule"))
	nameScheduler(p)
	p.ClipSkip = parseCount(s.number("Clip skip"))
	p.Width, p.Height = parseSize(s.get("Size"))
	p.Denoise = parseFloat(s.number("Denoising strength", "Denoise"))
	p.BatchSize = parseCount(s.number("Batch size"))
	if _, size, ok := strings.Cut(s.number("Batch"), "x"); ok && p.BatchSize == nil {
		p.BatchSize = parseCount(size) // SD.Next: batches x size
	}
	p.ModelName = nonEmpty(modelOf(s))
}

// modelOf returns the main model's name. Savers that write no "Model" may have it
// in the hashes, as "Model:NAME".
func modelOf(s settings) string {
	if name := s.get("Model"); name != "" {
		return name
	}
	for key := range parseHashes(s) {
		if name, ok := strings.CutPrefix(key, "Model:"); ok {
			return name
		}
	}
	return ""
}

// cppSettings reads what stable-diffusion.cpp writes under names of its own: the
// diffusion model that it loads without a checkpoint, and the distilled guidance.
func cppSettings(l *library.Lineage, s settings) {
	p := params(l)
	if p.ModelName == nil {
		p.ModelName = nonEmpty(firstOf(s.get("Unet"), s.get("High Noise Unet")))
	}
	p.Guidance = parseFloat(s.number("Guidance"))
	if p.Sampler == nil || p.Scheduler != nil && !strings.EqualFold(*p.Scheduler, lastWord(*p.Sampler)) {
		return
	}
	if name, schedule, both := strings.Cut(*p.Sampler, " "); both && cppSchedules[schedule] {
		p.Sampler, p.Scheduler = &name, &schedule
	}
}

// cppSchedules are the schedules that stand behind the sampler's name.
var cppSchedules = map[string]bool{"discrete": true, "karras": true, "exponential": true, "ays": true, "gits": true, "sgm_uniform": true, "simple": true, "smoothstep": true, "kl_optimal": true, "bong_tangent": true, "lcm": true}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// infotextHires reads the upscaling pass. With one, "Denoising strength" is its
// strength, not the base pass's; "First pass size" is how older versions wrote
// the size of the base pass, with Size as the final one.
func infotextHires(l *library.Lineage, s settings) {
	p := params(l)
	h := &library.Hires{
		Scale:    parseFloat(s.number("Hires upscale", "Hires scale")),
		Upscaler: sampler(s.get("Hires upscaler")),
		Steps:    parseCount(s.number("Hires steps")),
	}
	h.Width, h.Height = parseSize(s.get("Hires size", "Hires resize", "Hires fixed"))
	if fw, fh := parseSize(s.get("First pass size")); fw != nil {
		h.Width, h.Height = p.Width, p.Height
		p.Width, p.Height = fw, fh
	}
	if h.Steps != nil && *h.Steps == 0 {
		h.Steps = nil // as many as the base pass, or no pass at all
	}
	if *h == (library.Hires{}) || *h == (library.Hires{Steps: h.Steps}) && s.get("Refiner") != "" {
		return // a refiner's steps are no upscaling
	}
	if h.Scale == nil && h.Width != nil && p.Width != nil && *p.Width > 0 {
		scale := float64(*h.Width) / float64(*p.Width)
		h.Scale = &scale
	}
	if h.Denoise = parseFloat(s.number("Hires strength", "Hires denoising strength")); h.Denoise == nil {
		h.Denoise, p.Denoise = p.Denoise, nil
	}
	l.Hires = h
}

// infotextParent names the picture that was worked over, by the digest of its
// pixels: the family records no file name.
func infotextParent(l *library.Lineage, s settings) {
	if hash := s.get("Init image hash"); hash != "" {
		l.Parents = append(l.Parents, library.Parent{Kind: "init_image", Hash: "pixels-md5:" + hash})
	}
}

// basePass is the pass that the parameters are of.
func basePass(l *library.Lineage) library.SamplerPass {
	p := params(l)
	base := library.SamplerPass{Role: "base", Seed: p.Seed, Steps: p.Steps, CFGScale: p.CFGScale, Guidance: p.Guidance,
		Sampler: p.Sampler, Scheduler: p.Scheduler, Denoise: p.Denoise, Positive: l.Positive, Negative: l.Negative}
	if p.ModelName != nil {
		base.Model = *p.ModelName
	}
	return base
}

// infotextPasses lists the passes the text tells apart: base, upscaling, detail.
func infotextPasses(l *library.Lineage, s settings) {
	p := params(l)
	if p.Steps == nil && p.Sampler == nil && p.Seed == nil {
		return
	}
	l.Samplers = append(l.Samplers, basePass(l))
	if l.Hires != nil {
		model, _ := cutHash(s.get("Hires checkpoint"))
		if noModel(model) {
			model = "" // the one of the base pass
		}
		l.Samplers = append(l.Samplers, library.SamplerPass{Role: "hires", Model: model, Steps: l.Hires.Steps, Denoise: l.Hires.Denoise,
			Sampler: sampler(s.get("Hires sampler")), Scheduler: sampler(s.get("Hires schedule type")),
			CFGScale: parseFloat(s.get("Hires CFG Scale")), Guidance: parseFloat(s.get("Hires Distilled CFG Scale")),
			Positive: nonEmpty(s.get("Hires prompt")), Negative: nonEmpty(s.get("Hires negative prompt"))})
	}
	for _, nth := range []string{"", " 2nd", " 3rd", " 4th"} {
		model := s.get("ADetailer model" + nth)
		if noModel(model) {
			continue
		}
		pass := library.SamplerPass{Role: "detailer", Model: model, Denoise: parseFloat(s.get("ADetailer denoising strength" + nth)),
			Steps: parseCount(s.get("ADetailer steps" + nth)), CFGScale: parseFloat(s.get("ADetailer CFG scale" + nth)),
			Positive: nonEmpty(s.get("ADetailer prompt" + nth)), Negative: nonEmpty(s.get("ADetailer negative prompt" + nth))}
		l.Samplers = append(l.Samplers, pass)
	}
	if model := s.get("Detailer"); !noModel(model) { // SD.Next's own
		l.Samplers = append(l.Samplers, library.SamplerPass{Role: "detailer", Model: model, Denoise: parseFloat(s.number("Detailer strength")),
			Steps: parseCount(s.number("Detailer steps")), Positive: nonEmpty(s.get("Detailer prompt")), Negative: nonEmpty(s.get("Detailer negative"))})
	}
}

func sampler(s string) *string {
	if noModel(s) {
		return nil
	}
	return nonEmpty(s)
}

// schedules are the noise schedules that samplers carried in their names before
// "Schedule type" became a setting of its own.
var schedules = []string{"Karras", "Exponential", "Polyexponential", "SGM Uniform"}

// nameScheduler takes the scheduler out of the sampler's name where nothing else
// gives it.
func nameScheduler(p *library.GenerationParameters) {
	if p.Scheduler == nil && p.Sampler != nil {
		p.Scheduler = schedulerOf(*p.Sampler)
	}
}

func schedulerOf(sampler string) *string {
	for _, s := range schedules {
		if strings.HasSuffix(strings.ToLower(sampler), " "+strings.ToLower(s)) {
			return &s
		}
	}
	return nil
}

// taken are the settings that have a field of their own.
var taken = map[string]bool{
	"seed": true, "steps": true, "cfg scale": true, "sampler": true, "schedule type": true, "clip skip": true, "size": true,
	"model": true, "model hash": true, "version": true, "lora hashes": true, "ti hashes": true, "hashes": true,
	"hires upscale": true, "hires upscaler": true, "hires steps": true, "hires resize": true, "distilled cfg scale": true,
	"denoising strength": true, "civitai resources": true, "sdcpp": true, "unet": true, "te": true, "vae": true, "vae hash": true,
}

func infotextExtra(l *library.Lineage, s settings) {
	for _, p := range s {
		if !taken[strings.ToLower(p.key)] {
			addExtra(l, p.key, p.value)
		}
	}
}
