package comfy

import (
	"maps"
	"strconv"

	"vitrine/internal/jsonscan"
)

// readGroup reads an old group node as a definition. Its nodes are numbered, its
// boundary follows from which slots are left open.
func readGroup(v value) *definition {
	d := &definition{links: map[string]uiLink{}, group: true, groupExternal: map[[2]int]bool{}, groupConfig: v.Get("config")}
	for i := range v.Get("nodes").List {
		u := readUINode(v.Get("nodes").List[i])
		u.id = strconv.Itoa(i)
		u.order = i
		for j := range u.inputs {
			u.inputs[j].link = ""
		}
		d.nodes = append(d.nodes, u)
	}
	for i := range v.Get("links").List {
		d.addGroupLink(v.Get("links").List[i], i)
	}
	for i := range v.Get("external").List {
		if e := v.Get("external").List[i].List; len(e) >= 2 {
			at, ok := e[0].Integer()
			if e[0].Kind == jsonscan.Object {
				at, ok = e[0].Get("index").Integer()
			}
			if slot, slotOK := e[1].Integer(); ok && slotOK {
				d.groupExternal[[2]int{at, slot}] = true
			}
		}
	}
	return d
}

// addGroupLink reads [from, slot, to, slot, …]; a link from outside starts at null.
func (d *definition) addGroupLink(v value, i int) {
	if len(v.List) < 4 {
		return
	}
	from, fromOK := v.List[0].Integer()
	fromSlot, _ := v.List[1].Integer()
	to, toOK := v.List[2].Integer()
	toSlot, _ := v.List[3].Integer()
	if !fromOK || !toOK || to < 0 || to >= len(d.nodes) || toSlot < 0 || toSlot >= len(d.nodes[to].inputs) {
		return
	}
	id := "g" + strconv.Itoa(i)
	d.links[id] = uiLink{from: strconv.Itoa(from), fromSlot: fromSlot, to: strconv.Itoa(to), toSlot: toSlot}
	d.nodes[to].inputs[toSlot].link = id
}

// groupOutput finds the inner output that an output of the instance shows:
// outputs used inside are hidden unless the group also gives them out.
func (d *definition) groupOutput(at int) (node, slot int) {
	used := map[[2]int]bool{}
	for _, l := range d.links {
		if n, err := strconv.Atoi(l.from); err == nil {
			used[[2]int{n, l.fromSlot}] = true
		}
	}
	for i, u := range d.nodes {
		for j := range u.outputs {
			key := [2]int{i, j}
			if used[key] && !d.groupExternal[key] || d.hidden(i, "output", strconv.Itoa(j)) {
				continue
			}
			if at == 0 {
				return i, j
			}
			at--
		}
	}
	return -1, 0
}

func (d *definition) hidden(node int, side, name string) bool {
	v := d.groupConfig.Get(strconv.Itoa(node)).Get(side).Get(name).Get("visible")
	return v.Kind == jsonscan.Bool && v.Text == "false"
}

// bindGroup connects an instance's inputs and widget values with the nodes
// inside. An instance shows what is open of its nodes, one after the other: of each
// its widgets, its sockets, and the widgets that were made sockets. Values are dealt
// out in that order; a widget that is fed from outside keeps its place in it.
func bindGroup(s *scope) {
	def := *s.def
	def.links, def.nodes = maps.Clone(s.def.links), nil // the shared definition stays as it is
	b := &groupBinder{s: s, def: &def, sockets: openSockets(s.instance), vals: s.instance.widgets.List, seen: map[string]int{}}
	for i, u := range s.def.nodes {
		u = ownCopy(u)
		u.inputs = append([]slot(nil), u.inputs...)
		def.nodes = append(def.nodes, u)
		b.bind(i, u)
	}
	s.def = &def
}

// groupBinder deals the inputs and values of an instance out to the nodes inside.
type groupBinder struct {
	s       *scope
	def     *definition
	sockets []int          // inputs of the instance that are left, by place
	vals    []value        // values that are left
	seen    map[string]int // names that are taken
}

