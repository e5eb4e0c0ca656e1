package comfy

import (
	"slices"
	"strings"
	"unicode"

	"vitrine/library"
)

// Links that steer a sampling pass, apart from its picture.
var steerNames = []string{
	"positive", "conditioning", "cond", "cond1", "guider", "text_embeds", "hyvid_embeds", "kolors_embeds", "basic_pipe", "pipe",
	"model", "context", "base_ctx", "sdxl_tuple", "prompt_embeds", "detailer_pipe", "MODEL", "SUPIR_model", "cogvideo_pipe", "pipeline", "base_positive", "base_model", "unet", "transformer", "base_sampler",
}

// isSampler decides by the shape of a node's inputs, so that the samplers of
// unknown packs count too: a seed with steps or sigmas and something to steer by,
// or the noise, guider and sigmas of custom sampling.
func (r *reader) isSampler(n *node) bool {
	v, known := r.samplers[n]
	if !known {
		v = samplerShape(n)
		r.samplers[n] = v
	}
	return v
}

func samplerShape(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleSampler
	}
	if samplerClass(n) {
		return true
	}
	if isOutputClass(n) || n.is("scheduler", "metadata", "imagesaver", "promptsaver") && !n.is("sampler") || isBundle(n) {
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

// isBundle knows nodes that only carry models, prompts and settings together from
// one place of the graph to another. Working nodes may have "pipe" in their class
// as well, for the bundle that they take.
func isBundle(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleBundle
	}
	bundle := n.is("context", "pipe") && !n.is("pipeline") || strings.HasPrefix(n.key, "bus") || strings.HasSuffix(n.key, "bus")
	return bundle && !n.is("sampl", "detail", "upscale", "generat")
}

// samplerClass knows the samplers of ComfyUI itself even when inputs are missing.
func samplerClass(n *node) bool {
	switch n.key {
	case "ksampler", "ksampleradvanced", "samplercustom", "samplercustomadvanced", "ksamplerefficient", "ksampleradvefficient":
		return true
	}
	return false
}

// isGenerator knows nodes that make a picture from a text by themselves, such as
// those that call a remote service: a prompt and no model to steer.
func isGenerator(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleGenerator
	}
	in := n.in("prompt", "text_prompt", "prompt_text")
	if in == nil || isOutputClass(n) || n.is("textencode", "string", "wildcard", "chat", "llm", "segment", "detect") {
		return false
	}
	if _, ok := n.link("clip", "model", "text_encoder"); ok {
		return false
	}
	if n.opaque() {
		return n.has(seedNames...)
	}
	return n.has(seedNames...) || n.has("negative_prompt", "aspect_ratio", "resolution", "quality", "duration", "model", "model_name")
}

// pass reads the settings of one sampling pass.
func (r *reader) pass(n *node) *library.SamplerPass {
	if p := r.passes[n]; p != nil {
		return p
	}
	p := &library.SamplerPass{NodeID: n.id, NodeType: n.class}
	r.passes[n] = p
	r.readSettings(n, p)
	r.readCustom(n, p)
	if pipe := n.pipe(); pipe != nil && r.isSampler(pipe.node) {
		r.inherit(n, p, pipe.node)
	}
	if base, ok := n.link("base_sampler"); ok {
		r.inherit(n, p, base.node)
	}
	pos, neg := r.prompts(n)
	p.Positive, p.Negative = pos.joined(), neg.joined()
	if p.Guidance == nil && pos.guidance != nil {
		p.Guidance = pos.guidance
		r.from(n, "guidance", pos.guidanceFrom)
	}
	if p.Guidance == nil {
		p.Guidance = r.number(n, []string{"embedded_guidance_scale", "guidance"})
	}
	name, at := r.mainModel(n)
	p.Model = name
	r.from(n, "model_name", at)
	return p
}

// readSettings reads the settings that a node holds itself.
func (r *reader) readSettings(n *node, p *library.SamplerPass) {
	p.Seed = r.seed(n, seedNames)
	p.Steps = r.whole(n, stepsNames)
	p.CFGScale = r.number(n, cfgNames)
	p.Denoise = r.number(n, denoiseNames)
	p.StartStep = r.whole(n, []string{"start_at_step", "start_step", "begin_step"})
	p.EndStep = r.whole(n, []string{"end_at_step", "end_step", "stop_at_step"})
	if p.EndStep != nil && *p.EndStep < 0 { // stands for the last step
		p.EndStep = nil
	}
	p.Sampler = r.word(n, samplerNames)
	p.Scheduler = r.word(n, schedulerNames)
}

func (r *reader) seed(n *node, names []string) *uint64 {
	for _, name := range names {
		if s, ok := r.scalar(n.in(name), name); ok {
			if seed := parseUint(s); seed != nil {
				return seed
			}
		}
	}
	return nil
}

// from notes that a setting of a pass was read from another node.
func (r *reader) from(pass *node, field string, n *node) {
	if r.origins[pass] == nil {
		r.origins[pass] = map[string]*node{}
	}
	r.origins[pass][field] = n
}

