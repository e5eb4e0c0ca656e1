package comfy

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"vitrine/library"
)

// readPasses fills the prompts, parameters and passes from the trail of the
// chosen output.
func (r *reader) readPasses(lin *library.Lineage, out *node) {
	t := r.trailFrom(out)
	chain := forward(t.passes)
	chain = r.withPrior(chain)
	if len(chain) == 0 {
		chain = r.lonePasses()
	}
	if len(chain) == 0 {
		r.readGenerator(lin, t)
		return
	}
	primary := chain[0]
	r.fill(lin, primary, t)
	r.readSamplers(lin, chain, t)
	lin.Hires = r.hires(chain, t)
	r.textFromSource(lin, t)
	r.keepShared(lin, primary)
}

func forward(passes []*node) []*node {
	out := make([]*node, 0, len(passes))
	for i := len(passes) - 1; i >= 0; i-- {
		out = append(out, passes[i])
	}
	return out
}

// withPrior puts the pass before the first that hands its latent over inside the
// conditioning, as the prior of a cascade does.
func (r *reader) withPrior(chain []*node) []*node {
	for len(chain) > 0 && len(chain) < 64 {
		prior := r.prior(chain[0])
		if prior == nil || containsNode(chain, prior) {
			return chain
		}
		chain = append([]*node{prior}, chain...)
	}
	return chain
}

func (r *reader) prior(n *node) *node {
	seen := map[*node]bool{}
	p, ok := n.link(positiveLinks...)
	for ok && !seen[p.node] && r.step() {
		seen[p.node] = true
		if q, has := p.node.link("stage_c", "prior", "prior_latent", "image_embeds"); has {
			t := r.trailFrom(q.node)
			if len(t.passes) > 0 {
				return t.passes[len(t.passes)-1]
			}
		}
		p, ok = p.node.link(positiveLinks...)
	}
	return nil
}

// isStageB reports whether a pass is steered by another stage's picture.
func (r *reader) isStageB(n *node) bool {
	seen := map[*node]bool{}
	p, ok := n.link(positiveLinks...)
	for ok && !seen[p.node] && r.step() {
		if p.node.is("stageb") {
			return true
		}
		seen[p.node] = true
		p, ok = p.node.link(positiveLinks...)
	}
	return false
}

func containsNode(list []*node, n *node) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

// lonePasses serves outputs whose picture path is unknown: the samplers among
// the nodes that ran, in running order.
func (r *reader) lonePasses() []*node {
	return r.liveSamplers()
}

// liveSamplers returns the samplers that ran, those that others build on first, ties
// by the editor's order and then by id. What lies between them has no say in it.
func (r *reader) liveSamplers() []*node {
	depth := make(map[*node]int, len(r.sequence))
	var out []*node
	for _, n := range r.sequence {
		for i := range n.inputs {
			if from := n.inputs[i].from.node; from != nil {
				depth[n] = max(depth[n], depth[from])
			}
		}
		if r.isSampler(n) {
			depth[n]++
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *node) int { return cmp.Or(cmp.Compare(depth[a], depth[b]), before(a, b)) })
	return out
}

// fill sets the fields of the primary pass.
func (r *reader) fill(lin *library.Lineage, n *node, t trail) {
	p := r.pass(n)
	lin.Positive, lin.Negative = p.Positive, p.Negative
	pos, neg := r.prompts(n)
	if pos.unknown && p.Positive == nil {
		r.warn("the prompt comes from nodes whose text is not in the file")
	}
	r.provePrompt("positive", pos)
	r.provePrompt("negative", neg)
	lin.Regions = append(pos.regions(rolePositive), neg.regions(roleNegative)...)
	gp := &library.GenerationParameters{
		Seed: p.Seed, Steps: p.Steps, CFGScale: p.CFGScale, Guidance: p.Guidance,
		Sampler: p.Sampler, Scheduler: p.Scheduler, Denoise: p.Denoise,
	}
	if p.Model != "" {
		gp.ModelName = &p.Model
	}
	gp.ClipSkip = r.clipSkip(pos)
	r.proveSettings(n, gp)
	r.fillSize(gp, n, t)
	r.fillMotion(gp, n, t)
	lin.Parameters = gp
}

// proveSettings records for each setting of the primary pass where it was read.
func (r *reader) proveSettings(n *node, gp *library.GenerationParameters) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"seed", gp.Seed != nil}, {"steps", gp.Steps != nil}, {"cfg_scale", gp.CFGScale != nil}, {"guidance", gp.Guidance != nil}, {"sampler", gp.Sampler != nil},
		{"scheduler", gp.Scheduler != nil}, {"denoise", gp.Denoise != nil}, {"model_name", gp.ModelName != nil}, {"clip_skip", gp.ClipSkip != nil},
	} {
		if !f.set {
			continue
		}
		at, rule := n, "first sampling pass on the picture's path"
		if from := r.origins[n][f.name]; from != nil {
			at, rule = from, "node that gives the first pass its "+f.name
		}
		r.prove(f.name, at, rule)
	}
}

