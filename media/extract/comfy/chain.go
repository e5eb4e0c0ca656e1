package comfy

import (
	"slices"
	"strings"
	"unicode"

	"vitrine/library"
)

// of returns the sampling passes on a picture's path in the order in which they ran;
// where its path is unknown, those among the nodes that ran.
func (r *chains) of(t picturePath) []*node {
	chain := slices.Clone(t.passes)
	slices.Reverse(chain)
	chain = r.withPrior(chain)
	if len(chain) == 0 {
		chain = r.runs.samplers()
	}
	return r.withoutEstimates(chain)
}

// withoutEstimates leaves out the passes in front that no text steers, where a later one
// is steered by a text: they estimate depth or normals of a picture that the later one
// only works by.
func (r *chains) withoutEstimates(chain []*node) []*node {
	for i, n := range chain[:min(len(chain), maxPasses)] {
		pos, neg := r.prompts.of(n)
		if len(pos.parts) > 0 || len(neg.parts) > 0 || pos.unknown || neg.unknown {
			return chain[i:]
		}
	}
	return chain
}

// withPrior puts the pass before the first that hands its latent over inside the
// conditioning, as the prior of a cascade does.
func (r *chains) withPrior(chain []*node) []*node {
	for len(chain) > 0 && len(chain) < maxPasses {
		prior := r.prior(chain[0])
		if prior == nil || slices.Contains(chain, prior) {
			return chain
		}
		chain = append([]*node{prior}, chain...)
	}
	return chain
}

func (r *chains) prior(n *node) *node {
	seen := map[*node]bool{}
	p, ok := n.link(positiveLinks...)
	for ok && !seen[p.node] && r.notes.step() {
		seen[p.node] = true
		if q, has := p.node.link("stage_c", "prior", "prior_latent", "image_embeds"); has {
			t := r.pictures.pathFrom(q.node)
			if len(t.passes) > 0 {
				return t.passes[len(t.passes)-1]
			}
		}
		p, ok = p.node.link(positiveLinks...)
	}
	return nil
}

// isStageB reports whether a pass is steered by another stage's picture.
func (r *chains) isStageB(n *node) bool {
	seen := map[*node]bool{}
	p, ok := n.link(positiveLinks...)
	for ok && !seen[p.node] && r.notes.step() {
		if p.node.has("stage_c") {
			return true
		}
		seen[p.node] = true
		p, ok = p.node.link(positiveLinks...)
	}
	return false
}

// roleOf names what a later pass does to the picture of the first.
func (r *chains) roleOf(i int, passes []*node, t picturePath) string {
	n := passes[i]
	if n.like("detailer") {
		return "detailer"
	}
	if noise := noiseRole(r.passes.of(n).Model); noise != "" && len(passes) > 1 {
		return noise
	}
	if i == 0 {
		return "base"
	}
	switch {
	case strings.Contains(strings.ToLower(r.passes.of(n).Model), "refiner"):
		return "refiner"
	case n.like("upscales") || r.pictures.resizedBetween(passes[i-1], n, t):
		return "hires"
	}
	return "refiner"
}

// noiseRole returns which half of a mixture-of-experts video model a name is of, or "".
func noiseRole(model string) string {
	m := foldClass(model)
	switch {
	case strings.Contains(m, "highnoise"):
		return "high_noise"
	case strings.Contains(m, "lownoise"):
		return "low_noise"
	case !strings.Contains(m, "wan"):
		return ""
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(model), func(c rune) bool { return !unicode.IsLetter(c) }) {
		switch word {
		case "high":
			return "high_noise"
		case "low":
			return "low_noise"
		}
	}
	return ""
}

// preparesPass reports whether a node only holds the settings of a pass in a pipe.
func (r *chains) preparesPass(n *node, chain []*node) bool {
	for _, c := range chain {
		if p := c.pipe(); p != nil && p.node == n {
			return true
		}
	}
	return false
}

// hires describes the second pass over an enlarged picture.
func (r *chains) hires(chain []*node, t picturePath) *library.Hires {
	for i := 1; i < min(len(chain), maxPasses); i++ {
		if r.roleOf(i, chain, t) != "hires" {
			continue
		}
		p := r.passes.of(chain[i])
		h := &library.Hires{Steps: p.Steps, Denoise: p.Denoise, Upscaler: r.upscaler(chain[i], t)}
		from, to := r.sizes.at(chain[0]), r.sizes.at(chain[i])
		if to.known() {
			h.Width, h.Height = &to.w, &to.h
			if from.known() {
				f := float64(to.w) / float64(from.w)
				h.Scale = &f
			}
		}
		return h
	}
	return r.scriptHires(chain)
}

// upscaler names the upscale model, or the method, between two passes.
func (r *chains) upscaler(second *node, t picturePath) *string {
	inside := false
	var method *string
	for _, n := range t.nodes {
		if inside && r.pictures.isSampler(n) {
			break
		}
		if n == second {
			inside = true
		}
		if !inside {
			continue
		}
		if p, ok := n.link("upscale_model"); ok {
			for _, l := range r.models.of(p.node) {
				return &l.name
			}
		}
		if method == nil {
			method = r.values.word(n, []string{"upscale_method"})
		}
	}
	return method
}
