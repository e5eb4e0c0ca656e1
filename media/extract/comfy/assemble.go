package comfy

import (
	"regexp"
	"slices"
	"strings"

	"vitrine/library"
)

// readPasses fills the prompts, parameters and passes from the picture path of the
// chosen output.
func (r *reader) readPasses(lin *library.Lineage, out *node) {
	t := r.pictures.pathFrom(out)
	chain := r.chains.of(t)
	if len(chain) == 0 {
		r.readGenerator(lin, t)
		return
	}
	primary := chain[0]
	r.fill(lin, primary, t)
	r.readSamplers(lin, chain, t)
	lin.Hires = r.chains.hires(chain, t)
	r.textFromSource(lin, t)
	r.keepShared(lin, primary)
}

// fill sets the fields of the primary pass.
func (r *reader) fill(lin *library.Lineage, n *node, t picturePath) {
	p := r.passes.of(n)
	lin.Positive, lin.Negative = p.Positive, p.Negative
	pos, neg := r.prompts.of(n)
	if pos.unknown && p.Positive == nil {
		r.notes.warn("the prompt comes from nodes whose text is not in the file")
	}
	r.recordPrompt("positive", pos)
	r.recordPrompt("negative", neg)
	lin.Regions = append(pos.regions(rolePositive), neg.regions(roleNegative)...)
	gp := &library.GenerationParameters{
		Seed: p.Seed, Steps: p.Steps, CFGScale: p.CFGScale, Guidance: p.Guidance,
		Sampler: p.Sampler, Scheduler: p.Scheduler, Denoise: p.Denoise,
	}
	if p.Model != "" {
		gp.ModelName = &p.Model
	}
	gp.ClipSkip = r.clipSkip(pos)
	r.recordSettings(n, gp)
	r.fillSize(gp, n, t)
	r.fillMotion(gp, n, t)
	lin.Parameters = gp
}

// recordSettings records for each setting of the primary pass where it was read.
func (r *reader) recordSettings(n *node, gp *library.GenerationParameters) {
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
		if from := r.passes.origins[n][f.name]; from != nil {
			at, rule = from, "node that gives the first pass its "+f.name
		}
		r.notes.record(f.name, at, rule)
	}
}

func (r *reader) recordPrompt(field string, set *promptSet) {
	for _, p := range set.parts {
		r.notes.record(field, p.node, "text behind the "+field+" input of the first pass")
	}
}

// clipSkip reads how many layers the text encoder of the prompt leaves out.
func (r *reader) clipSkip(set *promptSet) *int {
	for _, part := range set.parts {
		n, seen := part.node, map[*node]bool{}
		for n != nil && !seen[n] && r.notes.step() {
			seen[n] = true
			if v := r.values.whole(n, []string{"stop_at_clip_layer", "clip_skip"}); v != nil {
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
func (r *reader) fillSize(gp *library.GenerationParameters, n *node, t picturePath) {
	if d := r.sizes.at(n); d.known() {
		gp.Width, gp.Height = &d.w, &d.h
		r.recordSize(r.pictures.latentSource(n), "size of the latent the first pass began with")
		return
	}
	w, h := r.in.FileWidth, r.in.FileHeight
	if w <= 0 || h <= 0 || w%8 != 0 || h%8 != 0 || r.g.place == "workflow" { // a picture that only shows a graph has no executed one
		return
	}
	for _, m := range t.nodes {
		if m == n {
			gp.Width, gp.Height = &w, &h
			r.recordSize(nil, "size of the file, unchanged since the first pass")
			return
		}
		if m.opaque() || resizes(m) || m.like("composes") {
			return
		}
	}
}

func (r *reader) recordSize(n *node, rule string) {
	r.notes.record("width", n, rule)
	r.notes.record("height", n, rule)
}

var lengthNames = []string{"length", "video_frames", "num_frames", "frames", "frames_number", "frame_count", "video_length", "n_frames"}

func (r *reader) fillMotion(gp *library.GenerationParameters, n *node, t picturePath) {
	src := r.pictures.latentSource(n)
	if src == nil {
		src = n
	}
	gp.Frames, gp.BatchSize = r.values.whole(src, lengthNames), r.values.whole(src, []string{"batch_size"})
	if gp.Frames == nil && gp.BatchSize != nil && *gp.BatchSize > 1 && (medium(t.nodes[0]) == "video" || medium(t.nodes[0]) == "animation") {
		gp.Frames = gp.BatchSize // the frames of a motion module are a batch of pictures
	}
	if gp.Frames != nil {
		r.notes.record("frames", src, "length of the latent")
	}
	if gp.BatchSize != nil {
		r.notes.record("batch_size", src, "batch of the latent")
	}
	for _, m := range t.nodes {
		if f := r.values.number(m, []string{"fps", "frame_rate"}); f != nil {
			gp.FPS = f
			r.notes.record("fps", m, "frame rate of the writing node")
			return
		}
	}
}

// readSamplers lists every pass: those on the picture's path in order, then the
// ones beside it.
func (r *reader) readSamplers(lin *library.Lineage, chain []*node, t picturePath) {
	for i, n := range chain {
		if len(lin.Samplers) >= maxPasses {
			r.notes.warn("the graph has more sampling passes than are listed")
			return
		}
		p := *r.passes.of(n)
		p.Role = r.chains.roleOf(i, chain, t)
		if i > 0 && r.chains.isStageB(n) {
			p.Role = "stage_b"
		}
		lin.Samplers = append(lin.Samplers, p)
		if script := r.passes.scriptOf(n); script != nil && len(lin.Samplers) < maxPasses {
			lin.Samplers = append(lin.Samplers, r.passes.scriptPass(&p, script))
		}
	}
	for _, n := range r.runs.samplers() {
		if slices.Contains(chain, n) || r.chains.preparesPass(n, chain) {
			continue
		}
		if len(lin.Samplers) >= maxPasses {
			r.notes.warn("the graph has more sampling passes than are listed")
			return
		}
		p := *r.passes.of(n)
		switch {
		case n.like("detailer"):
			p.Role = "detailer"
		case n.like("upscales"):
			p.Role = "hires"
		default:
			p.Role = "source"
		}
		lin.Samplers = append(lin.Samplers, p)
	}
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
				if name := strings.TrimRight(m[1], "."); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) > 0 {
		lin.Extra = with(lin.Extra, "embeddings", strings.Join(names, ", "))
	}
}