func (r *reader) provePrompt(field string, set *promptSet) {
	for _, p := range set.parts {
		r.prove(field, p.node, "text behind the "+field+" input of the first pass")
	}
}

// clipSkip reads how many layers the text encoder of the prompt leaves out.
func (r *reader) clipSkip(set *promptSet) *int {
	for _, part := range set.parts {
		n, seen := part.node, map[*node]bool{}
		for n != nil && !seen[n] && r.step() {
			seen[n] = true
			if v := r.whole(n, []string{"stop_at_clip_layer", "clip_skip"}); v != nil {
				skip := max(*v, -*v)
				return &skip
			}
			p, ok := n.link("clip", "CLIP", "opt_clip")
			if !ok {
				break
			}
			n = p.node
		}
	}
	return nil
}

// fillSize takes the size of the latent the pass began with. The file's own size
// serves only when nothing after the pass changed it and it is a latent's size;
// pictures of a whole desktop with a graph in them are not.
func (r *reader) fillSize(gp *library.GenerationParameters, n *node, t trail) {
	if d := r.sizeAt(n); d.known() {
		gp.Width, gp.Height = &d.w, &d.h
		r.proveSize(r.latentSource(n), "size of the latent the first pass began with")
		return
	}
	w, h := r.in.FileWidth, r.in.FileHeight
	if w <= 0 || h <= 0 || w%8 != 0 || h%8 != 0 || r.g.place == "workflow" { // a picture that only shows a graph has no executed one
		return
	}
	for _, m := range t.nodes {
		if m == n {
			gp.Width, gp.Height = &w, &h
			r.proveSize(nil, "size of the file, unchanged since the first pass")
			return
		}
		if m.opaque() || resizes(m) || m.is("crop", "pad", "stitch", "concat", "grid", "composite", "comparer", "combineimages") {
			return
		}
	}
}

func (r *reader) proveSize(n *node, rule string) {
	r.prove("width", n, rule)
	r.prove("height", n, rule)
}

var lengthNames = []string{"length", "video_frames", "num_frames", "frames", "frames_number", "frame_count", "video_length", "n_frames"}

func (r *reader) fillMotion(gp *library.GenerationParameters, n *node, t trail) {
	src := r.latentSource(n)
	if src == nil {
		src = n
	}
	gp.Frames, gp.BatchSize = r.whole(src, lengthNames), r.whole(src, []string{"batch_size"})
	if gp.Frames == nil && gp.BatchSize != nil && *gp.BatchSize > 1 && (medium(t.nodes[0]) == "video" || medium(t.nodes[0]) == "animation") {
		gp.Frames = gp.BatchSize // the frames of a motion module are a batch of pictures
	}
	if gp.Frames != nil {
		r.prove("frames", src, "length of the latent")
	}
	if gp.BatchSize != nil {
		r.prove("batch_size", src, "batch of the latent")
	}
	for _, m := range t.nodes {
		if f := r.number(m, []string{"fps", "frame_rate"}); f != nil {
			gp.FPS = f
			r.prove("fps", m, "frame rate of the writing node")
			return
		}
	}
}

func (r *reader) latentSource(n *node) *node {
	t := r.trailFrom(n)
	if t.source != nil && isLatentSource(t.source) {
		return t.source
	}
	return nil
}

// readSamplers lists every pass: those on the picture's path in order, then the
// ones beside it.
func (r *reader) readSamplers(lin *library.Lineage, chain []*node, t trail) {
	for i, n := range chain {
		if len(lin.Samplers) >= maxPasses {
			r.warn("the graph has more sampling passes than are listed")
			return
		}
		p := *r.pass(n)
		p.Role = r.roleOf(i, chain, t)
		if i > 0 && r.isStageB(n) {
			p.Role = "stage_b"
		}
		lin.Samplers = append(lin.Samplers, p)
		if script := r.scriptOf(n); script != nil && len(lin.Samplers) < maxPasses {
			lin.Samplers = append(lin.Samplers, r.scriptPass(&p, script))
		}
	}
	for _, n := range r.liveSamplers() {
		if containsNode(chain, n) || r.preparesPass(n, chain) {
			continue
		}
		if len(lin.Samplers) >= maxPasses {
			r.warn("the graph has more sampling passes than are listed")
			return
		}
		p := *r.pass(n)
		switch {
		case n.is("detailer"):
			p.Role = "detailer"
		case n.is("upscale"):
			p.Role = "hires"
		default:
			p.Role = "source"
		}
		lin.Samplers = append(lin.Samplers, p)
	}
}

// preparesPass knows nodes that only hold the settings of a pass in a pipe.
func (r *reader) preparesPass(n *node, chain []*node) bool {
	for _, c := range chain {
		if p := c.pipe(); p != nil && p.node == n {
			return true
		}
	}
	return false
}

