package comfy

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// maxNodes bounds the graphs that are read as graphs. A file with more nodes
// keeps its documents and its node count, and says so in a warning.
const maxNodes = 10_000

// maxInputs bounds the inputs of a node: rules look an input up by its name, one after the
// other. Nodes with the most have some hundred.
const maxInputs = 1_000

// port is the origin end of a link: one output of one node.
type port struct {
	node *node
	slot int
}

// input is one named input of a node: a literal value or a link.
type input struct {
	name string
	full string // the name as it stands in the document, where it is longer
	val  value
	from port // node is nil for literals

	drawn  port   // where the link was drawn from, when it was led past a bundle
	file   string // type of the model whose file it names, where the table says so
	option bool   // an option that no rule may read
}

func (in *input) linked() bool { return in.from.node != nil }

// outSlot is one output as the editor's graph names it.
type outSlot struct {
	name, typ string
}

// node is one node of the executed graph.
type node struct {
	id, class, title string
	pack             string // registry id of the node pack, where the file gives it
	inputs           []input
	outputs          []outSlot // empty when only the executed graph is there
	order            int       // rank in the editor's execution order, 0 without one
	shown            string    // texts the node holds in the editor's graph
	about            *Class    // what is known of the class, nil when nothing is
	unclear          *bool     // nothing says what the node does; nil until asked

	key   string   // class in lower case without punctuation, for rules
	idv   []idPart // id split for natural order
	uses  int      // links that start at this node
	feeds []feed   // the first inputs that take what it gives
	gives *string  // type of the model it gives, nil until asked
}

// graph is an executable node graph.
type graph struct {
	nodes []*node // document order
	byID  map[string]*node
	place string // "prompt" or "workflow": the document it was read from
}

func newGraph(place string) *graph {
	return &graph{byID: map[string]*node{}, place: place}
}

func (g *graph) add(n *node) {
	if _, taken := g.byID[n.id]; taken {
		return
	}
	n.key = foldClass(n.class)
	n.idv = splitID(n.id)
	g.nodes = append(g.nodes, n)
	g.byID[n.id] = n
}

// in finds an input by any of the given names, the first name that exists first.
func (n *node) in(names ...string) *input {
	for _, name := range names {
		for i := range n.inputs {
			if n.inputs[i].name == name {
				return &n.inputs[i]
			}
		}
	}
	return nil
}

// link finds the first linked input among the names.
func (n *node) link(names ...string) (port, bool) {
	for _, name := range names {
		for i := range n.inputs {
			if n.inputs[i].name == name && n.inputs[i].linked() {
				return n.inputs[i].from, true
			}
		}
	}
	return port{}, false
}

func (n *node) has(names ...string) bool { return n.in(names...) != nil }

// links counts the linked inputs.
func (n *node) links() int {
	c := 0
	for i := range n.inputs {
		if n.inputs[i].linked() {
			c++
		}
	}
	return c
}

func (n *node) is(parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(n.key, p) {
			return true
		}
	}
	return false
}

// outName returns the name of an output in lower case, or "" when unknown.
func (p port) outName() string {
	if p.slot < 0 {
		return ""
	}
	about := p.node.about
	if p.slot < len(p.node.outputs) {
		name := strings.ToLower(p.node.outputs[p.slot].name)
		if about != nil && about.Inputs[name] != "" && !strings.ContainsAny(about.Inputs[name], "-:") {
			return about.Inputs[name]
		}
		return name
	}
	if about != nil && p.slot < len(about.Outputs) {
		return about.Outputs[p.slot]
	}
	return ""
}

// outType returns the type of an output, or "" when unknown.
func (p port) outType() string {
	if p.slot >= 0 && p.slot < len(p.node.outputs) {
		return usualType(p.node.outputs[p.slot].typ)
	}
	return ""
}

// usualType returns the usual name of a type that packs name otherwise: texts and
// numbers of some have types of their own.
func usualType(typ string) string {
	switch typ {
	case "ASCII", "TEXT", "BATCH_STRING", "PROMPT":
		return "STRING"
	case "SEED":
		return "INT"
	}
	return typ
}

