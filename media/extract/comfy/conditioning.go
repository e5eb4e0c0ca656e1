package comfy

import (
	"slices"
	"strings"
)

type role uint8

const (
	rolePositive role = iota
	roleNegative
)

// sideReader follows one side of a pass's conditioning to its texts. Each node and
// side is visited once, so reading is linear in the graph and ends on cycles.
type sideReader struct {
	r    *prompts
	set  *promptSet
	seen map[sideKey]bool
}

type sideKey struct {
	n      *node
	slot   int
	role   role
	shared bool
}

// sideContext is what was learned on the way.
type sideContext struct {
	role   role
	shared bool // the link carries both sides in one
	far    bool // an opaque node was passed
	area   string
}

var (
	positiveLinks = []string{"optional_positive_conditionings", "positive", "conditioning", "cond1", "cond", "positive_cond", "pos", "positive_conditioning", "cond_positive", "base_positive", "positive_prompt", "CONDITIONING", "opt_positive"}
	negativeLinks = []string{"negative", "neg_conditioning", "negative_cond", "neg", "negative_conditioning", "cond_negative", "base_negative", "negative_prompt", "cond_neg", "uncond", "opt_negative"}
	sharedLinks   = []string{"text_embeds", "hyvid_embeds", "prompt_embeds", "kolors_embeds", "embeds", "sdxl_tuple", "conditionings"}
)

func (w *sideReader) fromSampler(n *node, side role) {
	seen := map[*node]bool{}
	for n != nil && !seen[n] {
		seen[n] = true
		if w.fromSides(n, sideContext{role: side}) {
			return
		}
		p, ok := n.link("guider", "base_sampler")
		if !ok {
			break
		}
		n = p.node
	}
	if n != nil {
		w.ownTexts(port{n, 0}, sideContext{role: side, shared: true})
	}
}

// fromSides follows the links of the wanted side; without such links, those that
// carry both sides.
func (w *sideReader) fromSides(n *node, c sideContext) bool {
	names := positiveLinks
	if c.role == roleNegative {
		names = negativeLinks
	}
	if p, ok := n.link(names...); ok {
		if n.hasLinked("cond2", "conditioning2", "middle") && c.role == rolePositive {
			w.r.notes.warn("a pass is steered by a third conditioning; its text is not part of the prompts")
		}
		w.visit(p, c)
		if p, second := n.link(names[0] + "_2"); second { // of classes with two texts a side
			w.visit(p, c)
		}
		return true
	}
	if p, ok := n.link(sharedLinks...); ok {
		c.shared = true
		w.visit(p, c)
		return true
	}
	if _, guided := n.link("guider"); guided {
		return false
	}
	if p := n.pipe(); p != nil && !n.has(names...) {
		c.shared = true
		w.visit(*p, c)
		return true
	}
	return false
}

func (w *sideReader) visit(p port, c sideContext) {
	n := p.node
	key := sideKey{n, p.slot, c.role, c.shared}
	if w.seen[key] || !w.r.notes.step() {
		return
	}
	w.seen[key] = true
	if n.like("no_conditioning") {
		return
	}
	if in := p.passed(); in != nil {
		if in.linked() {
			w.visit(in.from, c)
		}
		return
	}
	if in, isSwitch := w.r.switches.chosen(n); isSwitch {
		if in != nil && in.linked() {
			w.visit(in.from, c)
		}
		return
	}
	c.role, c.shared = sideOf(p, c)
	if c.role == rolePositive && w.set.guidance == nil {
		w.set.guidance, w.set.guidanceFrom = w.r.values.number(n, []string{"guidance"}), n
	}
	c.area = areaOf(n, c.area)
	if n.opaque() && !w.through(p, &c) {
		return
	}
	before := len(w.set.parts)
	own := w.ownTexts(p, c)
	if own && n.replacesPrompt() && strings.TrimSpace(w.set.parts[before].text) != "" {
		return
	}
	if !w.upstream(n, c) && !own {
		w.lastResort(n, c)
	}
}

// sideOf decides which side an output carries. Nodes that take and give both
// sides give the positive first; named outputs say it themselves.
func sideOf(p port, c sideContext) (role, bool) {
	name := p.outName()
	switch {
	case strings.HasPrefix(name, "neg") || strings.HasSuffix(name, "negative") || name == "conditioning-":
		return roleNegative, false
	case strings.HasPrefix(name, "pos") || strings.HasSuffix(name, "positive") || name == "conditioning+":
		return rolePositive, false
	}
	n := p.node
	_, pos := n.link("positive")
	_, neg := n.link("negative")
	if pos && neg && len(n.outputs) == 0 && !n.has("model", "MODEL") {
		switch p.slot {
		case 0:
			return rolePositive, false
		case 1:
			return roleNegative, false
		}
	}
	return c.role, c.shared
}

