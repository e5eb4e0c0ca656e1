package writer

import (
	"strings"

	"vitrine/internal/sample/draw"
)

// subgraph names the nodes that the user folded into one.
type subgraph struct {
	host int    // id of the node that stands for them
	id   string // UUID of the definition, also the host's type
	name string
	// promoted widgets, as inner node id and widget name
	promoted [][2]string
}

// wire is one link of a workflow.
type wire struct {
	id    int
	from  *node
	slot  int
	to    *node
	index int // input position at the target
	kind  string
}

// view collects what printing a workflow needs to know about its wires.
type view struct {
	g       *graph
	order   map[*node]int
	wires   []wire
	entries []crossing // subgraph inputs
	exits   []crossing // subgraph outputs
}

// crossing is a source whose wires pass the border of the subgraph.
type crossing struct {
	from  *node
	slot  int
	kind  string
	outer int   // link id outside, for entries
	inner []int // link ids inside
}

// workflow prints the graph as the browser keeps it.
func (g *graph) workflow() string {
	v := &view{g: g, order: g.arrange()}
	v.connect()
	nodes, links := v.outerNodes(), v.outerLinks()
	last := 0
	for _, n := range g.nodes {
		last = max(last, n.number())
	}
	if g.sub != nil {
		last = max(last, g.sub.host)
	}
	w := object{
		{"id", UUID(g.rand)}, {"revision", 0}, {"last_node_id", last}, {"last_link_id", len(v.wires) + len(v.entries)},
		{"nodes", nodes}, {"links", links}, {"groups", list{}},
	}
	if g.sub != nil {
		w = append(w, field{"definitions", object{{"subgraphs", list{v.definition()}}}})
	}
	scale := float64(g.rand.Between(60, 130)) / 100
	return pythonJSON.String(append(w,
		field{"config", object{}},
		field{"extra", object{
			{"ds", object{{"scale", scale}, {"offset", list{float64(g.rand.Between(-400, 400)), float64(g.rand.Between(-300, 300))}}}},
			{"frontendVersion", "1.37.11"},
		}},
		field{"version", 0.4},
	))
}

func (v *view) connect() {
	for _, n := range v.g.nodes {
		socket := 0
		for _, in := range n.inputs {
			if in.from == nil {
				continue
			}
			v.wires = append(v.wires, wire{len(v.wires) + 1, in.from, in.slot, n, socket, in.kind})
			socket++
		}
	}
	for i := range v.wires {
		w := &v.wires[i]
		switch {
		case !nested(w.from) && nested(w.to):
			v.entries = v.cross(v.entries, w)
		case nested(w.from) && !nested(w.to):
			v.exits = v.cross(v.exits, w)
		}
	}
	for i := range v.entries {
		v.entries[i].outer = len(v.wires) + 1 + i
	}
}

func (v *view) cross(list []crossing, w *wire) []crossing {
	for i := range list {
		if list[i].from == w.from && list[i].slot == w.slot {
			list[i].inner = append(list[i].inner, w.id)
			return list
		}
	}
	return append(list, crossing{from: w.from, slot: w.slot, kind: w.kind, inner: []int{w.id}})
}

func nested(n *node) bool { return strings.Contains(n.id, ":") }

// outerNodes prints the nodes of the top level, the subgraph's host among them.
func (v *view) outerNodes() list {
	var out list
	for _, n := range v.g.nodes {
		if !nested(n) {
			out = append(out, v.node(n))
		}
	}
	if v.g.sub != nil {
		out = append(out, v.host())
	}
	return out
}

func (v *view) node(n *node) object {
	var inputs, outputs, widgets list
	for _, in := range n.inputs {
		if in.from == nil {
			widgets = append(widgets, in.shownValue())
			if in.control != "" {
				widgets = append(widgets, in.control)
			}
			continue
		}
		o := object{{"name", in.name}, {"type", in.kind}}
		if in.kind == "STRING" {
			o = append(o, field{"widget", object{{"name", in.name}}})
			widgets = append(widgets, "")
		}
		inputs = append(inputs, append(o, field{"link", v.linkInto(n, in.name)}))
	}
	for slot, s := range n.outputs {
		outputs = append(outputs, object{{"name", s.name}, {"type", s.kind}, {"slot_index", slot}, {"links", v.linksFrom(n, slot)}})
	}
	if n.class == "LoadImage" {
		widgets = append(widgets, "image")
	}
	width, height := 270, 58+20*len(n.inputs)
	if n.class == "CLIPTextEncode" {
		width, height = 420, 160
	}
	cnr := object{{"cnr_id", "comfy-core"}, {"ver", "0.3.75"}}
	if n.pack != "" {
		cnr = object{{"cnr_id", n.pack}, {"ver", "1.0.2510"}}
	}
	o := object{
		{"id", n.number()}, {"type", n.class},
		{"pos", list{60 + n.column*460, 120 + v.row(n)*230}}, {"size", list{width, height}},
		{"flags", object{}}, {"order", v.order[n]}, {"mode", 0},
		{"inputs", emptyList(inputs)}, {"outputs", emptyList(outputs)},
	}
	if t := nodeTitles[n.class]; n.title != n.class && n.title != t {
		o = append(o, field{"title", n.title})
	}
	return append(o,
		field{"properties", append(cnr, field{"Node name for S&R", n.class})},
		field{"widgets_values", emptyList(widgets)})
}

func emptyList(l list) list {
	if l == nil {
		return list{}
	}
	return l
}

func (in input) shownValue() any {
	if in.shown != nil {
		return in.shown
	}
	return in.value
}

// row stacks the nodes of one column.
func (v *view) row(n *node) int {
	row := 0
	for _, m := range v.g.nodes {
		if m == n {
			break
		}
		if m.column == n.column && nested(m) == nested(n) {
			row++
		}
	}
	return row
}