// bind connects one node inside.
func (b *groupBinder) bind(i int, u *uiNode) {
	var plain, converted []string
	for _, w := range widgetValues(u) {
		switch at := u.inputFor(w.name); {
		case b.def.hidden(i, "input", w.name):
		case at < 0:
			plain = append(plain, w.name)
		case u.inputs[at].link == "":
			converted = append(converted, w.name)
		}
	}
	for _, name := range plain {
		b.bindWidget(i, u, name)
	}
	for j := range u.inputs {
		if in := &u.inputs[j]; in.link == "" && in.widget == "" {
			b.bindSocket(u, j, b.shownAs(i, u, in.name))
		}
	}
	for _, name := range converted {
		b.bindWidget(i, u, name)
	}
}

// inputFor returns the place of the input that stands for a widget, -1 without one.
func (u *uiNode) inputFor(widget string) int {
	for i := range u.inputs {
		if u.inputs[i].widget == widget {
			return i
		}
	}
	return -1
}

// shownAs returns the name that an instance shows an inner input under: its own, with
// the node's name in front when another node's has taken it.
func (b *groupBinder) shownAs(i int, u *uiNode, name string) string {
	shown := name
	if own := b.def.groupConfig.Get(strconv.Itoa(i)).Get("input").Get(name).Get("name").Str(); own != "" {
		shown = own
	}
	if _, taken := b.seen[shown]; taken || u.typ == "PrimitiveNode" && u.title != "" {
		prefix := u.title
		if prefix == "" {
			prefix = u.typ
		}
		shown = prefix + " " + name
		if n, again := b.seen[shown]; again {
			b.seen[shown]++
			return prefix + " " + strconv.Itoa(n) + " " + name
		}
	}
	b.seen[shown] = max(b.seen[shown], 1) + 1
	return shown
}

// bindWidget takes the next value of the instance for a widget, and the link that
// feeds it from outside.
func (b *groupBinder) bindWidget(i int, u *uiNode, name string) {
	shown := b.shownAs(i, u, name)
	if len(b.vals) > 0 {
		if b.s.override[u.id] == nil {
			b.s.override[u.id] = map[string]value{}
		}
		b.s.override[u.id][name] = b.vals[0]
		seed := b.vals[0].Kind == jsonscan.Number
		if b.vals = b.vals[1:]; len(b.vals) > 0 && seed && isControl(b.vals[0]) {
			b.vals = b.vals[1:]
		}
	}
	for _, outer := range b.s.instance.inputs {
		if outer.link == "" || outer.widget == "" || outer.widget != shown && outer.name != shown {
			continue
		}
		at := u.inputFor(name)
		if at < 0 {
			at = len(u.inputs)
			u.inputs = append(u.inputs, slot{name: name, typ: outer.typ, widget: name})
		}
		b.feed(u, at, outer)
		return
	}
}

// bindSocket connects a socket inside with the one of its name outside, or with the
// next that is left.
func (b *groupBinder) bindSocket(u *uiNode, at int, shown string) {
	found := -1
	for i, place := range b.sockets {
		outer := &b.s.instance.inputs[place]
		if outer.name == shown && fitsSocket(&u.inputs[at], outer) {
			found = i
			break
		}
	}
	if found < 0 && len(b.sockets) > 0 && fitsSocket(&u.inputs[at], &b.s.instance.inputs[b.sockets[0]]) {
		found = 0
	}
	if found < 0 {
		return
	}
	b.feed(u, at, b.s.instance.inputs[b.sockets[found]])
	b.sockets = append(append([]int(nil), b.sockets[:found]...), b.sockets[found+1:]...)
}

func fitsSocket(inner, outer *slot) bool {
	return inner.typ == outer.typ || inner.typ == "*" || outer.typ == "*"
}

// feed makes an input of the instance a boundary input that feeds one inside.
func (b *groupBinder) feed(u *uiNode, at int, outer slot) {
	id := "in" + strconv.Itoa(len(b.def.inputs))
	b.def.links[id] = uiLink{from: subgraphIn, fromSlot: len(b.def.inputs), to: u.id, toSlot: at}
	b.def.inputs = append(b.def.inputs, slot{name: outer.name, typ: outer.typ})
	u.inputs[at].link = id
}

func openSockets(u *uiNode) []int {
	var out []int
	for i := range u.inputs {
		if u.inputs[i].widget == "" {
			out = append(out, i)
		}
	}
	return out
}
