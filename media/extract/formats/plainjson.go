package formats

import (
	"regexp"
	"strings"

	"vitrine/library"
)

// readPlainJSON reads a JSON object of an unknown writer whose members carry the
// usual names for a prompt and settings, or text chunks named so. It names no tool.
func readPlainJSON(src *Source) (Record, bool) {
	if r := src.find("rompt", isPlainRecord); r != nil {
		src.markUsed(r)
		return Record{Lineage: plainLineage(r.asObject()), Place: r.Place}, true
	}
	o, used := object{}, []*Entry(nil)
	for _, r := range src.Unused() {
		if _, taken := o[r.Key]; !taken && len(r.Key) < 40 && !looksLikeObject(r.Text) {
			o[r.Key] = strings.TrimSpace(r.Text)
			used = append(used, r)
		}
	}
	if !isPlainRecord(o) {
		return Record{}, false
	}
	src.markUsed(used...)
	return Record{Lineage: plainLineage(o), Place: used[0].Place}, true
}

// plainSize is a width and a height; proportions and names of sizes are neither.
var plainSize = regexp.MustCompile(`^\(?\d{2,5} ?[x×*,] ?\d{2,5}\)?$`)

func plainLineage(o object) library.Lineage {
	l := library.Lineage{Tool: toolName(o.name("software", "generator"))}
	if by := o.object("generator"); by != nil {
		l.Tool, l.ToolVersion = toolName(by.name("name")), by.name("version")
	}
	l.Positive = o.str("prompt", "Prompt", "positive_prompt", "positivePrompt")
	l.Negative = o.str("negative_prompt", "negativePrompt", "Negative Prompt", "negative", "negative-prompt")
	p := params(&l)
	p.Seed = o.seed("seed", "Seed")
	p.Steps = o.int("steps", "num_inference_steps", "sample_steps", "Steps")
	p.CFGScale = o.float("cfg_scale", "cfgScale", "cfg", "guidance_scale", "CFG scale", "scale")
	p.Sampler = o.named("sampler", "sampler_name", "Sampler")
	p.Scheduler = o.named("scheduler", "Scheduler")
	nameScheduler(p)
	p.Width, p.Height = o.positive("width", "Width"), o.positive("height", "Height")
	if p.Width == nil || p.Height == nil {
		if text := o.name("resolution", "size", "Size"); plainSize.MatchString(text) {
			p.Width, p.Height = parseSize(text)
		}
	}
	p.Frames = o.positive("num_frames")
	p.ModelName = o.named("model", "model_name", "Model")
	addCheckpoint(&l, o.name("model", "model_name", "Model"), o.name("model_hash"))
	tidy(&l)
	return l
}

// isPlainRecord asks for a prompt and two settings: less could be anything.
func isPlainRecord(o object) bool {
	if o.named("prompt", "Prompt", "positive_prompt", "positivePrompt") == nil {
		return false
	}
	settings := 0
	for _, names := range [][]string{{"seed", "Seed"}, {"steps", "num_inference_steps", "sample_steps", "Steps"}, {"cfg_scale", "cfgScale", "cfg", "guidance_scale", "CFG scale", "scale"},
		{"sampler", "sampler_name", "Sampler"}, {"width", "Width"}, {"model", "model_name", "Model"}} {
		if o.get(names...) != nil {
			settings++
		}
	}
	return settings >= 2
}
