package comfy

import (
	"strings"

	"vitrine/library"
)

type role uint8

const (
	rolePositive role = iota
	roleNegative
)

// promptPart is one text that steers a pass.
type promptPart struct {
	text string
	node *node
	far  bool   // an opaque node lies between it and the pass
	kind string // "" for the main text, area, encoder
	name string // the encoder's field, the area's place
}

// promptSet is everything one side of a pass's conditioning says.
type promptSet struct {
	parts        []promptPart
	guidance     *float64
	guidanceFrom *node
	unknown      bool // a text exists that the file does not hold
}

// joined returns the prompt as one text, nil when nothing says one. Empty texts
// count only when there is no other: an empty negative is still a negative.
func (s *promptSet) joined() *string {
	var texts []string
	seen := map[string]bool{}
	empty := false
	for _, p := range s.parts {
		key := strings.TrimSpace(p.text)
		at := p.node.id + "\x00" + key
		if p.kind == kindBox || seen[at] {
			continue
		}
		seen[at] = true
		if key == "" {
			empty = true
			texts = append(texts, "")
			continue
		}
		texts = append(texts, p.text)
	}
	if len(texts) == 0 {
		return nil
	}
	if len(texts) > 1 && empty {
		kept := texts[:0]
		for _, t := range texts {
			if t != "" {
				kept = append(kept, t)
			}
		}
		texts = kept
	}
	all := strings.Join(texts, "\n")
	if len(all) > maxText {
		all = strings.ToValidUTF8(all[:maxText], "")
	}
	return &all
}

// kindBox marks texts bound to a box of the picture that repeat words of the
// main prompt; they are regions, not part of the joined prompt.
const kindBox = "box"

// regions lists the texts one by one when there are several.
func (s *promptSet) regions(side role) []library.PromptRegion {
	if len(s.parts) < 2 {
		return nil
	}
	var out []library.PromptRegion
	for _, p := range s.parts {
		if strings.TrimSpace(p.text) == "" || p.kind == "" {
			continue
		}
		text := p.text
		reg := library.PromptRegion{Kind: p.kind, Name: p.name, NodeID: p.node.id}
		if p.kind == kindBox {
			reg.Kind = "area"
		}
		if side == rolePositive {
			reg.Positive = &text
		} else {
			reg.Negative = &text
		}
		out = append(out, reg)
	}
	return out
}

// condWalk follows one side of a pass's conditioning to its texts. Each node and
// side is visited once, so the walk is linear in the graph and ends on cycles.
type condWalk struct {
	r    *reader
	set  *promptSet
	seen map[condKey]bool
}

type condKey struct {
	n      *node
	slot   int
	role   role
	shared bool
}

// condCtx is what the walk has learned on its way.
type condCtx struct {
	role   role
	shared bool // the link carries both sides in one
	far    bool // an opaque node was passed
	area   string
}

var (
	positiveLinks = []string{"positive", "conditioning", "cond1", "cond", "positive_cond", "pos", "positive_conditioning", "cond_positive", "base_positive", "positive_prompt", "CONDITIONING", "opt_positive"}
	negativeLinks = []string{"negative", "neg_conditioning", "negative_cond", "neg", "negative_conditioning", "cond_negative", "base_negative", "negative_prompt", "cond_neg", "uncond", "opt_negative"}
	sharedLinks   = []string{"text_embeds", "hyvid_embeds", "prompt_embeds", "kolors_embeds", "embeds", "sdxl_tuple", "conditionings"}
)

func (w *condWalk) fromSampler(n *node, side role) {
	seen := map[*node]bool{}
	for n != nil && !seen[n] {
		seen[n] = true
		if w.fromSides(n, condCtx{role: side}) {
			return
		}
		p, ok := n.link("guider")
		if !ok {
			break
		}
		n = p.node
	}
	if n != nil {
		w.ownTexts(port{n, 0}, condCtx{role: side, shared: true})
	}
}

// fromSides follows the links of the wanted side; without such links, those that
// carry both sides.
func (w *condWalk) fromSides(n *node, c condCtx) bool {
	names := positiveLinks
	if c.role == roleNegative {
		names = negativeLinks
	}
	if p, ok := n.link(names...); ok {
		if n.hasLinked("cond2", "conditioning2", "middle") && c.role == rolePositive {
			w.r.warn("a pass is steered by a third conditioning; its text is not part of the prompts")
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
	if p, ok := n.link("base_sampler"); ok {
		return w.fromSides(p.node, c)
	}
	return false
}

func (w *condWalk) visit(p port, c condCtx) {
	n := p.node
	key := condKey{n, p.slot, c.role, c.shared}
	if w.seen[key] || !w.r.step() {
		return
	}
	w.seen[key] = true
	if n.is("zeroout", "emptyconditioning") {
		return
	}
	if in := p.passed(); in != nil {
		if in.linked() {
			w.visit(in.from, c)
		}
		return
	}
	if in, isSwitch := w.r.chosen(n); isSwitch {
		if in != nil && in.linked() {
			w.visit(in.from, c)
		}
		return
	}
	c.role, c.shared = sideOf(p, c)
	if c.role == rolePositive && w.set.guidance == nil {
		w.set.guidance, w.set.guidanceFrom = w.r.number(n, []string{"guidance"}), n
	}
	c.area = areaOf(n, c.area)
	if n.opaque() && !w.through(p, &c) {
		return
	}
	own := w.ownTexts(p, c)
	if !w.upstream(n, c) && !own {
		w.lastResort(n, c)
	}
}

// sideOf decides which side an output carries. Nodes that take and give both
// sides give the positive first; named outputs say it themselves.
func sideOf(p port, c condCtx) (role, bool) {
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
	if n.is("setarea", "setmask", "regional", "conditioningsetproperties", "pairconditioningset", "area", "attentioncouple") && !n.is("areastrength") {
		return "area"
	}
	return outer
}

// upstream follows every conditioning that goes into a node.
func (w *condWalk) upstream(n *node, c condCtx) bool {
	if w.fromSided(n, c) {
		return true
	}
	var conds []*input
	for i := range n.inputs {
		if in := &n.inputs[i]; in.linked() && isCondInput(in) {
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

// fromSided handles nodes with a positive and a negative input.
func (w *condWalk) fromSided(n *node, c condCtx) bool {
	pos, neg := sidedInputs(n)
	if len(pos) == 0 && len(neg) == 0 {
		return false
	}
	side := pos
	if c.role == roleNegative {
		side = neg
	}
	c.shared = false
	for _, in := range side {
		w.visit(in.from, c)
	}
	return len(side) > 0
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
func (w *condWalk) lastResort(n *node, c condCtx) {
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

// through decides whether the walk goes on at an opaque node: an encoder may be
// read, and one conditioning that goes in may be what comes out. It must not hold a
// text besides, nor be one output of a bundle.
func (w *condWalk) through(p port, c *condCtx) bool {
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

func isSide(name string) bool { return contains(positiveLinks, name) || contains(negativeLinks, name) }
