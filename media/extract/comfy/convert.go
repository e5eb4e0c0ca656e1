package comfy

import (
	"maps"
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
)

// Bounds on expansion: nested instances multiply.
const (
	maxScopes     = 2_000
	maxScopeDepth = 24
	maxHops       = 2_000
)

// converter turns the editor's graph into an executable one, as the editor does
// when it queues it: subgraphs are opened, virtual nodes are followed, muted nodes
// dropped, bypassed nodes passed through, widgets written as inputs.
type converter struct {
	defs       map[string]*definition
	root       *scope
	opened     []*scope
	g          *graph
	made       map[*uiNode]*node
	todo       []pending
	everywhere everywhere
}

// pending is a node whose inputs are still to be resolved.
type pending struct {
	s *scope
	u *uiNode
	n *node
}

// convert returns the executable graph of an editor's document.
func convert(doc value) *graph {
	c := &converter{defs: definitions(doc), g: newGraph("workflow"), made: map[*uiNode]*node{}}
	root := readDefinition(doc)
	c.root = c.newScope(root, nil, nil)
	c.open(c.root, 0)
	c.everywhere = c.readEverywhere()
	for _, p := range c.todo {
		c.fill(p)
	}
	c.g.shortenNames()
	c.g.describe()
	for i, n := range c.g.nodes {
		n.order = i + 1
	}
	c.g.count()
	return c.g
}

func (c *converter) newScope(def *definition, parent *scope, instance *uiNode) *scope {
	s := &scope{def: def, parent: parent, instance: instance, byID: map[string]*uiNode{}, override: map[string]map[string]value{}, named: map[string]*uiNode{}}
	if parent != nil {
		s.prefix = parent.prefix + instance.id + ":"
	}
	return s
}

// open makes the executable nodes of a scope and of every instance inside it.
func (c *converter) open(s *scope, depth int) {
	c.opened = append(c.opened, s)
	for _, u := range s.def.inOrder() {
		if s.parent != nil {
			u = ownCopy(u)
		}
		if u.id == "" || s.byID[u.id] != nil {
			continue
		}
		s.byID[u.id] = u
		if u.typ == "SetNode" || u.typ == "easy setNode" {
			if name := firstWidget(u).Str(); name != "" {
				s.named[name] = u
			}
		}
		if u.mode == modeMuted || u.mode == modeBypassed || isVirtual(u.typ) {
			continue
		}
		if def := c.defs[u.typ]; def != nil {
			if depth < maxScopeDepth && len(c.opened) < maxScopes && len(c.g.nodes) < maxNodes {
				u.inner = c.newScope(def, s, u)
				c.bindWidgets(s, u)
				c.open(u.inner, depth+1)
			}
			continue
		}
		if len(c.g.nodes) >= maxNodes {
			return
		}
		c.make(s, u)
	}
}

// ownCopy keeps instances of one subgraph apart.
func ownCopy(u *uiNode) *uiNode {
	v := *u
	v.inner = nil
	return &v
}

func firstWidget(u *uiNode) value {
	if len(u.widgets.List) > 0 {
		return u.widgets.List[0]
	}
	if len(u.widgets.Members) > 0 {
		return u.widgets.Members[0].Val
	}
	return value{}
}

func (c *converter) make(s *scope, u *uiNode) {
	n := &node{id: s.prefix + u.id, class: u.typ, title: u.title, pack: packOf(u.props)}
	for _, o := range u.outputs {
		n.outputs = append(n.outputs, outSlot{o.name, o.typ})
	}
	c.g.add(n)
	c.made[u] = n
	c.todo = append(c.todo, pending{s, u, n})
}

// origin is what a link turned out to start at: a node's output or a value.
type origin struct {
	port port
	val  value
	lit  bool
}

func (o origin) found() bool { return o.port.node != nil || o.lit }

// fill writes the inputs of one executable node: its widgets, then its links.
func (c *converter) fill(p pending) {
	vals := widgetValues(p.u)
	vals = vals[:min(len(vals), maxInputs)]
	set := p.s.override[p.u.id]
	for _, shown := range slices.Sorted(maps.Keys(set)) {
		_, name := splitShown(shown)
		vals = setWidget(vals, name, set[shown])
	}
	linked := map[string]origin{}
	for i := range p.u.inputs {
		in := &p.u.inputs[i]
		o := c.fromLink(p.s, in.link, 0)
		if !o.found() && !p.s.def.has(in.link) {
			o = c.everywhere.source(c, p.s, p.u, in, 0)
		}
		if o.found() {
			linked[in.name] = o
		}
	}
	for _, w := range vals {
		if o, ok := linked[w.name]; ok {
			p.n.addInput(w.name, o)
			delete(linked, w.name)
			continue
		}
		v := w.val
		if w.name == "text" && p.u.typ == "CLIPTextEncode" {
			v.Text = stripComments(v.Text)
		}
		p.n.inputs = append(p.n.inputs, input{name: w.name, val: v})
	}
	for i := range p.u.inputs {
		name := p.u.inputs[i].name
		if o, ok := linked[name]; ok {
			p.n.addInput(name, o)
			delete(linked, name)
		}
	}
}

