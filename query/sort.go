package query

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/mappings"
)

// sortFields maps the names that a request may sort by to what the index sorts by.
var sortFields = func() map[string]string {
	fields := map[string]string{"relevance": "_score"}
	for _, f := range mappings.Fields() {
		if f.Sort != "" {
			fields[f.Sort] = f.Sorted()
		}
	}
	return fields
}()

// SortKeys lists the names that any request may sort by. A request for the assets of one
// collection may also sort by ByPosition.
var SortKeys = slices.Sorted(maps.Keys(sortFields))

// ByPosition sorts by the position in the one collection that the query asks for with
// collection:=path.
const ByPosition = "position"

// byNumber ends every sort: it tells all assets apart.
var byNumber = clause{mappings.NumberField: clause{"order": "asc"}}

// The orders of requests that ask for none.
var (
	newestFirst = []any{
		clause{"created": clause{"order": "desc", "missing": "_last"}},
		byNumber,
	}
	bestFirst = slices.Clip(append([]any{clause{"_score": clause{"order": "desc"}}}, newestFirst...))
)

// sortBy writes the sort of a request. It always ends with asset_n, so that the
// order of equal assets does not change from page to page.
func sortBy(keys []Sort, scored bool, tree Node) ([]any, error) {
	switch {
	case len(keys) > 0:
	case scored:
		return bestFirst, nil
	default:
		return newestFirst, nil
	}
	if len(keys) > 4 {
		return nil, library.Invalid(library.FieldError{Field: "order_by", Code: "length", Message: "At most 4 sort keys are allowed."})
	}
	out := make([]any, 0, len(keys)+1)
	total := false
	for i, k := range keys {
		order := "asc"
		if k.Desc {
			order = "desc"
		}
		if k.By == ByPosition {
			by, err := byPosition(tree, order)
			if err != nil {
				return nil, err
			}
			out = append(out, by)
			continue
		}
		field, ok := sortFields[k.By]
		if !ok {
			return nil, library.Invalid(library.FieldError{Field: fmt.Sprintf("order_by[%d]", i), Code: "enum", Message: "Allowed are " + strings.Join(SortKeys, ", ") + " and " + ByPosition + "."})
		}
		total = total || field == "asset_h"
		if field == "_score" {
			out = append(out, clause{"_score": clause{"order": order}})
			continue
		}
		out = append(out, clause{field: clause{"order": order, "missing": "_last"}})
	}
	if !total {
		out = append(out, byNumber)
	}
	return out, nil
}

// rankScript returns the rank that a document keeps for the collection params.of. Every
// document that the query finds has one.
const rankScript = `def all = doc['collection_ranks']; for (int i = 0; i < all.size(); i++) { def v = all.get(i); if (v.startsWith(params.of)) { return v.substring(params.of.length()); } } return '~';`

// byPosition sorts by the rank in the one collection whose assets the tree asks for.
func byPosition(tree Node, order string) (clause, error) {
	children := []Node{tree}
	if and, ok := tree.(*And); ok {
		children = and.Children
	}
	var names []string
	for _, n := range children {
		if p, ok := n.(*Pred); ok && p.Field.Name == "collection" && p.Op == Equal {
			if name, exact := strings.CutPrefix(p.Value, exactCollection); exact {
				names = append(names, name)
			}
		}
	}
	if len(names) != 1 {
		return nil, library.Invalid(library.FieldError{Field: "order_by", Code: "conflict", Message: "position is the order within one collection.",
			Hint: "Ask for the assets of exactly one collection with collection:=path, which leaves out the collections below it."})
	}
	return clause{"_script": clause{"type": "string", "order": order, "script": clause{"lang": "painless", "source": rankScript, "params": clause{"of": mappings.CollectionRank(names[0], "")}}}}, nil
}
