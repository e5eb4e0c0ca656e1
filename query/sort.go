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

// SortKeys lists the names a request may sort by.
var SortKeys = slices.Sorted(maps.Keys(sortFields))

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
func sortBy(keys []Sort, scored bool) ([]any, error) {
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
		field, ok := sortFields[k.By]
		if !ok {
			return nil, library.Invalid(library.FieldError{Field: fmt.Sprintf("order_by[%d]", i), Code: "enum", Message: "Allowed are " + strings.Join(SortKeys, ", ") + "."})
		}
		order := "asc"
		if k.Desc {
			order = "desc"
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