func areaOf(n *node, outer string) string {
	if n.like("regional") && !n.like("no_region") {
		return "area"
	}
	return outer
}

// upstream follows every conditioning that goes into a node.
func (w *sideReader) upstream(n *node, c sideContext) bool {
	taken, other := n.sides(c.role)
	if len(taken) > 0 {
		c.shared = false
		for _, in := range inFamilyOrder(taken) {
			w.visit(in.from, c)
		}
		return true
	}
	var conds []*input
	for i := range n.inputs {
		if in := &n.inputs[i]; in.linked() && isCondInput(in) && !slices.Contains(other, in) {
			conds = append(conds, in)
		}
	}
	for _, in := range inFamilyOrder(conds) {
		w.visit(in.from, c)
	}
	if len(conds) == 0 {
		if p := n.pipe(); p != nil {
			w.visit(*p, c)
			return true
		}
	}
	return len(conds) > 0
}

// replacesPrompt reports whether a node puts its own text in the place of the prompt that
// it is handed, rather than beside it.
func (n *node) replacesPrompt() bool {
	if n.about != nil && n.about.Replaces {
		return true
	}
	in := n.in("conditioning_mode")
	return in != nil && in.val.Str() == "replace"
}

// sides returns the links that carry a side into a node, and those of the other side:
// they never hold the text of this one.
func (n *node) sides(side role) (taken, other []*input) {
	pos, neg := sidedInputs(n)
	if side == roleNegative {
		return neg, pos
	}
	return pos, neg
}

func sidedInputs(n *node) (pos, neg []*input) {
	for i := range n.inputs {
		in := &n.inputs[i]
		if !in.linked() || !mayBeCond(in) {
			continue
		}
		name := strings.ToLower(in.name)
		switch {
		case strings.HasPrefix(name, "pos") || strings.HasSuffix(name, "_positive") || strings.HasSuffix(name, "_pos"):
			pos = append(pos, in)
		case strings.HasPrefix(name, "neg") || strings.HasSuffix(name, "_negative") || strings.HasSuffix(name, "_neg"):
			neg = append(neg, in)
		}
	}
	return pos, neg
}

// mayBeCond keeps linked texts named "positive" out of the conditioning.
func mayBeCond(in *input) bool {
	t := in.from.outType()
	return t != "STRING" && t != "INT" && t != "FLOAT"
}

func isCondInput(in *input) bool {
	t := in.from.outType()
	if t == "CONDITIONING" || t == "WANVIDEOTEXTEMBEDS" {
		return true
	}
	if t != "" && t != "*" {
		return false
	}
	name := strings.ToLower(in.name)
	return strings.HasPrefix(name, "cond") && name != "condition" || strings.Contains(name, "conditioning") || strings.HasSuffix(name, "_cond") || name == "text_embeds" || name == "prompt_embeds"
}

// lastResort passes through a node with one single link.
func (w *sideReader) lastResort(n *node, c sideContext) {
	in := n.onlyLink()
	if in == nil || otherWire[in.name] || isPictureWire(in) {
		return
	}
	w.visit(in.from, c)
}

func isPictureWire(in *input) bool {
	if pictureTypes[in.from.outType()] || strings.Contains(in.name, "vision") {
		return true
	}
	for _, name := range pictureNames {
		if name == in.name {
			return true
		}
	}
	return pictureStem(in.name)
}

// through reports whether reading goes on behind an opaque node: an encoder may be
// read, and one conditioning that goes in may be what comes out. It must not hold a
// text besides, nor be one output of a bundle.
func (w *sideReader) through(p port, c *sideContext) bool {
	n := p.node
	conds := 0
	for i := range n.inputs {
		if n.inputs[i].linked() && isCondInput(&n.inputs[i]) || n.inputs[i].linked() && isSide(n.inputs[i].name) {
			conds++
		}
	}
	switch {
	case conds == 0 && isEncoder(n):
		return true
	case conds > 0 && n.ownWords(), conds == 0 && p.slot > 0, n.mayChoose():
		w.set.unknown = true
		return false
	}
	c.far = true
	return true
}

func isSide(name string) bool {
	return slices.Contains(positiveLinks, name) || slices.Contains(negativeLinks, name)
}
