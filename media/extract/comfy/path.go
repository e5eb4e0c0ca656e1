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

// pictureInputs returns the links of a node on which its picture comes in, in the
// order of preference. Pipes and contexts count, because they carry one too.
func (r *reader) pictureInputs(n *node) []port {
	if in, isSwitch := r.chosen(n); isSwitch {
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

// pictureStem knows numbered and prefixed picture inputs: image_2, start_image.
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

// trail is the way a picture took, from the output back to where it began.
type trail struct {
	nodes  []*node // output first
	passes []*node // sampling passes, the last one first
	source *node   // the node the picture began at: an empty latent, a loaded image
}

// trailFrom walks back from a node along its picture, taking the main content at
// every fork. It stops at latent sources, whose own pictures only steer them.
func (r *reader) trailFrom(n *node) trail {
	var t trail
	seen := map[*node]bool{}
	for n != nil && !seen[n] && r.step() {
		seen[n] = true
		t.nodes = append(t.nodes, n)
		if r.isSampler(n) {
			t.passes = append(t.passes, n)
		}
		t.source = n
		if isLatentSource(n) {
			break
		}
		n = r.nextOnTrail(n, seen)
	}
	return t
}

// nextOnTrail picks the fork that leads to a sampler; without one, the first.
func (r *reader) nextOnTrail(n *node, seen map[*node]bool) *node {
	var first *node
	for _, p := range r.pictureInputs(n) {
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
func (r *reader) reachesSampler(n *node) bool {
	if v, known := r.reaches[n]; known {
		return v
	}
	r.reaches[n] = false
	v := r.isSampler(n)
	if !v && !isLatentSource(n) {
		for _, p := range r.pictureInputs(n) {
			if r.reachesSampler(p.node) {
				v = true
				break
			}
		}
	}
	r.reaches[n] = v
	return v
}

// isLatentSource knows nodes that make a latent of a stated size: the empty
// latents, and the image-to-video nodes whose picture only conditions it.
func isLatentSource(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleLatent
	}
	if n.is("empty") && n.is("latent", "embeds", "image") {
		return true
	}
	if in := n.in("empty_latent_width"); in != nil {
		return true
	}
	if !n.has(widthNames...) || !n.has(heightNames...) {
		return n.has("dimensions", "resolution") && n.is("latent") && !n.is("upscale", "resize") && n.links() == 0
	}
	if n.is("upscale", "resize", "crop", "scale", "pad", "composite", "textencode", "tiled", "loadimage", "loadvideo", "save", "sampler", "preview") {
		return false
	}
	if n.is("aspectratio") && n.has("batch_size") && !n.has(pictureNames...) {
		return true
	}
	return n.is("latent", "tovideo", "img2vid", "i2v", "embeds", "pickers", "sizepicker") || n.has("vae") && n.has("length", "num_frames", "video_frames", "batch_size")
}