// word reads a name such as a sampler's: text that is not a number.
func (r *reader) word(n *node, names []string) *string {
	for _, name := range names {
		in := n.in(name)
		if in == nil || in.linked() && (name == "sampler" || name == "solver") && !r.givesText(in.from) {
			continue
		}
		s, ok := r.scalar(in, name)
		if ok && s != "" && len(s) < 100 && parseFloat(s) == nil {
			return &s
		}
	}
	return nil
}

// givesText tells a name wired in as a string from a sampler object.
func (r *reader) givesText(p port) bool {
	t := p.outType()
	return t == "STRING" || t == "COMBO" || t == "*"
}

// inherit fills what the pass itself leaves open from the node that prepared it.
func (r *reader) inherit(n *node, p *library.SamplerPass, prepared *node) {
	q := r.pass(prepared)
	adopt(r, n, "seed", &p.Seed, q.Seed, prepared)
	adopt(r, n, "steps", &p.Steps, q.Steps, prepared)
	adopt(r, n, "cfg_scale", &p.CFGScale, q.CFGScale, prepared)
	adopt(r, n, "denoise", &p.Denoise, q.Denoise, prepared)
	adopt(r, n, "sampler", &p.Sampler, q.Sampler, prepared)
	adopt(r, n, "scheduler", &p.Scheduler, q.Scheduler, prepared)
}

// adopt fills an open setting of a pass and notes where it came from.
func adopt[T any](r *reader, pass *node, field string, dst **T, v *T, from *node) {
	if *dst == nil && v != nil {
		*dst = v
		r.from(pass, field, from)
	}
}

// prompts returns the positive and negative prompt that steer a pass.
func (r *reader) prompts(n *node) (pos, neg *promptSet) {
	pos, neg = r.promptOf(n, rolePositive), r.promptOf(n, roleNegative)
	if n.opaque() && n.ownWords() {
		pos.parts = nil // which text it works by is not known
	}
	all := pos.parts
	pos.parts = withoutDoubtful(pos.parts, neg.parts)
	neg.parts = withoutDoubtful(neg.parts, all)
	return pos, neg
}

// withoutDoubtful leaves out the texts that reached a side through an opaque node and
// are those of the other side as well, or empty: such a node may as well blank them.
func withoutDoubtful(parts, other []promptPart) []promptPart {
	var sure []promptPart
	for _, p := range parts {
		same := slices.ContainsFunc(other, func(q promptPart) bool { return q.node == p.node })
		if !p.far || !same && strings.TrimSpace(p.text) != "" {
			sure = append(sure, p)
		}
	}
	return sure
}

func (r *reader) promptOf(n *node, role role) *promptSet {
	key := promptKey{n, role}
	if set := r.promptSets[key]; set != nil {
		return set
	}
	set := &promptSet{}
	r.promptSets[key] = set
	w := condWalk{r: r, set: set, seen: map[condKey]bool{}}
	if role == rolePositive {
		own, replaces := r.detailText(n)
		if replaces {
			set.parts = []promptPart{own}
			return set
		}
	}
	w.fromSampler(n, role)
	return set
}

// detailText returns the text that a detailer holds itself, or in its pipe: where
// there is one, the detailer works by it in the place of the prompt it is handed.
// Texts that are marked to be joined to the prompt do not replace it.
func (r *reader) detailText(n *node) (promptPart, bool) {
	for hops := 0; n != nil && hops < 8 && n.is("detailer"); hops++ {
		s, ok := r.text(n.in("wildcard"), rolePositive)
		if ok && strings.TrimSpace(s) != "" {
			return promptPart{text: s, node: n}, !strings.HasPrefix(strings.TrimSpace(s), "[CONCAT]")
		}
		pipe := n.pipe()
		if pipe == nil {
			break
		}
		n = pipe.node
	}
	return promptPart{}, false
}

type promptKey struct {
	n    *node
	role role
}

// roleOf names what a later pass does to the picture of the first.
func (r *reader) roleOf(i int, passes []*node, t trail) string {
	n := passes[i]
	if n.is("detailer", "facedetail") {
		return "detailer"
	}
	if noise := noiseRole(r.pass(n).Model); noise != "" && len(passes) > 1 {
		return noise
	}
	if i == 0 {
		return "base"
	}
	switch {
	case strings.Contains(strings.ToLower(r.pass(n).Model), "refiner"):
		return "refiner"
	case n.is("upscale") || r.resizedBetween(passes[i-1], n, t):
		return "hires"
	}
	return "refiner"
}

// noiseRole knows the two halves of a mixture-of-experts video model by name.
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

// resizedBetween reports whether the picture changed its size between two
// passes on the trail.
func (r *reader) resizedBetween(first, second *node, t trail) bool {
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
	return n.is("upscale", "upsampl", "resize", "imagescale", "latentscale", "supir", "rescale")
}
