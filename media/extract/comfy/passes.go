package comfy

import "vitrine/library"

// of reads the settings of one sampling pass.
func (r *passes) of(n *node) *library.SamplerPass {
	if p := r.memo[n]; p != nil {
		return p
	}
	p := &library.SamplerPass{NodeID: n.id, NodeType: n.class}
	r.memo[n] = p
	r.readSettings(n, p)
	r.readCustom(n, p)
	if pipe := n.pipe(); pipe != nil && r.pictures.isSampler(pipe.node) {
		r.inherit(n, p, pipe.node)
	}
	if base, ok := n.link("base_sampler"); ok {
		r.inherit(n, p, base.node)
	}
	pos, neg := r.prompts.of(n)
	p.Positive, p.Negative = pos.joined(), neg.joined()
	if p.Guidance == nil && pos.guidance != nil {
		p.Guidance = pos.guidance
		r.from(n, "guidance", pos.guidanceFrom)
	}
	if p.Guidance == nil {
		p.Guidance = r.values.number(n, []string{"embedded_guidance_scale", "guidance"})
	}
	name, at := r.models.sampledWith(n)
	p.Model = name
	r.from(n, "model_name", at)
	return p
}

// readSettings reads the settings that a node holds itself.
func (r *passes) readSettings(n *node, p *library.SamplerPass) {
	p.Seed = r.values.seed(n, seedNames)
	p.Steps = r.values.whole(n, stepsNames)
	p.CFGScale = r.values.number(n, cfgNames)
	p.Denoise = r.values.number(n, denoiseNames)
	p.StartStep = r.values.whole(n, []string{"start_at_step", "start_step", "begin_step"})
	p.EndStep = r.values.whole(n, []string{"end_at_step", "end_step", "stop_at_step"})
	if p.EndStep != nil && *p.EndStep < 0 { // stands for the last step
		p.EndStep = nil
	}
	p.Sampler = r.values.word(n, samplerNames)
	p.Scheduler = r.values.word(n, schedulerNames)
}

// from notes that a setting of a pass was read from another node.
func (r *passes) from(pass *node, field string, n *node) {
	if r.origins[pass] == nil {
		r.origins[pass] = map[string]*node{}
	}
	r.origins[pass][field] = n
}

// inherit fills what the pass itself leaves open from the node that prepared it.
func (r *passes) inherit(n *node, p *library.SamplerPass, prepared *node) {
	q := r.of(prepared)
	adopt(r, n, "seed", &p.Seed, q.Seed, prepared)
	adopt(r, n, "steps", &p.Steps, q.Steps, prepared)
	adopt(r, n, "cfg_scale", &p.CFGScale, q.CFGScale, prepared)
	adopt(r, n, "denoise", &p.Denoise, q.Denoise, prepared)
	adopt(r, n, "sampler", &p.Sampler, q.Sampler, prepared)
	adopt(r, n, "scheduler", &p.Scheduler, q.Scheduler, prepared)
}

// adopt fills an open setting of a pass and notes where it came from.
func adopt[T any](r *passes, pass *node, field string, dst **T, v *T, from *node) {
	if *dst == nil && v != nil {
		*dst = v
		r.from(pass, field, from)
	}
}

// readSplit reads at which step a schedule was cut in two.
func (r *passes) readSplit(n *node, slot int, pass *library.SamplerPass) {
	at := r.values.whole(n, []string{"step"})
	switch {
	case at == nil || !n.like("splits_sigmas"):
	case slot == 0:
		pass.EndStep = at
	default:
		pass.StartStep = at
	}
}
