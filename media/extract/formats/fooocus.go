package formats

import (
	"strconv"
	"strings"

	"vitrine/library"
)

// readFooocus reads the JSON scheme of Fooocus, the labelled form of its older
// logs, and the record of the MRE fork. Its A1111 scheme is read as infotext.
func readFooocus(src *Source) (Record, bool) {
	r := src.find("", isFooocus)
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r, src.Get("fooocus_scheme"))
	o := r.asObject()
	l := library.Lineage{Tool: "fooocus", ToolVersion: o.name("version", "Version", "software")}
	l.Positive = o.str("prompt", "Prompt", "p_txt")
	l.Negative = o.str("negative_prompt", "Negative Prompt", "n_txt")
	fooocusSettings(&l, o)
	fooocusModels(&l, o)
	known := map[string]bool{"prompt": true, "negative_prompt": true, "seed": true, "steps": true, "guidance_scale": true, "sampler": true,
		"scheduler": true, "base_model": true, "base_model_hash": true, "resolution": true, "version": true, "clip_skip": true, "loras": true}
	o.extras(&l, known)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

func isFooocus(o object) bool {
	switch {
	case o.name("metadata_scheme") == "fooocus":
		return true
	case strings.HasPrefix(o.name("version", "Version", "software"), "Fooocus"):
		return true
	case o.has("base_model", "prompt") && (o.has("performance") || o.has("sharpness") || o.has("refiner_model")):
		return true
	}
	return o.has("Prompt", "Base Model") && (o.has("Performance") || o.has("Sharpness") || o.has("Styles"))
}

func fooocusSettings(l *library.Lineage, o object) {
	p := params(l)
	p.Seed = o.seed("seed", "Seed")
	p.Steps = o.int("steps", "Steps")
	p.CFGScale = o.float("guidance_scale", "Guidance Scale", "cfg", "CFG")
	p.Sampler = o.named("sampler", "Sampler", "sampler_name")
	p.Scheduler = o.named("scheduler", "Scheduler")
	p.ClipSkip = o.clipSkip("clip_skip", "CLIP Skip", "base_clip_skip")
	p.ModelName = o.named("base_model", "Base Model", "base_model_name")
	p.Width, p.Height = o.positive("width"), o.positive("height")
	if p.Width == nil {
		p.Width, p.Height = parseSize(o.name("resolution", "Resolution"))
	}
	if d := o.float("denoise"); d != nil && *d > 0 {
		p.Denoise = d
	}
}

func fooocusModels(l *library.Lineage, o object) {
	addCheckpoint(l, o.name("base_model", "Base Model", "base_model_name"), o.name("base_model_hash"))
	addModel(l, library.ModelUse{Type: "checkpoint", Name: o.name("refiner_model", "Refiner Model"), Hash: o.name("refiner_model_hash")})
	addModel(l, library.ModelUse{Type: "vae", Name: o.name("vae", "VAE")})
	for _, entry := range o.list("loras") {
		addFooocusLora(l, entry)
	}
	for i := 1; i <= 20; i++ {
		n := strconv.Itoa(i)
		addCombinedLora(l, o.name("lora_combined_"+n, "LoRA "+n))
	}
	addPromptModels(l, o.name("prompt", "Prompt"))
}

// addFooocusLora reads one entry of "loras": [name, weight, hash] in Fooocus,
// [hash, "weight - name"] in RuinedFooocus, or an object.
func addFooocusLora(l *library.Lineage, entry any) {
	switch e := entry.(type) {
	case map[string]any:
		o := object(e)
		addWeighted(l, library.ModelUse{Type: "lora", Name: o.name("name", "model", "lora"), Hash: o.name("hash"), Strength: o.float("weight", "strength")})
	case string:
		addCombinedLora(l, e)
	case []any:
		m := library.ModelUse{Type: "lora"}
		if len(e) >= 2 && toFloat(e[1]) != nil { // the name comes first, even one that looks like a hash
			m.Name, e = object{"v": e[0]}.name("v"), e[1:]
		}
		for _, part := range e {
			fooocusLoraPart(&m, object{"v": part})
		}
		addWeighted(l, m)
	}
}

func fooocusLoraPart(m *library.ModelUse, part object) {
	text := part.name("v")
	weight, name, joined := strings.Cut(text, " - ")
	switch {
	case parseFloat(text) != nil && m.Strength == nil && m.Name != "":
		m.Strength = parseFloat(text)
	case joined && parseFloat(weight) != nil:
		m.Strength, m.Name = parseFloat(weight), name
	case isHash(text) && (m.Name != "" || len(text) >= 10):
		m.Hash = text
	case m.Name == "":
		m.Name = text
	}
}

func isHash(s string) bool {
	if len(s) < 8 || len(s) > 64 {
		return false
	}
	for _, r := range s {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return true
}

// addCombinedLora reads "name : weight" and "True : name : weight".
func addCombinedLora(l *library.Lineage, text string) {
	parts := strings.Split(text, " : ")
	if len(parts) == 3 {
		if parts[0] != "True" {
			return
		}
		parts = parts[1:]
	}
	if len(parts) == 2 {
		addWeighted(l, library.ModelUse{Type: "lora", Name: parts[0], Strength: parseFloat(parts[1])})
	}
}

// addWeighted adds a network unless its strength is zero.
func addWeighted(l *library.Lineage, m library.ModelUse) {
	if m.Strength == nil || *m.Strength != 0 {
		addModel(l, m)
	}
}

// readRuinedFooocus reads the record of the RuinedFooocus fork.
func readRuinedFooocus(src *Source) (Record, bool) {
	r := src.find("RuinedFooocus", func(o object) bool { return strings.HasPrefix(o.name("software"), "RuinedFooocus") })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	l := library.Lineage{Tool: "ruined-fooocus", ToolVersion: o.name("version")}
	l.Positive, l.Negative = o.str("Prompt", "prompt"), o.str("Negative", "negative_prompt", "negative")
	fooocusSettings(&l, o)
	fooocusModels(&l, o)
	known := map[string]bool{"Prompt": true, "Negative": true, "seed": true, "steps": true, "cfg": true, "sampler_name": true, "scheduler": true,
		"base_model_name": true, "base_model_hash": true, "width": true, "height": true, "software": true, "clip_skip": true, "loras": true}
	o.extras(&l, known)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}