func (n *node) addInput(name string, o origin) {
	if o.lit {
		n.inputs = append(n.inputs, input{name: name, val: o.val})
		return
	}
	link := value{Kind: jsonscan.Array, List: []value{{Kind: jsonscan.String, Text: o.port.node.id}, {Kind: jsonscan.Number, Text: "0"}}}
	n.inputs = append(n.inputs, input{name: name, val: link, from: o.port})
}

// stripComments drops what the editor drops from a prompt when it queues it.
func stripComments(s string) string {
	for {
		i := strings.Index(s, "/*")
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], "*/")
		if j < 0 {
			break
		}
		s = s[:i] + s[i+j+2:]
	}
	if !strings.Contains(s, "//") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if j := strings.Index(l, "//"); j >= 0 {
			lines[i] = l[:j]
		}
	}
	return strings.Join(lines, "\n")
}

// fromLink resolves a link of a scope to where its data really comes from.
func (c *converter) fromLink(s *scope, id string, hops int) origin {
	if id == "" || hops > maxHops {
		return origin{}
	}
	l, ok := s.def.links[id]
	if !ok {
		return origin{}
	}
	return c.fromNode(s, l, hops+1)
}

func (c *converter) fromNode(s *scope, l uiLink, hops int) origin {
	if hops > maxHops {
		return origin{}
	}
	if l.from == subgraphIn {
		return c.fromOutside(s, l.fromSlot, hops)
	}
	u := s.byID[l.from]
	switch {
	case u == nil || u.mode == modeMuted && !isVirtual(u.typ):
		return origin{}
	case u.mode == modeBypassed && !isVirtual(u.typ):
		if i := bypass(u, l); i >= 0 {
			return c.fromLink(s, u.inputs[i].link, hops)
		}
		return origin{}
	case u.inner != nil:
		return c.fromInside(u, l.fromSlot, hops)
	case passesThrough(u.typ):
		if len(u.inputs) > 0 {
			return c.fromLink(s, u.inputs[0].link, hops)
		}
		return origin{}
	case u.typ == "PrimitiveNode":
		v := firstWidget(u)
		if set, ok := s.override[u.id]["value"]; ok {
			v = set
		}
		if v.Kind != jsonscan.Null {
			return origin{val: v, lit: true}
		}
		return origin{}
	case u.typ == "GetNode" || u.typ == "easy getNode":
		return c.fromNamed(s, firstWidget(u).Str(), hops)
	}
	if n := c.made[u]; n != nil {
		return origin{port: port{n, l.fromSlot}}
	}
	return origin{}
}

// fromNamed finds the set node of a get node, here or further out.
func (c *converter) fromNamed(s *scope, name string, hops int) origin {
	for ; s != nil; s = s.parent {
		if u := s.named[name]; u != nil && len(u.inputs) > 0 {
			return c.fromLink(s, u.inputs[0].link, hops)
		}
	}
	return origin{}
}

// bypass picks the input that a bypassed node hands on for an output: the one at
// the same place if the types agree, else the first of that type.
func bypass(u *uiNode, l uiLink) int {
	typ := l.typ
	if l.fromSlot >= 0 && l.fromSlot < len(u.outputs) {
		typ = u.outputs[l.fromSlot].typ
	}
	if i := l.fromSlot; i >= 0 && i < len(u.inputs) && (u.inputs[i].typ == typ || typ == "*") {
		return i
	}
	for i := range u.inputs {
		if u.inputs[i].typ == typ {
			return i
		}
	}
	for i := range u.inputs {
		if u.inputs[i].typ == "*" {
			return i
		}
	}
	return -1
}

// has reports whether a link is in the document. Links that nodes of "everywhere"
// drew for a moment stay behind as numbers on inputs.
func (d *definition) has(link string) bool {
	_, ok := d.links[link]
	return ok
}