// hires describes the second pass over an enlarged picture.
func (r *reader) hires(chain []*node, t trail) *library.Hires {
	for i := 1; i < min(len(chain), maxPasses); i++ {
		if r.roleOf(i, chain, t) != "hires" {
			continue
		}
		p := r.pass(chain[i])
		h := &library.Hires{Steps: p.Steps, Denoise: p.Denoise, Upscaler: r.upscaler(chain[i], t)}
		from, to := r.sizeAt(chain[0]), r.sizeAt(chain[i])
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
func (r *reader) upscaler(second *node, t trail) *string {
	inside := false
	var method *string
	for _, n := range t.nodes {
		if inside && r.isSampler(n) {
			break
		}
		if n == second {
			inside = true
		}
		if !inside {
			continue
		}
		if p, ok := n.link("upscale_model"); ok {
			for _, l := range r.loadsOf(p.node) {
				return &l.name
			}
		}
		if method == nil {
			method = r.word(n, []string{"upscale_method"})
		}
	}
	return method
}

// textFromSource takes the prompt of the picture a video was made from, when the
// video's own pass has none.
func (r *reader) textFromSource(lin *library.Lineage, t trail) {
	if lin.Positive != nil || lin.Negative != nil || t.source == nil || !isLatentSource(t.source) {
		return
	}
	for _, p := range r.pictureInputs(t.source) {
		up := r.trailFrom(p.node)
		if len(up.passes) == 0 {
			continue
		}
		first := up.passes[len(up.passes)-1]
		lin.Positive, lin.Negative = r.pass(first).Positive, r.pass(first).Negative
		r.prove("positive", first, "prompt of the picture the video was made from")
		return
	}
}

// readGenerator reads a node that makes its picture from a text by itself.
func (r *reader) readGenerator(lin *library.Lineage, t trail) {
	for _, n := range t.nodes {
		if !isGenerator(n) {
			continue
		}
		if s, ok := r.text(n.in("prompt", "text_prompt", "prompt_text"), rolePositive); ok && proseLike(s) {
			lin.Positive = &s
			r.prove("positive", n, "prompt of the generating node")
		}
		if s, ok := r.text(n.in("negative_prompt"), roleNegative); ok {
			lin.Negative = &s
		}
		p := &library.SamplerPass{NodeID: n.id, NodeType: n.class, Role: "base"}
		r.readSettings(n, p)
		p.Positive, p.Negative = lin.Positive, lin.Negative
		gp := &library.GenerationParameters{Seed: p.Seed, Steps: p.Steps, CFGScale: p.CFGScale}
		if s := r.askedFor(n); s != "" {
			gp.ModelName = &s
			p.Model = s
			r.hostedModel(lin, n, s)
		}
		if d := r.statedSize(n); d.known() {
			gp.Width, gp.Height = &d.w, &d.h
		}
		lin.Parameters, lin.Samplers = gp, []library.SamplerPass{*p}
		return
	}
}

// askedFor names the model that a generating node asks a service for. Some choose
// it together with how to use it: "standard mode / 5s duration / kling-v1".
func (r *reader) askedFor(n *node) string {
	if s := r.word(n, []string{"model", "model_name"}); s != nil {
		if isNoFile(*s) {
			return ""
		}
		return *s
	}
	if s := r.word(n, []string{"mode"}); s != nil {
		parts := strings.Split(*s, "/")
		if last := strings.TrimSpace(parts[len(parts)-1]); len(parts) > 1 && hostedName.MatchString(last) {
			return last
		}
	}
	return ""
}

var hostedName = regexp.MustCompile(`^[a-z]+(-[a-z0-9.]+)*-v?\d[a-z0-9.-]*$`)

// hostedModel lists the model that a generating node asks a service for, unless
// the node was found to load it as a file.
func (r *reader) hostedModel(lin *library.Lineage, n *node, name string) {
	for _, m := range lin.Models {
		if m.NodeID == n.id && m.Name == name {
			return
		}
	}
	lin.Models = append(lin.Models, library.ModelUse{Sequence: len(lin.Models), Type: "checkpoint", Name: name, NodeID: n.id})
	r.prove("models", n, "model the generating node asks a service for")
}

var embeddingRef = regexp.MustCompile(`embedding:([^\s,:;()\[\]{}<>"|]+)`)

// readEmbeddings notes the textual inversions that the prompts call for. They are
// not loader nodes and therefore no models; the words of the prompt name them.
func (r *reader) readEmbeddings(lin *library.Lineage) {
	var names []string
	for _, p := range lin.Samplers {
		for _, s := range []*string{p.Positive, p.Negative} {
			if s == nil {
				continue
			}
			for _, m := range embeddingRef.FindAllStringSubmatch(*s, 64) {
				if name := strings.TrimRight(m[1], "."); !contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) > 0 {
		lin.Extra = with(lin.Extra, "embeddings", strings.Join(names, ", "))
	}
}
