package formats

import "vitrine/library"

// readHFSpace reads the JSON that the SDXL demo spaces of Hugging Face write.
func readHFSpace(src *Source) (Record, bool) {
	r := src.find("num_inference_steps", isHFSpace)
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	l := library.Lineage{Tool: "hf-space", Positive: o.str("prompt"), Negative: o.str("negative_prompt")}
	p := params(&l)
	p.Seed = o.seed("seed")
	p.Steps = o.int("num_inference_steps")
	p.CFGScale = o.float("guidance_scale")
	p.Sampler = o.named("sampler", "scheduler")
	nameScheduler(p)
	name, hash := o.name("Model", "model"), o.name("Model hash", "model_hash")
	if m := o.object("Model"); m != nil { // some spaces nest the two
		name, hash = m.name("Model"), m.name("Model hash")
	}
	p.ModelName = nonEmpty(name)
	p.Width, p.Height = parseSize(o.name("resolution"))
	if p.Width == nil {
		p.Width, p.Height = o.positive("width"), o.positive("height")
	}
	addCheckpoint(&l, name, hash)
	if lora := o.object("use_lora"); lora != nil {
		addWeighted(&l, library.ModelUse{Type: "lora", Name: lora.name("selected_lora"), Strength: lora.float("multiplier")})
	}
	if up := o.object("use_upscaler"); up != nil {
		l.Hires = &library.Hires{Scale: up.float("upscale_by"), Upscaler: up.named("upscale_method"), Steps: up.positive("upscale_steps"), Denoise: up.float("upscaler_strength")}
		l.Hires.Width, l.Hires.Height = parseSize(up.name("new_resolution"))
	}
	addPromptModels(&l, o.name("prompt"))
	o.extras(&l, map[string]bool{"prompt": true, "negative_prompt": true, "seed": true, "num_inference_steps": true, "guidance_scale": true,
		"sampler": true, "Model": true, "Model hash": true, "resolution": true, "use_upscaler": true, "use_lora": true})
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

// isHFSpace asks for more than the names that diffusers' arguments have: requests
// to other services have those, too.
func isHFSpace(o object) bool {
	if !o.has("prompt", "num_inference_steps") {
		return false
	}
	if o.has("Model") {
		return true
	}
	for _, key := range []string{"use_upscaler", "use_lora", "sdxl_style", "quality_tags"} { // null when off
		if _, ok := o[key]; ok && o.has("resolution") {
			return true
		}
	}
	return false
}
