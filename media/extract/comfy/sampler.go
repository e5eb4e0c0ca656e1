package comfy

import (
	"strings"
)

// Links that steer a sampling pass, apart from its picture.
var steerNames = []string{
	"positive", "conditioning", "cond", "cond1", "guider", "text_embeds", "hyvid_embeds", "kolors_embeds", "basic_pipe", "pipe",
	"model", "context", "base_ctx", "sdxl_tuple", "prompt_embeds", "detailer_pipe", "MODEL", "SUPIR_model", "cogvideo_pipe", "pipeline", "base_positive", "base_model", "unet", "transformer", "base_sampler",
}

func samplerShape(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleSampler
	}
	if isOutputClass(n) || n.like("no_sampler") && !n.like("sampler") || isBundle(n) {
		return false
	}
	linked := func(names ...string) bool { _, ok := n.link(names...); return ok }
	if linked("guider") && linked("sigmas", "sampler") {
		return true
	}
	if linked("sampler") && linked("sigmas") && linked("model") {
		return true
	}
	seed, steps := n.has(seedNames...), n.has(stepsNames...) || linked("sigmas")
	steered := linked(steerNames...) || n.pipe() != nil
	prompted := linked("positive", "conditioning", "text_embeds", "hyvid_embeds", "prompt_embeds", "kolors_embeds")
	return seed && steps && steered || steps && prompted && n.has(cfgNames...) && linked("model")
}

// isBundle reports whether a node only carries models, prompts and settings together from
// one place of the graph to another. Working nodes may have "pipe" in their class
// as well, for the bundle that they take.
func isBundle(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleBundle
	}
	bundle := n.like("bundle") && !n.like("no_bundle") || strings.HasPrefix(n.key, "bus") || strings.HasSuffix(n.key, "bus")
	return bundle && !n.like("works")
}
