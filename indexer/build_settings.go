package indexer

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"vitrine/library"
	"vitrine/mappings"
)

// maxParams bounds the settings of one document; what a writer records beyond
// the known ones comes last.
const maxParams = 256

// buildSettings fills in the settings of the primary pass, as typed fields and
// as "key=value" entries under their names in generation_parameters.
func buildSettings(d *mappings.Document, l *library.Lineage) {
	var p params
	if g := l.Parameters; g != nil {
		d.Seed, d.Steps, d.BatchSize = g.Seed, g.Steps, g.BatchSize
		d.CFG, d.Denoise = finite(g.CFGScale), finite(g.Denoise)
		d.Sampler, d.Scheduler = canonicalSampler(text(g.Sampler), text(g.Scheduler))
		if g.Seed != nil {
			p.add("seed", strconv.FormatUint(*g.Seed, 10))
		}
		p.int("steps", g.Steps)
		p.float("cfg_scale", g.CFGScale)
		p.float("cfg", g.CFGScale) // what most tools call it
		p.float("guidance", g.Guidance)
		p.add("sampler", text(g.Sampler))
		p.add("scheduler", text(g.Scheduler))
		p.float("denoise", g.Denoise)
		p.int("clip_skip", g.ClipSkip)
		p.int("width", g.Width)
		p.int("height", g.Height)
		p.int("frames", g.Frames)
		p.float("fps", g.FPS)
		p.int("batch_size", g.BatchSize)
		p.add("model_name", text(g.ModelName))
	}
	if h := l.Hires; h != nil {
		p.float("hires_scale", h.Scale)
		p.int("hires_steps", h.Steps)
		p.float("hires_denoise", h.Denoise)
		p.add("hires_upscaler", text(h.Upscaler))
	}
	if t := l.ImageTool; t != nil {
		p.all(t.Flags)
	}
	p.all(l.Extra)
	d.Params = p.list
}

// params collects "key=value" and bare "value" entries.
type params struct{ set }

func (p *params) add(key, value string) {
	if value == "" || len(value) > mappings.MaxKeyword || len(p.list)+2 > maxParams {
		return
	}
	p.set.add(mappings.Param(key, value))
	p.set.add(mappings.CanonicalNumber(value))
}

func (p *params) int(key string, v *int) {
	if v != nil {
		p.add(key, strconv.Itoa(*v))
	}
}

func (p *params) float(key string, v *float64) {
	if v = finite(v); v != nil {
		p.add(key, strconv.FormatFloat(*v, 'f', -1, 64))
	}
}

func (p *params) all(m map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		p.add(key, m[key])
	}
}

// finite leaves out what JSON cannot hold.
func finite(f *float64) *float64 {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	return f
}

// canonicalSampler returns the canonical names of a sampler and a noise schedule. What the
// file says stays among the parameters, as it is written. A schedule at the end of a
// sampler's name counts where the file names none.
func canonicalSampler(sampler, scheduler string) (string, string) {
	name, schedule := library.CanonicalSampler(sampler)
	if scheduler != "" {
		schedule = library.CanonicalScheduler(scheduler)
	}
	return name, schedule
}
