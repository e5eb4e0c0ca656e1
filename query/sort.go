package query

import (
	"fmt"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/mappings"
)

// SortKeys lists the names a request may sort by.
var SortKeys = []string{"relevance", "created", "updated", "stored", "title", "filename", "status", "size", "width", "height", "megapixels", "duration", "steps", "cfg", "seed", "tag_count", "asset_h"}

var sortFields = map[string]string{"relevance": "_score", "title": "title.raw", "size": "size_bytes", "duration": "duration_ms"}

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
		field, ok := sortField(k.By)
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

func sortField(name string) (string, bool) {
	for _, k := range SortKeys {
		if k == name {
			if f := sortFields[name]; f != "" {
				return f, true
			}
			return name, true
		}
	}
	return "", false
}
