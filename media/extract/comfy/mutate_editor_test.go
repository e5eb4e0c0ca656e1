package comfy

import (
	"slices"
	"strconv"

	"vitrine/internal/jsonscan"
)

// editorMutations are ways to draw an editor's graph.
var editorMutations = []mutation{
	{"nodes, links and members in another order", func(m *mutator, doc value) value {
		for _, name := range []string{"nodes", "links"} {
			list := at(&doc, name).List
			m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		m.Shuffle(len(doc.Members), func(i, j int) { doc.Members[i], doc.Members[j] = doc.Members[j], doc.Members[i] })
		return doc
	}, true},
	{"ids of nodes and links drawn anew", func(m *mutator, doc value) value {
		return renumber(doc, func(node value) value { return numberValue(offset(node, 50_000)) }, func(link value) value { return numberValue(offset(link, 70_000)) })
	}, false},
	{"links as objects", func(_ *mutator, doc value) value {
		links := at(&doc, "links").List
		for i, l := range links {
			if l.Kind == jsonscan.Array && len(l.List) >= 6 {
				links[i] = objectValue("id", l.List[0], "origin_id", l.List[1], "origin_slot", l.List[2], "target_id", l.List[3], "target_slot", l.List[4], "type", l.List[5])
			}
		}
		return doc
	}, false},
	{"reroutes on every link", func(m *mutator, doc value) value {
		return onEveryLink(m, doc, func(m *mutator, doc *value, in, out, typ value) (from, to value) {
			id := numberValue(m.number())
			at(doc, "nodes").List = append(at(doc, "nodes").List, objectValue("id", id, "type", textValue("Reroute"), "order", numberValue(0), "mode", numberValue(0),
				"inputs", listValue(objectValue("name", textValue(""), "type", textValue("*"), "link", in)),
				"outputs", listValue(objectValue("name", textValue(""), "type", typ, "links", listValue(out)))))
			return id, id
		})
	}, false},
	{"set and get nodes on every link", func(m *mutator, doc value) value {
		return onEveryLink(m, doc, func(m *mutator, doc *value, in, out, typ value) (from, to value) {
			set, get, name := numberValue(m.number()), numberValue(m.number()), textValue(m.id("variable "))
			at(doc, "nodes").List = append(at(doc, "nodes").List,
				objectValue("id", set, "type", textValue("SetNode"), "order", numberValue(0), "mode", numberValue(0), "widgets_values", listValue(name),
					"inputs", listValue(objectValue("name", typ, "type", typ, "link", in)), "outputs", listValue(objectValue("name", textValue("*"), "type", textValue("*")))),
				objectValue("id", get, "type", textValue("GetNode"), "order", numberValue(0), "mode", numberValue(0), "widgets_values", listValue(name),
					"inputs", listValue(), "outputs", listValue(objectValue("name", typ, "type", typ, "links", listValue(out)))))
			return get, set
		})
	}, false},
	{"muted and bypassed branches that lead nowhere", func(m *mutator, doc value) value {
		for _, mode := range []int{modeMuted, modeBypassed, 0} {
			at(&doc, "nodes").List = append(at(&doc, "nodes").List,
				objectValue("id", numberValue(m.number()), "type", textValue("CheckpointLoaderSimple"), "order", numberValue(0), "mode", numberValue(mode),
					"inputs", listValue(), "outputs", listValue(objectValue("name", textValue("MODEL"), "type", textValue("MODEL"))), "widgets_values", listValue(textValue("never-used.safetensors"))),
				objectValue("id", numberValue(m.number()), "type", textValue("Note"), "order", numberValue(0), "mode", numberValue(mode), "widgets_values", listValue(textValue("steps: 99, seed: 1"))))
		}
		return doc
	}, false},
	{"all but the outputs in a subgraph", func(m *mutator, doc value) value { return wrapInSubgraph(m, doc) }, false},
	{"in a subgraph within a subgraph", func(m *mutator, doc value) value { return wrapInSubgraph(m, wrapInSubgraph(m, doc)) }, false},
	{"layout of the editor", func(m *mutator, doc value) value {
		for i := range at(&doc, "nodes").List {
			n := &at(&doc, "nodes").List[i]
			*at(n, "pos") = listValue(numberValue(m.IntN(5000)), numberValue(m.IntN(5000)))
			*at(n, "title") = textValue("Negative Prompt")
			*at(n, "color") = textValue("#432")
		}
		*at(&doc, "groups") = listValue(objectValue("title", textValue("Positive"), "bounding", listValue(numberValue(0), numberValue(0), numberValue(9), numberValue(9))))
		return doc
	}, false},
}

func (m *mutator) number() int { m.next++; return m.next }

// offset returns another id for one that is a number, and the id itself otherwise.
func offset(id value, by int) string {
	if n, err := strconv.Atoi(id.Text); err == nil && n >= 0 {
		return strconv.Itoa(n + by)
	}
	return id.Text
}

// renumber draws other ids for nodes and links of the root; negative ids are boundaries.
func renumber(doc value, node, link func(value) value) value {
	rename := func(v *value, f func(value) value) {
		if _, err := strconv.Atoi(v.Text); err == nil && v.Kind != jsonscan.Null {
			*v = f(*v)
		}
	}
	for i := range at(&doc, "nodes").List {
		n := &at(&doc, "nodes").List[i]
		rename(at(n, "id"), node)
		for j := range at(n, "inputs").List {
			if in := &at(n, "inputs").List[j]; in.Get("link").Kind != jsonscan.Null {
				rename(at(in, "link"), link)
			}
		}
		for j := range at(n, "outputs").List {
			links := at(&at(n, "outputs").List[j], "links").List
			for k := range links {
				rename(&links[k], link)
			}
		}
	}
	for i := range at(&doc, "links").List {
		if l := &at(&doc, "links").List[i]; l.Kind == jsonscan.Array && len(l.List) >= 5 {
			rename(&l.List[0], link)
			rename(&l.List[1], node)
			rename(&l.List[3], node)
		} else {
			rename(at(l, "id"), link)
			rename(at(l, "origin_id"), node)
			rename(at(l, "target_id"), node)
		}
	}
	noted := at(at(&doc, "extra"), "ue_links").List
	for i := range noted {
		rename(at(&noted[i], "downstream"), node)
		rename(at(&noted[i], "upstream"), node)
	}
	return doc
}

// onEveryLink ends each link at a node that insert adds, and leads on from there.
// Links out of nodes that exist in the editor only are left as they are.
func onEveryLink(m *mutator, doc value, insert func(m *mutator, doc *value, in, out, typ value) (from, to value)) value {
	virtual := map[string]bool{}
	for _, n := range doc.Get("nodes").List {
		virtual[n.Get("id").ID()] = isVirtual(n.Get("type").Str())
	}
	var added []value
	count := len(doc.Get("links").List)
	for i := range count {
		l := at(&doc, "links").List[i]
		if l.Kind != jsonscan.Array || len(l.List) < 6 || virtual[l.List[1].ID()] || virtual[l.List[3].ID()] {
			continue
		}
		first := numberValue(m.number())
		from, to := insert(m, &doc, first, l.List[0], l.List[5])
		added = append(added, listValue(first, l.List[1], l.List[2], to, numberValue(0), l.List[5]))
		at(&doc, "links").List[i] = listValue(l.List[0], from, numberValue(0), l.List[3], l.List[4], l.List[5])
	}
	at(&doc, "links").List = append(at(&doc, "links").List, added...)
	return doc
}

// wrapInSubgraph puts every node but those that write files into a subgraph.
func wrapInSubgraph(m *mutator, doc value) value {
	id, def := numberValue(m.number()), m.id("00000000-1111-2222-3333-")
	outside := map[string]bool{}
	var outer, inner, outerLinks, innerLinks, boundary, slots []value
	for _, n := range doc.Get("nodes").List {
		if isOutputClass(&node{class: n.Get("type").Str(), key: foldClass(n.Get("type").Str())}) {
			outside[n.Get("id").ID()] = true
			outer = append(outer, n)
		} else {
			inner = append(inner, n)
		}
	}
	places := map[string]int{} // of the origins that leave, by node and slot
	for _, l := range doc.Get("links").List {
		if l.Kind == jsonscan.Object {
			l = listValue(l.Get("id"), l.Get("origin_id"), l.Get("origin_slot"), l.Get("target_id"), l.Get("target_slot"), l.Get("type"))
		}
		if len(l.List) < 6 {
			continue
		}
		from, to := l.List[1].ID(), l.List[3].ID()
		switch {
		case outside[from]:
			return doc // something is made of what an output gives on: not wrapped
		case !outside[to]:
			innerLinks = append(innerLinks, linkObject(l.List[0], l.List[1], l.List[2], l.List[3], l.List[4], l.List[5]))
		default:
			key := from + "/" + l.List[2].Text
			at, known := places[key]
			if !known {
				at = len(boundary)
				places[key] = at
				name := textValue("out" + strconv.Itoa(at))
				boundary = append(boundary, objectValue("id", textValue(m.id("o")), "name", name, "type", l.List[5]))
				slots = append(slots, objectValue("name", name, "type", l.List[5]))
				innerLinks = append(innerLinks, linkObject(numberValue(m.number()), l.List[1], l.List[2], numberValue(-20), numberValue(at), l.List[5]))
			}
			outerLinks = append(outerLinks, listValue(l.List[0], id, numberValue(at), l.List[3], l.List[4], l.List[5]))
		}
	}
	instance := objectValue("id", id, "type", textValue(def), "order", numberValue(0), "mode", numberValue(0), "inputs", listValue(), "outputs", listValue(slots...),
		"properties", objectValue("proxyWidgets", listValue()), "widgets_values", listValue())
	*at(&doc, "nodes") = listValue(append([]value{instance}, outer...)...)
	*at(&doc, "links") = listValue(outerLinks...)
	subgraphs := at(at(&doc, "definitions"), "subgraphs")
	*subgraphs = listValue(append(slices.Clone(subgraphs.List), objectValue("id", textValue(def), "name", textValue("Everything"),
		"inputNode", objectValue("id", numberValue(-10)), "outputNode", objectValue("id", numberValue(-20)),
		"inputs", listValue(), "outputs", listValue(boundary...), "nodes", listValue(inner...), "links", listValue(innerLinks...), "extra", clone(doc.Get("extra"))))...)
	return doc
}

func linkObject(id, from, fromSlot, to, toSlot, typ value) value {
	return objectValue("id", id, "origin_id", from, "origin_slot", fromSlot, "target_id", to, "target_slot", toSlot, "type", typ)
}
