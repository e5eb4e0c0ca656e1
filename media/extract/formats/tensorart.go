package formats

import (
	"strings"

	"vitrine/library"
)

// readTensorArt reads TensorArt's "generation_data". Its seed is what was asked
// for, -1 when random; the one that ran is in the graph beside it.
func readTensorArt(src *Source) (Record, bool) {
	r := src.Get("generation_data")
	if r == nil || r.asObject() == nil {
		r = src.find("cfgScale", func(o object) bool { return o.has("baseModel", "prompt") })
	}
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	base := o.object("baseModel")
	l := library.Lineage{Tool: "tensorart", Positive: o.str("prompt"), Negative: o.str("negativePrompt")}
	p := params(&l)
	p.Seed = o.seed("seed")
	p.Steps = o.int("steps")
	p.CFGScale = o.float("cfgScale")
	p.Sampler = o.named("ksamplerName", "samplerName", "sampler")
	p.Scheduler = o.named("schedule", "scheduler")
	nameScheduler(p)
	p.ClipSkip = o.clipSkip("clipSkip")
	p.Width, p.Height = o.positive("width"), o.positive("height")
	p.ModelName = base.named("modelFileName", "label")
	p.Denoise = o.float("denoisingStrength")
	if strings.Contains(strings.ToUpper(base.name("baseModel")), "FLUX") {
		p.Guidance = o.float("guidance") // present for every model, meant for this kind only
	}
	addModel(&l, tensorModel(base, "checkpoint"))
	addModel(&l, library.ModelUse{Type: "vae", Name: o.name("sdVae")})
	for _, m := range o.objects("models") {
		addWeighted(&l, tensorModel(m, "lora"))
	}
	tensorHires(&l, o)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

func tensorModel(m object, fallback string) library.ModelUse {
	kind := modelKind(m.name("type"))
	if kind == "other" {
		kind = fallback
	}
	return library.ModelUse{Type: kind, Name: m.name("modelFileName", "label"), Hash: m.name("hash"), Strength: m.float("weight"),
		BaseModel: m.name("baseModel"), VersionID: m.name("modelFileId")}
}

// tensorHires reads the upscaling pass, whose strength the denoising is then.
func tensorHires(l *library.Lineage, o object) {
	if o.has("enableHr") && !o.bool("enableHr") {
		return
	}
	h := &library.Hires{Scale: o.float("hiresUpscale", "hrUpscale"), Upscaler: o.named("hiresUpscaler", "hrUpscaler"),
		Steps: o.positive("hiresSteps", "hrSecondPassSteps"), Denoise: o.float("hiresDenoisingStrength")}
	if *h == (library.Hires{}) {
		return
	}
	if p := params(l); h.Denoise == nil {
		h.Denoise, p.Denoise = p.Denoise, nil
	}
	l.Hires = h
}
