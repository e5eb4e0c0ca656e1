package comfy

import (
	"regexp"
	"strings"

	"vitrine/library"
)

// isGenerator reports whether a node makes a picture from a text by itself, as do
// those that call a remote service: a prompt and no model to steer.
func isGenerator(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleGenerator
	}
	in := n.in("prompt", "text_prompt", "prompt_text")
	if in == nil || isOutputClass(n) || n.like("no_generator") {
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

// textFromSource takes the prompt of the picture a video was made from, when the
// video's own pass has none.
func (r *reader) textFromSource(lin *library.Lineage, t picturePath) {
	if lin.Positive != nil || lin.Negative != nil || t.source == nil || !isLatentSource(t.source) {
		return
	}
	for _, p := range r.pictures.inputs(t.source) {
		up := r.pictures.pathFrom(p.node)
		if len(up.passes) == 0 {
			continue
		}
		first := r.chains.of(up)[0]
		lin.Positive, lin.Negative = r.passes.of(first).Positive, r.passes.of(first).Negative
		r.notes.record("positive", first, "prompt of the picture the video was made from")
		return
	}
}

// readGenerator reads a node that makes its picture from a text by itself.
func (r *reader) readGenerator(lin *library.Lineage, t picturePath) {
	for _, n := range t.nodes {
		if !isGenerator(n) {
			continue
		}
		if s, ok := r.texts.of(n.in("prompt", "text_prompt", "prompt_text"), rolePositive); ok && proseLike(s) {
			lin.Positive = &s
			r.notes.record("positive", n, "prompt of the generating node")
		}
		if s, ok := r.texts.of(n.in("negative_prompt"), roleNegative); ok {
			lin.Negative = &s
		}
		p := &library.SamplerPass{NodeID: n.id, NodeType: n.class, Role: "base"}
		r.passes.readSettings(n, p)
		p.Positive, p.Negative = lin.Positive, lin.Negative
		gp := &library.GenerationParameters{Seed: p.Seed, Steps: p.Steps, CFGScale: p.CFGScale}
		if s := r.askedFor(n); s != "" {
			gp.ModelName = &s
			p.Model = s
			r.hostedModel(lin, n, s)
		}
		if d := r.sizes.stated(n); d.known() {
			gp.Width, gp.Height = &d.w, &d.h
		}
		lin.Parameters, lin.Samplers = gp, []library.SamplerPass{*p}
		return
	}
}

// askedFor names the model that a generating node asks a service for. Some choose
// it together with how to use it: "standard mode / 5s duration / kling-v1".
func (r *reader) askedFor(n *node) string {
	if s := r.values.word(n, []string{"model", "model_name"}); s != nil {
		if isNoFile(*s) {
			return ""
		}
		return *s
	}
	if s := r.values.word(n, []string{"mode"}); s != nil {
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
	r.notes.record("models", n, "model the generating node asks a service for")
}
