package query

import "vitrine/mappings"

// anyValue is an Or over several whole values of one field. Only the compiler
// makes it: the index takes thousands of values in one terms clause, but few
// hundred clauses in one query.
type anyValue struct {
	Pred
	values []string
}

// groupValues collects the plain equalities of an Or by field, each group where
// its first member stood.
func groupValues(children []Node) []Node {
	at := make(map[*Field]int)
	out := make([]Node, 0, len(children))
	for _, n := range children {
		p, ok := n.(*Pred)
		if !ok || p.Op != Equal || !p.Field.groups() {
			out = append(out, n)
			continue
		}
		i, seen := at[p.Field]
		if !seen {
			at[p.Field] = len(out)
			out = append(out, n)
			continue
		}
		if first, ok := out[i].(*Pred); ok {
			out[i] = &anyValue{Pred: *first, values: []string{first.Value}}
		}
		group := out[i].(*anyValue)
		group.values = append(group.values, p.Value)
	}
	return out
}

// clause is the one terms clause of the values.
func (n *anyValue) clause() clause {
	values := make([]any, 0, len(n.values))
	for _, v := range n.values {
		switch {
		case n.Field.Type == TypeTag:
			values = append(values, mappings.NormTag(v))
		case n.Field.Type == TypeParam:
			values = append(values, paramValue(v))
		case n.Field.Name == "model_name":
			values = append(values, modelForms(v)...)
		default:
			values = append(values, v)
		}
	}
	return anyOf(n.Field.Index, values)
}

// groups reports whether equality on the field is one term of one index field.
func (f *Field) groups() bool {
	switch f.Type {
	case TypeName, TypeTag, TypeMIME, TypeParam:
		return true
	case TypeEnum:
		return f.terms == nil
	}
	return false
}
