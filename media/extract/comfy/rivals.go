package comfy

import "vitrine/library"

// maxRivals bounds the outputs that are compared.
const maxRivals = 16

// keepShared opens the fields in which the other outputs that may have written the
// file differ from the chosen one: whose value it is cannot be known.
func (r *reader) keepShared(lin *library.Lineage, primary *node) {
	for _, out := range r.outputs.rivals[:min(len(r.outputs.rivals), maxRivals)] {
		path := r.pictures.pathFrom(out)
		if len(path.passes) == 0 {
			continue
		}
		other := r.chains.of(path)[0]
		if other == primary {
			continue
		}
		p, gp := r.passes.of(other), lin.Parameters
		shared(&lin.Positive, p.Positive)
		shared(&lin.Negative, p.Negative)
		shared(&gp.Seed, p.Seed)
		shared(&gp.Steps, p.Steps)
		shared(&gp.CFGScale, p.CFGScale)
		shared(&gp.Guidance, p.Guidance)
		shared(&gp.Sampler, p.Sampler)
		shared(&gp.Scheduler, p.Scheduler)
		shared(&gp.Denoise, p.Denoise)
		var name *string
		if p.Model != "" {
			name = &p.Model
		}
		shared(&gp.ModelName, name)
		if d, e := r.sizes.at(primary), r.sizes.at(other); d != e {
			gp.Width, gp.Height = nil, nil
		}
	}
}

// shared opens a field in which two passes differ.
func shared[T comparable](field **T, other *T) {
	if *field != nil && (other == nil || **field != *other) {
		*field = nil
	}
}
