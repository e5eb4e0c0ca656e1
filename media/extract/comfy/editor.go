package comfy

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// Modes of nodes in the editor.
const (
	modeMuted    = 2
	modeBypassed = 4
)

// Ids of the boundary nodes inside a subgraph.
const (
	subgraphIn  = "-10"
	subgraphOut = "-20"
)

// slot is one input or output of a node in the editor's graph.
type slot struct {
	name, typ string
	label     string // what people renamed it to
	link      string // id of the link on an input, "" for none
	widget    string // name of the widget the input stands for
}

// uiNode is one node of the editor's graph.
type uiNode struct {
	id, typ, title  string
	mode, order     int
	inputs, outputs []slot
	widgets         value // list, or object in nodes that write it by name
	named           value // the same by name, in newer documents
	props           value
	inner           *scope // of subgraph and group instances
}

// uiLink is one link, with the ids of its ends.
type uiLink struct {
	from     string
	fromSlot int
	to       string
	toSlot   int
	typ      string
}

// definition is the inside of a subgraph or group: nodes, links and boundary.
type definition struct {
	name          string
	nodes         []*uiNode
	links         map[string]uiLink
	inputs        []slot // boundary inputs
	outputs       []slot
	group         bool
	component     bool
	groupExternal map[[2]int]bool
	groupConfig   value
	noted         map[notedInput]uiLink // links without a line, see everywhere
	intoOut       map[int]string        // ids of links into the output boundary by slot, see toOut
}

// toOut returns the link into a slot of the output boundary: of several that with the
// largest id. The links are complete when it is called first.
func (d *definition) toOut(at int) (uiLink, bool) {
	if d.intoOut == nil {
		d.intoOut = map[int]string{}
		for id, l := range d.links {
			if was, has := d.intoOut[l.toSlot]; l.to == subgraphOut && (!has || id > was) {
				d.intoOut[l.toSlot] = id
			}
		}
	}
	id, ok := d.intoOut[at]
	return d.links[id], ok
}

// scope is one level of the graph on its way to execution: the root, or one
// instance of a subgraph with its own ids and values.
type scope struct {
	def      *definition
	byID     map[string]*uiNode
	prefix   string // of executed ids: "30:" inside instance 30
	parent   *scope
	instance *uiNode
	override map[string]map[string]value // widget values set from outside, by node and name
	params   []value                     // values of the boundary inputs that are widgets
	named    map[string]*uiNode          // set nodes by name
}

func readUINode(v value) *uiNode {
	n := &uiNode{id: v.Get("id").ID(), typ: v.Get("type").Str(), title: v.Get("title").Str(), widgets: listed(v.Get("widgets_values")), named: v.Get("widgets_values_named"), props: v.Get("properties")}
	n.mode, _ = v.Get("mode").Integer()
	n.order, _ = v.Get("order").Integer()
	n.inputs = readSlots(v.Get("inputs"))
	n.inputs = n.inputs[:min(len(n.inputs), maxInputs)]
	n.outputs = readSlots(v.Get("outputs"))
	return n
}

// maxListed bounds the places of a list that is written as an object.
const maxListed = 1_000

// listed returns a list of widget values that was written as an object of places, as
// some writers leave lists with gaps, as the list that it is.
func listed(v value) value {
	var out []value
	for _, m := range v.Members {
		at, err := strconv.Atoi(m.Name)
		if err != nil || at < 0 || at >= maxListed {
			return v
		}
		for len(out) <= at {
			out = append(out, value{Kind: jsonscan.Null})
		}
		out[at] = m.Val
	}
	if len(out) == 0 {
		return v
	}
	return value{Kind: jsonscan.Array, List: out}
}

func readSlots(v value) []slot {
	out := make([]slot, 0, len(v.List))
	for i := range v.List {
		s := v.List[i]
		typ := s.Get("type").Str()
		if s.Get("type").Kind == jsonscan.Array { // the choices of an old combo
			typ = "COMBO"
		}
		out = append(out, slot{name: s.Get("name").Str(), typ: typ, label: s.Get("label").Str(), link: s.Get("link").ID(), widget: s.Get("widget").Get("name").Str()})
	}
	return out
}

// readLinks reads links in both forms: [id, from, slot, to, slot, type] and
// objects.
func readLinks(v value) map[string]uiLink {
	links := make(map[string]uiLink, len(v.List))
	for i := range v.List {
		l := v.List[i]
		switch {
		case l.Kind == jsonscan.Array && len(l.List) >= 5:
			u := uiLink{from: l.List[1].ID(), to: l.List[3].ID()}
			u.fromSlot, _ = l.List[2].Integer()
			u.toSlot, _ = l.List[4].Integer()
			if len(l.List) > 5 {
				u.typ = l.List[5].Str()
			}
			links[l.List[0].ID()] = u
		case l.Kind == jsonscan.Object:
			u := uiLink{from: l.Get("origin_id").ID(), to: l.Get("target_id").ID(), typ: l.Get("type").Str()}
			u.fromSlot, _ = l.Get("origin_slot").Integer()
			u.toSlot, _ = l.Get("target_slot").Integer()
			links[l.Get("id").ID()] = u
		}
	}
	return links
}

func readDefinition(v value) *definition {
	d := &definition{name: v.Get("name").Str(), links: readLinks(v.Get("links")), inputs: readSlots(v.Get("inputs")), outputs: readSlots(v.Get("outputs")), noted: notedLinks(v)}
	for i := range v.Get("nodes").List {
		if e := v.Get("nodes").List[i]; e.Kind == jsonscan.Object {
			d.nodes = append(d.nodes, readUINode(e))
		}
	}
	return d
}

// definitions collects the subgraphs and old group nodes of a document by the
// node type that makes an instance of them.
func definitions(doc value) map[string]*definition {
	defs := map[string]*definition{}
	collectSubgraphs(doc, defs, 0)
	groups := doc.Get("extra").Get("groupNodes")
	for i := range groups.Members {
		m := &groups.Members[i]
		d := readGroup(m.Val)
		d.name = m.Name
		defs["workflow>"+m.Name] = d
		defs["workflow/"+m.Name] = d
	}
	components := doc.Get("components")
	for i := range components.Members {
		m := &components.Members[i]
		if defs[m.Name] == nil && m.Val.Get("nodes").Kind == jsonscan.Array {
			defs[m.Name] = readComponent(m.Val)
		}
	}
	return defs
}

func collectSubgraphs(doc value, defs map[string]*definition, depth int) {
	subs := doc.Get("definitions").Get("subgraphs").List
	for i := range subs {
		id := subs[i].Get("id").Str()
		if id == "" || defs[id] != nil || len(defs) > maxNodes {
			continue
		}
		defs[id] = readDefinition(subs[i])
		if depth < 16 {
			collectSubgraphs(subs[i], defs, depth+1)
		}
	}
}

// inOrder returns the nodes of a definition in the editor's execution order.
func (d *definition) inOrder() []*uiNode {
	list := slices.Clone(d.nodes)
	slices.SortStableFunc(list, func(a, b *uiNode) int { return a.order - b.order })
	return list
}

// isVirtual reports whether a class exists in the editor only.
func isVirtual(typ string) bool {
	return classes.Load().virtual[typ] || isEverywhere(typ) || strings.HasPrefix(typ, "Note_")
}

// passesThrough reports whether a node of the editor hands its one input on.
func passesThrough(typ string) bool {
	switch typ {
	case "Reroute", "Reroute (rgthree)", "SetNode", "easy setNode":
		return true
	}
	return false
}
