package comfy

import (
	"slices"
	"strings"
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
	groupExternal map[[2]int]bool
	groupConfig   value
	noted         map[notedInput]uiLink // links without a line, see everywhere
}

// scope is one level of the graph on its way to execution: the root, or one
// instance of a subgraph with its own ids and values.
type scope struct {
	def      *definition
	byID     map[string]*uiNode
	intoOut  map[int]uiLink // links into the output boundary by slot
	prefix   string         // of executed ids: "30:" inside instance 30
	parent   *scope
	instance *uiNode
	override map[string]map[string]value // widget values set from outside, by node and name
	params   []value                     // values of the boundary inputs that are widgets
	named    map[string]*uiNode          // set nodes by name
}

func readUINode(v value) *uiNode {
	n := &uiNode{id: v.get("id").id(), typ: v.get("type").str(), title: v.get("title").str(), widgets: v.get("widgets_values"), named: v.get("widgets_values_named"), props: v.get("properties")}
	n.mode, _ = v.get("mode").integer()
	n.order, _ = v.get("order").integer()
	n.inputs = readSlots(v.get("inputs"))
	n.outputs = readSlots(v.get("outputs"))
	return n
}

func readSlots(v value) []slot {
	out := make([]slot, 0, len(v.list))
	for i := range v.list {
		s := v.list[i]
		typ := s.get("type").str()
		if s.get("type").kind == kindArray { // the choices of an old combo
			typ = "COMBO"
		}
		out = append(out, slot{name: s.get("name").str(), typ: typ, label: s.get("label").str(), link: s.get("link").id(), widget: s.get("widget").get("name").str()})
	}
	return out
}

// readLinks reads links in both forms: [id, from, slot, to, slot, type] and
// objects.
func readLinks(v value) map[string]uiLink {
	links := make(map[string]uiLink, len(v.list))
	for i := range v.list {
		l := v.list[i]
		switch {
		case l.kind == kindArray && len(l.list) >= 5:
			u := uiLink{from: l.list[1].id(), to: l.list[3].id()}
			u.fromSlot, _ = l.list[2].integer()
			u.toSlot, _ = l.list[4].integer()
			if len(l.list) > 5 {
				u.typ = l.list[5].str()
			}
			links[l.list[0].id()] = u
		case l.kind == kindObject:
			u := uiLink{from: l.get("origin_id").id(), to: l.get("target_id").id(), typ: l.get("type").str()}
			u.fromSlot, _ = l.get("origin_slot").integer()
			u.toSlot, _ = l.get("target_slot").integer()
			links[l.get("id").id()] = u
		}
	}
	return links
}

func readDefinition(v value) *definition {
	d := &definition{name: v.get("name").str(), links: readLinks(v.get("links")), inputs: readSlots(v.get("inputs")), outputs: readSlots(v.get("outputs")), noted: notedLinks(v)}
	for i := range v.get("nodes").list {
		if e := v.get("nodes").list[i]; e.kind == kindObject {
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
	groups := doc.get("extra").get("groupNodes")
	for i := range groups.members {
		m := &groups.members[i]
		d := readGroup(m.val)
		d.name = m.name
		defs["workflow>"+m.name] = d
		defs["workflow/"+m.name] = d
	}
	return defs
}

func collectSubgraphs(doc value, defs map[string]*definition, depth int) {
	subs := doc.get("definitions").get("subgraphs").list
	for i := range subs {
		id := subs[i].get("id").str()
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

// isVirtual knows nodes that exist in the editor only.
func isVirtual(typ string) bool {
	switch typ {
	case "Note", "MarkdownNote", "Reroute", "PrimitiveNode", "SetNode", "GetNode", "easy setNode", "easy getNode", "Reroute (rgthree)", "Label (rgthree)", "Bookmark (rgthree)", "Fast Groups Muter (rgthree)",
		"Fast Groups Bypasser (rgthree)", "Fast Muter (rgthree)", "Fast Bypasser (rgthree)", "Fast Actions Button (rgthree)", "Node Collector (rgthree)",
		"Mute / Bypass Repeater (rgthree)", "Mute / Bypass Relay (rgthree)", "Random Unmuter (rgthree)", "NodeComment", "Simple String Repository", "WorkspaceManager", "Note Plus (mtb)":
		return true
	}
	return isEverywhere(typ) || strings.HasPrefix(typ, "Note_")
}

// passesThrough knows editor nodes that hand their one input on.
func passesThrough(typ string) bool {
	switch typ {
	case "Reroute", "Reroute (rgthree)", "SetNode", "easy setNode":
		return true
	}
	return false
}
