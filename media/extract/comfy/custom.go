package comfy

import (
	"strings"
	"unicode"

	"vitrine/library"
)

// readCustom reads the parts of custom sampling: noise, sampler, sigmas and
// guider are nodes of their own there.
func (r *passes) readCustom(n *node, p *library.SamplerPass) {
	if from, ok := n.link("noise"); ok {
		seed, at := r.noiseSeed(from.node)
		adopt(r, n, "seed", &p.Seed, seed, at)
	}
	if from, ok := n.link("sampler", "sampler_obj"); ok {
		name, at := r.samplerObject(from)
		adopt(r, n, "sampler", &p.Sampler, name, at)
	}
	if from, ok := n.link("sampler", "sampler_obj"); ok && p.Seed == nil {
		r.pictures.follow(from.node, func(m *node) bool { // samplers that draw their own noise
			adopt(r, n, "seed", &p.Seed, r.values.seed(m, seedNames), m)
			return p.Seed != nil
		}, "sampler", "base_sampler", "original_sampler")
	}
	if from, ok := n.link("sigmas"); ok {
		r.readSigmas(n, from, p)
	}
	if from, ok := n.link("guider"); ok {
		cfg, at := r.guiderCFG(from.node)
		adopt(r, n, "cfg_scale", &p.CFGScale, cfg, at)
	}
}

func (r *passes) noiseSeed(n *node) (seed *uint64, at *node) {
	r.pictures.follow(n, func(n *node) bool {
		if n.like("no_noise") {
			return true
		}
		seed, at = r.values.seed(n, append(seedNames[:len(seedNames):len(seedNames)], "value")), n
		return seed != nil
	}, "noise", "noise1", "noise_1")
	return seed, at
}

// samplerObject names a sampler that is a node: by its own choice, or by its
// class ("SamplerEulerAncestral" is euler_ancestral).
func (r *passes) samplerObject(p port) (name *string, at *node) {
	r.pictures.follow(p.node, func(n *node) bool {
		at = n
		if s, ok := r.values.scalar(n.in("sampler_name"), "sampler_name"); ok && s != "" {
			name = &s
			return true
		}
		if _, wraps := n.link("sampler", "base_sampler", "original_sampler"); wraps {
			return false
		}
		if s := n.samplerOfClass(); s != "" {
			name = &s
			return true
		}
		return false
	}, "sampler", "base_sampler", "original_sampler")
	return name, at
}

// samplerOfClass turns a sampler class into the name that the sampler has elsewhere: by
// the table, or by its own.
func (n *node) samplerOfClass() string {
	if s := n.classGives("sampler_name"); s != "" {
		return s
	}
	rest, ok := strings.CutPrefix(n.class, "Sampler")
	if !ok || rest == "" || strings.HasPrefix(rest, "Custom") {
		return ""
	}
	return snake(rest)
}

// classGives returns the value of a setting that the class of a node is by itself.
func (n *node) classGives(setting string) string {
	if n.about == nil {
		return ""
	}
	return n.about.Gives[setting]
}

// snake writes "EulerAncestral" as euler_ancestral and keeps "DPMPP_2M_SDE" as
// dpmpp_2m_sde.
func snake(s string) string {
	var b strings.Builder
	prev := rune('_')
	for _, c := range s {
		if unicode.IsUpper(c) && unicode.IsLower(prev) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
		prev = c
	}
	return b.String()
}

// readSigmas reads steps, schedule name and denoise from the node that made the
// noise schedule, through the nodes that only cut or bend it.
func (r *passes) readSigmas(n *node, p port, pass *library.SamplerPass) {
	slot := p.slot
	r.pictures.follow(p.node, func(m *node) bool {
		if _, cut := m.link("sigmas"); cut {
			if m.about == nil || (port{m, 0}).computed() {
				return true // how many steps it leaves is not known
			}
			r.readSplit(m, slot, pass)
			return false
		}
		adopt(r, n, "steps", &pass.Steps, r.values.whole(m, stepsNames), m)
		adopt(r, n, "scheduler", &pass.Scheduler, r.values.word(m, schedulerNames), m)
		if s := m.classGives("scheduler"); s != "" {
			adopt(r, n, "scheduler", &pass.Scheduler, &s, m)
		}
		adopt(r, n, "denoise", &pass.Denoise, r.values.number(m, denoiseNames), m)
		adopt(r, n, "steps", &pass.Steps, r.manualSteps(m), m)
		return true
	}, "sigmas", "sigmas_1")
}

// manualSteps counts a hand-written noise schedule: one step between two values.
func (r *passes) manualSteps(n *node) *int {
	if !n.like("manual_sigmas") {
		return nil
	}
	s, ok := r.values.scalar(n.in("sigmas", "text", "sigmas_string", "custom_sigmas"), "sigmas")
	if !ok {
		return nil
	}
	count := len(strings.FieldsFunc(s, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == ';' })) - 1
	if count < 1 {
		return nil
	}
	return &count
}

// guiderCFG reads cfg from a guider, through guiders that wrap another.
func (r *passes) guiderCFG(n *node) (cfg *float64, at *node) {
	r.pictures.follow(n, func(n *node) bool {
		cfg, at = r.values.number(n, cfgNames), n
		return cfg != nil
	}, "guider")
	return cfg, at
}
