package comfy

import (
	"slices"
	"strconv"
)

// editorMutations are ways to draw an editor's graph.
var editorMutations = []mutation{
	{"nodes, links and members in another order", func(m *mutator, doc value) value {
		for _, name := range []string{"nodes", "links"} {
			list := doc.at(name).list
			m.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		m.Shuffle(len(doc.members), func(i, j int) { doc.members[i], doc.members[j] = doc.members[j], doc.members[i] })
		return doc
	}, true},
	{"ids of nodes and links drawn anew", func(m *mutator, doc value) value {
		return renumber(doc, func(node value) value { return numberValue(offset(node, 50_000)) }, func(link value) value { return numberValue(offset(link, 70_000)) })
	}, false},
	{"links as objects", func(_ *mutator, doc value) value {
		links := doc.at("links").list
		for i, l := range links {
			if l.kind == kindArray && len(l.list) >= 6 {
				links[i] = objectValue("id", l.list[0], "origin_id", l.list[1], "origin_slot", l.list[2], "target_id", l.list[3], "target_slot", l.list[4], "type", l.list[5])
			}
		}
		return doc
	}, false},
	{"reroutes on every link", func(m *mutator, doc value) value {
		return onEveryLink(m, doc, func(m *mutator, doc *value, in, out, typ value) (from, to value) {
			id := numberValue(m.number())
			doc.at("nodes").list = append(doc.at("nodes").list, objectValue("id", id, "type", textValue("Reroute"), "order", numberValue(0), "mode", numberValue(0),
				"inputs", listValue(objectValue("name", textValue(""), "type", textValue("*"), "link", in)),
				"outputs", listValue(objectValue("name", textValue(""), "type", typ, "links", listValue(out)))))
			return id, id
		})
	}, false},
	{"set and get nodes on every link", func(m *mutator, doc value) value {
		return onEveryLink(m, doc, func(m *mutator, doc *value, in, out, typ value) (from, to value) {
			set, get, name := numberValue(m.number()), numberValue(m.number()), textValue(m.id("variable "))
			doc.at("nodes").list = append(doc.at("nodes").list,
				objectValue("id", set, "type", textValue("SetNode"), "order", numberValue(0), "mode", numberValue(0), "widgets_values", listValue(name),
					"inputs", listValue(objectValue("name", typ, "type", typ, "link", in)), "outputs", listValue(objectValue("name", textValue("*"), "type", textValue("*")))),
				objectValue("id", get, "type", textValue("GetNode"), "order", numberValue(0), "mode", numberValue(0), "widgets_values", listValue(name),
					"inputs", listValue(), "outputs", listValue(objectValue("name", typ, "type", typ, "links", listValue(out)))))
			return get, set
		})
	}, false},
	{"muted and bypassed branches that lead nowhere", func(m *mutator, doc value) value {
		for _, mode := range []int{modeMuted, modeBypassed, 0} {
			doc.at("nodes").list = append(doc.at("nodes").list,
				objectValue("id", numberValue(m.number()), "type", textValue("CheckpointLoaderSimple"), "order", numberValue(0), "mode", numberValue(mode),
					"inputs", listValue(), "outputs", listValue(objectValue("name", textValue("MODEL"), "type", textValue("MODEL"))), "widgets_values", listValue(textValue("never-used.safetensors"))),
				objectValue("id", numberValue(m.number()), "type", textValue("Note"), "order", numberValue(0), "mode", numberValue(mode), "widgets_values", listValue(textValue("steps: 99, seed: 1"))))
		}
		return doc
	}, false},
	{"all but the outputs in a subgraph", func(m *mutator, doc value) value { return wrapInSubgraph(m, doc) }, false},
	{"in a subgraph within a subgraph", func(m *mutator, doc value) value { return wrapInSubgraph(m, wrapInSubgraph(m, doc)) }, false},
	{"layout of the editor", func(m *mutator, doc value) value {
		for i := range doc.at("nodes").list {
			n := &doc.at("nodes").list[i]
			*n.at("pos") = listValue(numberValue(m.IntN(5000)), numberValue(m.IntN(5000)))
			*n.at("title") = textValue("Negative Prompt")
			*n.at("color") = textValue("#432")
		}
		*doc.at("groups") = listValue(objectValue("title", textValue("Positive"), "bounding", listValue(numberValue(0), numberValue(0), numberValue(9), numberValue(9))))
		return doc
	}, false},
}

func (m *mutator) number() int { m.next++; return m.next }

// offset returns another id for one that is a number, and the id itself otherwise.
func offset(id value, by int) string {
	if n, err := strconv.Atoi(id.text); err == nil && n >= 0 {
		return strconv.Itoa(n + by)
	}
	return id.text
}

// renumber gives nodes and links of the root other ids; negative ids are boundaries.
func renumber(doc value, node, link func(value) value) value {
	rename := func(v *value, f func(value) value) {
		if _, err := strconv.Atoi(v.text); err == nil && v.kind != kindNull {
			*v = f(*v)
		}
	}
	for i := range doc.at("nodes").list {
		n := &doc.at("nodes").list[i]
		rename(n.at("id"), node)
		for j := range n.at("inputs").list {
			if in := &n.at("inputs").list[j]; in.get("link").kind != kindNull {
				rename(in.at("link"), link)
			}
		}
		for j := range n.at("outputs").list {
			links := n.at("outputs").list[j].at("links").list
			for k := range links {
				rename(&links[k], link)
			}
		}
	}
	for i := range doc.at("links").list {
		if l := &doc.at("links").list[i]; l.kind == kindArray && len(l.list) >= 5 {
			rename(&l.list[0], link)
			rename(&l.list[1], node)
			rename(&l.list[3], node)
		} else {
			rename(l.at("id"), link)
			rename(l.at("origin_id"), node)
			rename(l.at("target_id"), node)
		}
	}
	noted := doc.at("extra").at("ue_links").list
	for i := range noted {
		rename(noted[i].at("downstream"), node)
		rename(noted[i].at("upstream"), node)
	}
	return doc
}

// onEveryLink ends each link at a node that insert adds, and leads on from there.
// Links out of nodes that exist in the editor only are left as they are.
func onEveryLink(m *mutator, doc value, insert func(m *mutator, doc *value, in, out, typ value) (from, to value)) value {
	virtual := map[string]bool{}
	for _, n := range doc.get("nodes").list {
		virtual[n.get("id").id()] = isVirtual(n.get("type").str())
	}
	var added []value
	count := len(doc.get("links").list)
	for i := range count {
		l := doc.at("links").list[i]
		if l.kind != kindArray || len(l.list) < 6 || virtual[l.list[1].id()] || virtual[l.list[3].id()] {
			continue
		}
		first := numberValue(m.number())
		from, to := insert(m, &doc, first, l.list[0], l.list[5])
		added = append(added, listValue(first, l.list[1], l.list[2], to, numberValue(0), l.list[5]))
		doc.at("links").list[i] = listValue(l.list[0], from, numberValue(0), l.list[3], l.list[4], l.list[5])
	}
	doc.at("links").list = append(doc.at("links").list, added...)
	return doc
}

// wrapInSubgraph puts every node but those that write files into a subgraph.
func wrapInSubgraph(m *mutator, doc value) value {
	id, def := numberValue(m.number()), m.id("00000000-1111-2222-3333-")
	outside := map[string]bool{}
	var outer, inner, outerLinks, innerLinks, boundary, slots []value
	for _, n := range doc.get("nodes").list {
		if isOutputClass(&node{class: n.get("type").str(), key: foldClass(n.get("type").str())}) {
			outside[n.get("id").id()] = true
			outer = append(outer, n)
		} else {
			inner = append(inner, n)
		}
	}
	places := map[string]int{} // of the origins that leave, by node and slot
	for _, l := range doc.get("links").list {
		if l.kind == kindObject {
			l = listValue(l.get("id"), l.get("origin_id"), l.get("origin_slot"), l.get("target_id"), l.get("target_slot"), l.get("type"))
		}
		if len(l.list) < 6 {
			continue
		}
		from, to := l.list[1].id(), l.list[3].id()
		switch {
		case outside[from]:
			return doc // something is made of what an output gives on: not wrapped
		case !outside[to]:
			innerLinks = append(innerLinks, linkObject(l.list[0], l.list[1], l.list[2], l.list[3], l.list[4], l.list[5]))
		default:
			key := from + "/" + l.list[2].text
			at, known := places[key]
			if !known {
				at = len(boundary)
				places[key] = at
				name := textValue("out" + strconv.Itoa(at))
				boundary = append(boundary, objectValue("id", textValue(m.id("o")), "name", name, "type", l.list[5]))
				slots = append(slots, objectValue("name", name, "type", l.list[5]))
				innerLinks = append(innerLinks, linkObject(numberValue(m.number()), l.list[1], l.list[2], numberValue(-20), numberValue(at), l.list[5]))
			}
			outerLinks = append(outerLinks, listValue(l.list[0], id, numberValue(at), l.list[3], l.list[4], l.list[5]))
		}
	}
	instance := objectValue("id", id, "type", textValue(def), "order", numberValue(0), "mode", numberValue(0), "inputs", listValue(), "outputs", listValue(slots...),
		"properties", objectValue("proxyWidgets", listValue()), "widgets_values", listValue())
	*doc.at("nodes") = listValue(append([]value{instance}, outer...)...)
	*doc.at("links") = listValue(outerLinks...)
	subgraphs := doc.at("definitions").at("subgraphs")
	*subgraphs = listValue(append(slices.Clone(subgraphs.list), objectValue("id", textValue(def), "name", textValue("Everything"),
		"inputNode", objectValue("id", numberValue(-10)), "outputNode", objectValue("id", numberValue(-20)),
		"inputs", listValue(), "outputs", listValue(boundary...), "nodes", listValue(inner...), "links", listValue(innerLinks...), "extra", doc.get("extra")))...)
	return doc
}

func linkObject(id, from, fromSlot, to, toSlot, typ value) value {
	return objectValue("id", id, "origin_id", from, "origin_slot", fromSlot, "target_id", to, "target_slot", toSlot, "type", typ)
}