func (v *view) linkInto(n *node, name string) any {
	socket := 0
	for _, in := range n.inputs {
		if in.from == nil {
			continue
		}
		if in.name == name {
			break
		}
		socket++
	}
	for _, w := range v.wires {
		if w.to == n && w.index == socket {
			return w.id
		}
	}
	return nil
}

// linksFrom lists the wires of an output on its own side of the border.
func (v *view) linksFrom(n *node, slot int) any {
	var ids list
	for _, w := range v.wires {
		if w.from == n && w.slot == slot && (nested(n) || !nested(w.to)) {
			ids = append(ids, w.id)
		}
	}
	for _, e := range v.entries {
		if e.from == n && e.slot == slot {
			ids = append(ids, e.outer)
		}
	}
	if ids == nil {
		return nil
	}
	return ids
}

func (v *view) outerLinks() list {
	out := list{}
	for _, w := range v.wires {
		switch {
		case nested(w.to):
		case nested(w.from):
			out = append(out, list{w.id, v.g.sub.host, v.exitOf(w), w.to.number(), w.index, w.kind})
		default:
			out = append(out, list{w.id, w.from.number(), w.slot, w.to.number(), w.index, w.kind})
		}
	}
	for i, e := range v.entries {
		out = append(out, list{e.outer, e.from.number(), e.slot, v.g.sub.host, i, e.kind})
	}
	return out
}

func (v *view) exitOf(w wire) int {
	for i, e := range v.exits {
		if e.from == w.from && e.slot == w.slot {
			return i
		}
	}
	return -1
}

// host prints the node that stands for the subgraph.
func (v *view) host() object {
	var inputs, outputs, proxies list
	for i, e := range v.entries {
		inputs = append(inputs, object{{"name", v.entryName(i)}, {"type", e.kind}, {"link", e.outer}})
	}
	for _, e := range v.exits {
		var ids list
		for _, id := range e.inner {
			ids = append(ids, id)
		}
		outputs = append(outputs, object{{"name", e.from.outputs[e.slot].name}, {"type", e.kind}, {"links", emptyList(ids)}})
	}
	for _, p := range v.g.sub.promoted {
		proxies = append(proxies, list{p[0], p[1]})
	}
	return object{
		{"id", v.g.sub.host}, {"type", v.g.sub.id}, {"pos", list{980, 160}}, {"size", list{420, 320}},
		{"flags", object{}}, {"order", len(v.g.nodes)}, {"mode", 0},
		{"inputs", emptyList(inputs)}, {"outputs", emptyList(outputs)},
		{"properties", object{{"proxyWidgets", emptyList(proxies)}, {"cnr_id", "comfy-core"}, {"ver", "0.3.75"}}},
		{"widgets_values", list{}},
	}
}

// entryName names a subgraph input after the first inner socket it feeds.
func (v *view) entryName(i int) string {
	w := v.wires[v.entries[i].inner[0]-1]
	n := 0
	for _, in := range w.to.inputs {
		if in.from == nil {
			continue
		}
		if n == w.index {
			return in.name
		}
		n++
	}
	return ""
}

// definition prints the inside of the subgraph; -10 and -20 are its borders.
func (v *view) definition() object {
	var nodes, links list
	lastNode := 0
	for _, n := range v.g.nodes {
		if nested(n) {
			nodes = append(nodes, v.node(n))
			lastNode = max(lastNode, n.number())
		}
	}
	for _, w := range v.wires {
		switch {
		case nested(w.from) && nested(w.to):
			links = append(links, innerLink(w.id, w.from.number(), w.slot, w.to.number(), w.index, w.kind))
		case nested(w.to):
			links = append(links, innerLink(w.id, -10, v.entryOf(w), w.to.number(), w.index, w.kind))
		case nested(w.from):
			links = append(links, innerLink(w.id, w.from.number(), w.slot, -20, v.exitOf(w), w.kind))
		}
	}
	return object{
		{"id", v.g.sub.id}, {"version", 1},
		{"state", object{{"lastGroupId", 0}, {"lastNodeId", lastNode}, {"lastLinkId", len(v.wires)}, {"lastRerouteId", 0}}},
		{"revision", 0}, {"config", object{}}, {"name", v.g.sub.name},
		{"inputNode", object{{"id", -10}, {"bounding", list{40, 200, 120, 100}}}},
		{"outputNode", object{{"id", -20}, {"bounding", list{1900, 200, 120, 60}}}},
		{"inputs", v.ports(v.entries, true)}, {"outputs", v.ports(v.exits, false)},
		{"widgets", list{}}, {"nodes", emptyList(nodes)}, {"groups", list{}}, {"links", emptyList(links)}, {"extra", object{}},
	}
}

func innerLink(id, from, slot, to, index int, kind string) object {
	return object{{"id", id}, {"origin_id", from}, {"origin_slot", slot}, {"target_id", to}, {"target_slot", index}, {"type", kind}}
}

func (v *view) entryOf(w wire) int {
	for i, e := range v.entries {
		if e.from == w.from && e.slot == w.slot {
			return i
		}
	}
	return -1
}

func (v *view) ports(crossings []crossing, entry bool) list {
	out := list{}
	for i, c := range crossings {
		name := c.from.outputs[c.slot].name
		if entry {
			name = v.entryName(i)
		}
		var ids list
		for _, id := range c.inner {
			ids = append(ids, id)
		}
		r := draw.NewRand(draw.Mix(uint64(i), letters(v.g.sub.id)[0]))
		out = append(out, object{{"id", UUID(r)}, {"name", name}, {"type", c.kind}, {"linkIds", emptyList(ids)}, {"pos", list{140, 220 + 20*i}}})
	}
	return out
}
