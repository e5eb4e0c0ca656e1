package comfy

import (
	"strings"

	"vitrine/library"
)

// all lists every weight file that was read on the way to the output.
func (r *models) all() []library.ModelUse {
	r.findNameSources()
	out := []library.ModelUse{}
	for _, n := range r.runs.sequence {
		if n.like("chooses_models") && n.has("preset") {
			r.notes.warn("models were chosen by a preset; the names of their files are not in the file")
		}
		for _, l := range r.of(n) {
			r.loads = append(r.loads, l)
			out = append(out, l.use(len(out)))
		}
	}
	return out
}

// findNameSources marks the inputs of nodes that only hand a file name to a
// loader: the loader counts, not the node that named the file. A loader that also
// tells others the name of its file stays one.
func (r *models) findNameSources() {
	givers := r.weightGivers()
	for _, n := range r.runs.sequence {
		if isOutputClass(n) {
			continue
		}
		for i := range n.inputs {
			in := &n.inputs[i]
			if !in.linked() || isTextField(in.name) || !namesFile(in) || givers[in.from.node] {
				continue
			}
			if s, ok := r.values.scalar(in, in.name); !ok || fileType(n, in, s) == "" {
				continue
			}
			from := in.from.node
			for j := range from.inputs {
				if !from.inputs[j].linked() {
					r.nameSources[&from.inputs[j]] = true
				}
			}
		}
	}
}

// weightTypes are the wires on which loaded weights travel.
var weightTypes = map[string]bool{"MODEL": true, "CLIP": true, "VAE": true, "CONTROL_NET": true, "CLIP_VISION": true, "STYLE_MODEL": true, "UPSCALE_MODEL": true, "LORA_STACK": true, "IPADAPTER": true}

// weightGivers are the nodes whose weights another node takes.
func (r *models) weightGivers() map[*node]bool {
	out := map[*node]bool{}
	for _, n := range r.runs.sequence {
		for i := range n.inputs {
			in := &n.inputs[i]
			if in.linked() && (weightTypes[in.from.outType()] || weightTypes[strings.ToUpper(in.name)]) {
				out[in.from.node] = true
			}
		}
	}
	return out
}

// sampledWith names the weight file a pass sampled with: the first checkpoint or
// diffusion model behind its model link.
func (r *models) sampledWith(n *node) (name string, at *node) {
	seen := map[*node]bool{}
	for n != nil && !seen[n] && r.notes.step() {
		seen[n] = true
		for _, l := range r.of(n) {
			switch l.typ {
			case "checkpoint", "unet", "diffusers":
				return l.name, n
			}
		}
		n = r.upstream(n)
	}
	return "", nil
}

var modelLinks = []string{"model", "MODEL", "unet", "model1", "model_a", "opt_model", "base_model", "model_high_noise", "pipeline", "kolors_model", "SUPIR_model", "cogvideo_pipe", "transformer", "model_opt", "sdxl_tuple"}

func (r *models) upstream(n *node) *node {
	if in, isSwitch := r.switches.chosen(n); isSwitch {
		if in == nil {
			return nil
		}
		return in.from.node
	}
	if n.undecided() || n.mayChoose() {
		return nil
	}
	if p, ok := n.link(modelLinks...); ok {
		return p.node
	}
	if p, ok := n.link("guider", "base_sampler"); ok {
		return p.node
	}
	if p := n.pipe(); p != nil {
		return p.node
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (in.from.outType() == "MODEL" || strings.HasPrefix(in.name, "model")) {
			return in.from.node
		}
	}
	if in := n.onlyLink(); in != nil && !isPictureWire(in) && !isCondInput(in) {
		return in.from.node
	}
	return nil
}
