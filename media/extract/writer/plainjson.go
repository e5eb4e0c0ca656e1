package writer

import "vitrine/library"

// readPlainJSON reads a JSON object of an unknown writer whose members carry the
// usual names for a prompt and settings. It names no tool.
func readPlainJSON(src *Source) (Finding, bool) {
	r := src.find("rompt", isPlainRecord)
	if r == nil {
		return Finding{}, false
	}
	src.claim(r)
	o := r.Object()
	l := library.Lineage{Tool: toolName(o.name("software", "generator"))}
	l.Positive = o.str("prompt", "Prompt", "positive_prompt", "positivePrompt")
	l.Negative = o.str("negative_prompt", "negativePrompt", "Negative Prompt", "negative")
	p := params(&l)
	p.Seed = o.seed("seed", "Seed")
	p.Steps = o.int("steps", "num_inference_steps", "Steps")
	p.CFGScale = o.float("cfg_scale", "cfgScale", "cfg", "guidance_scale", "CFG scale")
	p.Sampler = o.named("sampler", "sampler_name", "Sampler")
	p.Scheduler = o.named("scheduler", "Scheduler")
	p.Width, p.Height = o.positive("width", "Width"), o.positive("height", "Height")
	p.ModelName = o.named("model", "model_name", "Model")
	addCheckpoint(&l, o.name("model", "model_name", "Model"), o.name("model_hash"))
	tidy(&l)
	return Finding{Lineage: l, Place: r.Place}, true
}

// isPlainRecord asks for a prompt and two settings: less could be anything.
func isPlainRecord(o object) bool {
	if o.named("prompt", "Prompt", "positive_prompt", "positivePrompt") == nil {
		return false
	}
	settings := 0
	for _, names := range [][]string{{"seed", "Seed"}, {"steps", "num_inference_steps", "Steps"}, {"cfg_scale", "cfgScale", "cfg", "guidance_scale"},
		{"sampler", "sampler_name", "Sampler"}, {"width", "Width"}, {"model", "model_name", "Model"}} {
		if o.get(names...) != nil {
			settings++
		}
	}
	return settings >= 2
}
