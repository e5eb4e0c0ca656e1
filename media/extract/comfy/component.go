package comfy

import (
	"cmp"
	"slices"
	"strings"
)

// Workflow components are an older form of subgraphs: the document keeps the graph of each
// by the type of its instances. Nodes of two classes inside stand for the boundary. The
// instance shows them in the order of their titles, values among them as widgets.
const (
	componentIn  = "ComponentInput"
	componentOut = "ComponentOutput"
)

// readComponent reads the graph of a component as a definition with a boundary.
func readComponent(v value) *definition {
	d := readDefinition(v)
	d.component = true
	ins, outs := map[string]int{}, map[string]int{}
	var inner []*uiNode
	for _, u := range byTitle(d.nodes) {
		switch {
		case u.typ == componentIn && len(u.outputs) > 0:
			ins[u.id] = len(d.inputs)
			d.inputs = append(d.inputs, u.outputs[0].shown())
		case u.typ == componentOut && len(u.inputs) > 0:
			outs[u.id] = len(d.outputs)
			d.outputs = append(d.outputs, u.inputs[0].shown())
		default:
			inner = append(inner, u)
		}
	}
	for id, l := range d.links {
		if at, ok := ins[l.from]; ok {
			l.from, l.fromSlot = subgraphIn, at
		}
		if at, ok := outs[l.to]; ok {
			l.to, l.toSlot = subgraphOut, at
		}
		d.links[id] = l
	}
	d.nodes = inner
	return d
}

func byTitle(list []*uiNode) []*uiNode {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b *uiNode) int { return cmp.Compare(a.title, b.title) })
	return out
}

// shown returns a slot under the name that the boundary shows it by.
func (s slot) shown() slot {
	if s.label != "" {
		s.name = s.label
	}
	return s
}

// bindComponent hands the values of an instance to the boundary inputs that are widgets.
// It leaves them open where there are more or fewer.
func bindComponent(s *scope) {
	var at []int
	for i := range s.def.inputs {
		if isValueType(s.def.inputs[i].typ) {
			at = append(at, i)
		}
	}
	vals := s.instance.widgets.List
	if len(vals) != len(at) {
		vals = withoutControls(vals)
	}
	if len(vals) != len(at) {
		return
	}
	for i, v := range vals {
		s.setParamAt(at[i], v)
	}
}

// isValueType reports whether a type is that of a widget: a number, a text, a yes or no,
// or a list of choices.
func isValueType(typ string) bool {
	switch typ {
	case "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO":
		return true
	}
	return strings.ContainsAny(typ, ",\n")
}
