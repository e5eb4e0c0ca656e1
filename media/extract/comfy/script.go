package comfy

import (
	"strings"

	"vitrine/library"
)

// Samplers of one pack take a script that has them sample once more over an
// enlarged picture. That second pass has no sampler node of its own.

// scriptOf finds the script by which a sampler enlarges and samples again. One
// that only enlarges the finished picture makes no pass.
func (r *passes) scriptOf(n *node) *node {
	for range 8 {
		p, ok := n.link("script")
		if !ok {
			return nil
		}
		if n = p.node; n.has("hires_steps") {
			kind, _ := r.values.scalar(n.in("upscale_type"), "upscale_type")
			if kind == "pixel" {
				return nil
			}
			return n
		}
	}
	return nil
}

// scriptPass is the second pass that a script asks of a sampler: what the script
// leaves open is as in the first.
func (r *passes) scriptPass(first *library.SamplerPass, script *node) library.SamplerPass {
	p := *first
	p.NodeID, p.NodeType, p.Role, p.StartStep, p.EndStep = script.id, script.class, "hires", nil, nil
	p.Steps, p.Denoise = r.values.whole(script, []string{"hires_steps"}), r.values.number(script, denoiseNames)
	if same, ok := r.values.scalar(script.in("use_same_seed"), "use_same_seed"); ok && falsy(same) {
		p.Seed = r.values.seed(script, seedNames)
	}
	if name, ok := r.values.scalar(script.in("hires_ckpt_name"), "hires_ckpt_name"); ok && !isNoFile(name) {
		p.Model = name
	}
	return p
}

// scriptHires describes the enlargement of the first sampler with a script.
func (r *chains) scriptHires(chain []*node) *library.Hires {
	for _, n := range chain {
		script := r.passes.scriptOf(n)
		if script == nil {
			continue
		}
		h := &library.Hires{Steps: r.values.whole(script, []string{"hires_steps"}), Denoise: r.values.number(script, denoiseNames), Scale: r.values.number(script, []string{"upscale_by"})}
		upscaler := "latent_upscaler"
		if kind, _ := r.values.scalar(script.in("upscale_type"), "upscale_type"); kind == "both" {
			upscaler = "pixel_upscaler"
		}
		h.Upscaler = r.values.word(script, []string{upscaler})
		rounds := r.values.whole(script, []string{"iterations"})
		if d := r.sizes.at(n); d.known() && h.Scale != nil && *h.Scale > 0 && *h.Scale <= 16 && (rounds == nil || *rounds == 1) {
			w, ht := int(float64(d.w)**h.Scale), int(float64(d.h)**h.Scale)
			h.Width, h.Height = &w, &ht
		}
		return h
	}
	return nil
}

// scriptReads reports whether a script of this kind reads the file it names: its
// choices stay filled in when another way of enlarging is chosen.
func (r *models) scriptReads(n *node, in *input) bool {
	kind, ok := r.values.scalar(n.in("upscale_type"), "upscale_type")
	if !ok {
		return true
	}
	switch strings.ToLower(in.name) {
	case "pixel_upscaler":
		return kind != "latent"
	case "hires_ckpt_name":
		return kind != "pixel"
	case "control_net_name":
		used, said := r.values.scalar(n.in("use_controlnet"), "use_controlnet")
		return !said || !falsy(used)
	}
	return true
}

// plotted are the settings of a sampler that a plot may go through.
var plotted = []string{"seed", "noise_seed", "steps", "start_at_step", "end_at_step", "cfg", "sampler_name", "scheduler", "denoise", "positive", "negative"}

// vary takes from a sampler the settings that a plot among its scripts goes through: all
// of them where it goes through values of a class that is not known.
func (n *node) vary() {
	set, seen := map[string]*string{}, map[*node]bool{}
	queue := n.streamed([]string{"script"})
	for len(queue) > 0 && len(seen) < maxStream {
		m := queue[0]
		queue = queue[1:]
		if seen[m] {
			continue
		}
		seen[m] = true
		for _, axis := range m.streamed([]string{"X", "Y"}) {
			names := plotted
			if axis.about != nil {
				names = axis.about.Varies
			}
			for _, name := range names {
				set[name] = nil
			}
		}
		queue = append(queue, m.streamed([]string{"script"})...)
	}
	if len(set) > 0 {
		n.choose(set)
	}
}
