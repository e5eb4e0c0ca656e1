package comfy

import "strings"

// pictureNames are the inputs through which a picture, latent, video or sound
// travels, the one that carries the main content first.
var pictureNames = []string{
	"samples", "latent_image", "latent", "latents", "samples_to", "samples1", "latent1", "lq_latent", "av_latent", "video_latent",
	"images", "image", "pixels", "video", "frames", "destination", "image1", "images_a", "image_a", "background", "base_image",
	"image_from", "image_1", "video_frames", "input_image", "img", "source_images", "picture", "source", "audio", "mesh", "model_file",
	"image_input", "upscaled_image", "original_image", "stitcher", "audio_latent", "image_embeds",
}

// pictureTypes are the wire types of the same things.
var pictureTypes = map[string]bool{"LATENT": true, "IMAGE": true, "VIDEO": true, "AUDIO": true, "MESH": true, "WANVIDEOIMAGE": true}

// inputs returns the links of a node on which its picture comes in, in the
// order of preference. Pipes and contexts count, because they carry one too.
func (r *pictures) inputs(n *node) []port {
	if in, isSwitch := r.switches.chosen(n); isSwitch {
		if in != nil && in.linked() {
			return []port{in.from}
		}
		return nil
	}
	var out []port
	add := func(p port) {
		for _, q := range out {
			if q == p {
				return
			}
		}
		out = append(out, p)
	}
	for _, name := range pictureNames {
		if p, ok := n.link(name); ok {
			add(p)
		}
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (pictureTypes[in.from.outType()] || pictureStem(in.name)) {
			add(in.from)
		}
	}
	if len(out) == 0 {
		if p := n.pipe(); p != nil {
			add(*p)
		} else if in := n.onlyLink(); in != nil && !otherWire[in.name] {
			add(in.from)
		}
	}
	return out
}

// otherWire names links that never carry a picture.
var otherWire = map[string]bool{
	"model": true, "clip": true, "vae": true, "text": true, "conditioning": true, "positive": true, "negative": true,
	"upscale_model": true, "control_net": true, "clip_vision": true, "guider": true, "noise": true, "sampler": true,
	"sigmas": true, "seed": true, "lora_stack": true, "prompt": true, "filename_prefix": true, "mask": true,
}

func (n *node) onlyLink() *input {
	var only *input
	for i := range n.inputs {
		if n.inputs[i].linked() {
			if only != nil {
				return nil
			}
			only = &n.inputs[i]
		}
	}
	return only
}

// pictureStem reports whether a name is of a numbered or prefixed picture input: image_2, start_image.
func pictureStem(name string) bool {
	stem, _, _ := trailingNumber(strings.ToLower(name))
	switch stem {
	case "image", "images", "latent", "latents", "samples", "video", "audio", "samples_from", "any", "input":
		return true
	}
	return strings.HasSuffix(stem, "_image") || strings.HasSuffix(stem, "_images") || strings.HasSuffix(stem, "_latent") || strings.HasSuffix(stem, "_video")
}

var pipeNames = []string{"pipe", "basic_pipe", "detailer_pipe", "context", "base_ctx", "ctx", "bus", "optional_pipe", "pipe_opt", "basic_pipe_opt", "loader_pipe", "sdxl_pipe", "my_pipe", "ctx_01", "param_pipe"}

// pipe returns the link that carries a bundle of model, prompts and picture.
func (n *node) pipe() *port {
	if p, ok := n.link(pipeNames...); ok {
		if (n.opaque() || n.role() == RoleBundle) && n.mergesBundles() {
			return nil
		}
		return &p
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (strings.HasSuffix(in.name, "_pipe") || strings.HasSuffix(in.name, "_PIPE") || strings.HasSuffix(in.from.outType(), "PIPE")) {
			return &in.from
		}
	}
	return nil
}

// mergesBundles reports whether several bundles come into a node: which of them gives
// what it hands on is not known.
func (n *node) mergesBundles() bool {
	bundles := 0
	for i := range n.inputs {
		if stem, _, _ := trailingNumber(n.inputs[i].name); n.inputs[i].linked() && (stem == "ctx" || stem == "pipe") {
			bundles++
		}
	}
	return bundles > 1
}

