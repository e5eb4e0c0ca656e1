package query

import "vitrine/mappings"

// buildFieldTable is the table of the language: the fields that the index declares,
// in the order of their groups, and the two that stand for many conditions.
func buildFieldTable() []*Field {
	var table []*Field
	for _, group := range mappings.Groups {
		for _, declared := range mappings.Fields() {
			for _, q := range declared.Query {
				if q.Group == group {
					table = append(table, indexedField(&declared, q))
				}
			}
		}
	}
	return append(table, has(), is())
}

// indexedField returns the row of a field that is compared with one of the index.
func indexedField(declared *mappings.Field, q mappings.QueryField) *Field {
	f := &Field{QueryField: q, Index: declared.Name, Wild: declared.Wild()}
	if q.Facet != nil && q.Facet.Index == "" {
		facet := *q.Facet
		facet.Index = declared.Name
		f.Facet = &facet
	}
	return f
}

func has() *Field {
	f := &Field{terms: hasClauses()}
	f.Name, f.Type, f.Group, f.Values = "has", TypeEnum, mappings.GroupRelations, hasValues()
	f.Doc, f.Example = "has something at all", "-has:prompt"
	return f
}

func is() *Field {
	f := &Field{terms: isClauses()}
	f.Name, f.Type, f.Group, f.Values = "is", TypeEnum, mappings.GroupRelations, isValues()
	f.Doc, f.Example = "is in a state or of a kind", "is:approved"
	return f
}
