package comfy

import (
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
// inside: open sockets and widgets, both in the order of the nodes.
func bindGroup(s *scope) {
	sockets := openSockets(s.instance)
	vals := s.instance.widgets.List
	links := make(map[string]uiLink, len(s.def.links)) // the shared definition stays as it is
	for id, l := range s.def.links {
		links[id] = l
	}
	def := *s.def
	def.links, def.nodes = links, nil
	for i, u := range s.def.nodes {
		u = ownCopy(u)
		u.inputs = append([]slot(nil), u.inputs...)
		def.nodes = append(def.nodes, u)
		sockets = def.bindSockets(s, u, sockets)
		vals = bindGroupWidgets(s, i, u, vals)
	}
	s.def = &def
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

func (d *definition) bindSockets(s *scope, u *uiNode, sockets []int) []int {
	for j := range u.inputs {
		in := &u.inputs[j]
		if in.link != "" || in.widget != "" || len(sockets) == 0 {
			continue
		}
		outer := s.instance.inputs[sockets[0]]
		if in.typ != outer.typ && in.typ != "*" && outer.typ != "*" {
			continue
		}
		id := "in" + strconv.Itoa(sockets[0])
		d.links[id] = uiLink{from: subgraphIn, fromSlot: len(d.inputs), to: u.id, toSlot: j}
		d.inputs = append(d.inputs, slot{name: outer.name, typ: outer.typ})
		in.link = id
		sockets = sockets[1:]
	}
	return sockets
}

// bindGroupWidgets takes the next values of the instance for the widgets of one
// inner node, those shown and not fed by a link.
func bindGroupWidgets(s *scope, i int, u *uiNode, vals []value) []value {
	for _, w := range widgetValues(u) {
		if fedInside(u, w.name) || s.def.hidden(i, "input", w.name) {
			continue
		}
		if len(vals) == 0 {
			return nil
		}
		if s.override[u.id] == nil {
			s.override[u.id] = map[string]value{}
		}
		s.override[u.id][w.name] = vals[0]
		vals = vals[1:]
		if len(vals) > 0 && isSeedName(w.name) && isControl(vals[0]) {
			vals = vals[1:]
		}
	}
	return vals
}

func fedInside(u *uiNode, widget string) bool {
	for i := range u.inputs {
		if u.inputs[i].widget == widget && u.inputs[i].link != "" {
			return true
		}
	}
	return false
}