// foldClass reduces a class name to lower-case letters and digits, so that
// "KSampler (Efficient)" and "KSampler(Efficient)" are one class to the rules.
func foldClass(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127 {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// readPrompt reads an executed ("API") graph.
func readPrompt(doc value) *graph {
	g := newGraph("prompt")
	for _, m := range doc.Members {
		class := m.Val.Get("class_type")
		if class.Kind != jsonscan.String || len(g.nodes) >= maxNodes {
			continue
		}
		n := &node{id: m.Name, class: class.Text, title: m.Val.Get("_meta").Get("title").Str()}
		members := m.Val.Get("inputs").Members
		for _, im := range members[:min(len(members), maxInputs)] {
			n.inputs = append(n.inputs, input{name: im.Name, val: im.Val})
		}
		g.add(n)
	}
	for _, n := range g.nodes {
		for i := range n.inputs {
			n.inputs[i].from = g.linkOf(n.inputs[i].val)
		}
	}
	g.shortenNames()
	g.skipRelays()
	g.count()
	return g
}

// shortenNames sets the own name of inputs that belong to a choice or to a list:
// "model.prompt" is the prompt that the chosen model takes, "images.image_1" the
// first of the images. Names that would fall together stay as they are.
func (g *graph) shortenNames() {
	for _, n := range g.nodes {
		taken := map[string]int{}
		for i := range n.inputs {
			taken[lastName(n.inputs[i].name)]++
		}
		for i := range n.inputs {
			in := &n.inputs[i]
			if short := lastName(in.name); short != in.name && taken[short] == 1 {
				in.full, in.name = in.name, short
			}
		}
	}
}

var dottedName = regexp.MustCompile(`^[a-z]\w*(\.\w+)+$`)

func lastName(name string) string {
	if len(name) > 200 || !dottedName.MatchString(name) || isWeightFile(name) {
		return name
	}
	return name[strings.LastIndexByte(name, '.')+1:]
}

// written is the name of an input as it stands in the document.
func (in *input) written() string {
	if in.full != "" {
		return in.full
	}
	return in.name
}

// skipRelays leads every link that starts at a relay to what the relay hands on.
// The editor resolves its own reroutes when it queues a graph; those of some packs,
// and nodes that only free memory on the way, are executed and stand in it.
func (g *graph) skipRelays() {
	for _, n := range g.nodes {
		for i := range n.inputs {
			in := &n.inputs[i]
			for hops := 0; in.linked() && in.from.slot == 0 && hops < maxHops; hops++ {
				next := in.from.node.relayed()
				if next.node == nil {
					break
				}
				in.from = next
			}
		}
	}
}

// relayNames are the inputs of nodes that hand anything on.
var relayNames = map[string]bool{"": true, "*": true, "any": true, "anything": true, "any_in": true, "any_input": true, "input_any": true, "passthrough": true}

// relayed returns what a node hands on unchanged at its first output, when that is
// all it does: it has one link and no text or number of its own.
func (n *node) relayed() port {
	if len(n.inputs) > 4 || n.links() != 1 {
		return port{}
	}
	var from port
	for i := range n.inputs {
		switch in := &n.inputs[i]; {
		case in.linked() && (relayNames[in.name] || n.like("relay")):
			from = in.from
		case in.val.Kind != jsonscan.Bool && in.val.Kind != jsonscan.Null:
			return port{}
		}
	}
	if from.node != nil && n.like("shows_anything") && (writesText(from.node) || from.node.drawsText()) {
		return port{} // what it shows is known here alone
	}
	return from
}

// linkOf reads a link: a pair of node id and output index. A pair that names no
// node is a literal list.
func (g *graph) linkOf(v value) port {
	if v.Kind != jsonscan.Array || len(v.List) != 2 || v.List[1].Kind != jsonscan.Number {
		return port{}
	}
	n := g.byID[v.List[0].ID()]
	slot, ok := v.List[1].Integer()
	if n == nil || !ok {
		return port{}
	}
	return port{n, slot}
}

// feed is an input that takes what a node gives.
type feed struct {
	to    *node
	input string
}

// maxFeeds bounds the inputs that are noted of those that one node fills.
const maxFeeds = 16

func (g *graph) count() {
	for _, n := range g.nodes {
		for i := range n.inputs {
			if n.inputs[i].linked() {
				from := n.inputs[i].from.node
				from.uses++
				if from.uses <= maxFeeds {
					from.feeds = append(from.feeds, feed{n, n.inputs[i].name})
				}
			}
		}
	}
}

// annotate copies titles, packs, output names and the execution order of the
// editor's graph onto the executed graph.
func (g *graph) annotate(layout *graph) {
	for _, n := range g.nodes {
		n.order = len(layout.nodes) + 1
		l := layout.byID[n.id]
		if l == nil || l.class != n.class {
			continue
		}
		n.order, n.outputs, n.pack = l.order, l.outputs, l.pack
		n.shown = keptTexts(l)
		if n.title == "" {
			n.title = l.title
		}
	}
}

// before is the order for ties: the editor's order, then natural id order.
func before(a, b *node) int {
	if c := cmp.Compare(a.order, b.order); c != 0 {
		return c
	}
	return compareIDs(a, b)
}

// idPart is a run of digits or of other characters.
type idPart struct {
	text string
	num  int
	isN  bool
}

func splitID(id string) []idPart {
	var parts []idPart
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := 0; i < len(id) && len(parts) < 32; {
		j := i + 1
		for j < len(id) && digit(id[j]) == digit(id[i]) {
			j++
		}
		p := idPart{text: id[i:j]}
		if digit(id[i]) {
			if n, err := strconv.Atoi(p.text); err == nil {
				p.num, p.isN = n, true
			}
		}
		parts = append(parts, p)
		i = j
	}
	return parts
}

func compareIDs(a, b *node) int {
	return slices.CompareFunc(a.idv, b.idv, compareParts)
}

func compareParts(x, y idPart) int {
	if x.isN && y.isN {
		return cmp.Compare(x.num, y.num)
	}
	return cmp.Compare(x.text, y.text)
}