// picturePath is the way a picture took, from the output back to where it began.
type picturePath struct {
	nodes  []*node // output first
	passes []*node // sampling passes, the last one first
	source *node   // the node the picture began at: an empty latent, a loaded image
}

// pathFrom follows the picture of a node back, taking the main content at
// every fork. It stops at latent sources, whose own pictures only steer them.
func (r *pictures) pathFrom(n *node) picturePath {
	var t picturePath
	seen := map[*node]bool{}
	for n != nil && !seen[n] && r.notes.step() {
		seen[n] = true
		t.nodes = append(t.nodes, n)
		if r.isSampler(n) {
			t.passes = append(t.passes, n)
		}
		t.source = n
		if isLatentSource(n) {
			break
		}
		n = r.nextOnPath(n, seen)
	}
	return t
}

// nextOnPath picks the fork that leads to a sampler; without one, the first.
func (r *pictures) nextOnPath(n *node, seen map[*node]bool) *node {
	var first *node
	for _, p := range r.inputs(n) {
		if seen[p.node] {
			continue
		}
		if first == nil {
			first = p.node
		}
		if r.reachesSampler(p.node) {
			return p.node
		}
	}
	return first
}

// reachesSampler reports whether a sampling pass lies on the picture path behind
// a node.
func (r *pictures) reachesSampler(n *node) bool {
	if v, known := r.reaches[n]; known {
		return v
	}
	r.reaches[n] = false
	v := r.isSampler(n)
	if !v && !isLatentSource(n) {
		for _, p := range r.inputs(n) {
			if r.reachesSampler(p.node) {
				v = true
				break
			}
		}
	}
	r.reaches[n] = v
	return v
}

// isLatentSource reports whether a node makes a latent of a stated size: the empty
// latents, and the image-to-video nodes whose picture only conditions it.
func isLatentSource(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleLatent
	}
	if n.like("empty") && n.like("empty_of") {
		return true
	}
	if in := n.in("empty_latent_width"); in != nil {
		return true
	}
	if !n.has(widthNames...) || !n.has(heightNames...) {
		return n.has("dimensions", "resolution") && n.like("named_latent") && !n.like("no_empty") && n.links() == 0
	}
	if n.like("no_latent") {
		return false
	}
	if n.like("aspect_ratio") && n.has("batch_size") && !n.has(pictureNames...) {
		return true
	}
	return n.like("latent") || n.has("vae") && n.has("length", "num_frames", "video_frames", "batch_size")
}

// isSampler decides by the shape of a node's inputs, so that the samplers of
// unknown packs count too: a seed with steps or sigmas and something to steer by,
// or the noise, guider and sigmas of custom sampling.
func (r *pictures) isSampler(n *node) bool {
	v, known := r.samplers[n]
	if !known {
		v = samplerShape(n)
		r.samplers[n] = v
	}
	return v
}

// resizedBetween reports whether the picture changed its size between two
// passes on the path.
func (r *pictures) resizedBetween(first, second *node, t picturePath) bool {
	inside := false
	for _, n := range t.nodes {
		switch {
		case n == second:
			inside = true
		case n == first:
			return false
		case inside && resizes(n):
			return true
		}
	}
	return false
}

func resizes(n *node) bool {
	return n.like("resizes")
}

// follow follows one of the named links from node to node until visit says stop.
// A cycle ends it.
func (r *pictures) follow(n *node, visit func(*node) bool, names ...string) {
	seen := map[*node]bool{}
	for n != nil && !seen[n] && r.notes.step() && !visit(n) {
		seen[n] = true
		if in, isSwitch := r.switches.chosen(n); isSwitch {
			if in == nil || !in.linked() {
				return
			}
			n = in.from.node
			continue
		}
		p, ok := n.link(names...)
		if !ok {
			in := n.onlyLink()
			if in == nil {
				return
			}
			p = in.from
		}
		n = p.node
	}
}

func (r *pictures) latentSource(n *node) *node {
	t := r.pathFrom(n)
	if t.source != nil && isLatentSource(t.source) {
		return t.source
	}
	return nil
}

// reachesGenerator reports whether the picture of an output comes from a node that
// makes it by itself, through nodes that only hand it on or change it.
func (r *pictures) reachesGenerator(n *node) bool {
	for _, m := range r.pathFrom(n).nodes {
		if isGenerator(m) {
			return true
		}
	}
	return false
}
