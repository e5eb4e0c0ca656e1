package op

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// number keeps whole numbers exact up to 64 bits; seeds use all of them. A number
// beyond what a float64 holds stays text, for numberErrors to refuse.
func number(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f) // 1e3 and 20.0 are whole numbers too
	}
	return f
}

// numberErrors finds numbers that no field of their kind can hold: whole numbers beyond
// 64 bits or beyond their type, and anything beyond a float64. The schema's own check would let
// them pass where it has no bounds, and the database or the index would refuse them late.
func numberErrors(path string, s *huma.Schema, v any) (errs []library.FieldError) {
	switch v := v.(type) {
	case json.Number:
		return []library.FieldError{outOfRange(path, s)}
	case float64:
		if s != nil && s.Type == huma.TypeInteger && v == math.Trunc(v) || s != nil && s.Format == "float" && math.Abs(v) > math.MaxFloat32 {
			return []library.FieldError{outOfRange(path, s)}
		}
	case int64:
		if s != nil && s.Format == "int32" && (v < math.MinInt32 || v > math.MaxInt32) {
			return []library.FieldError{outOfRange(path, s)}
		}
	case []any:
		var item *huma.Schema
		if s != nil {
			item = s.Items
		}
		for i, x := range v {
			if found := numberErrors("", item, x); len(found) > 0 && len(errs) < maxFieldErrors { // paths are built for faulty items only
				errs = append(errs, under(fmt.Sprintf("%s[%d]", path, i), found)...)
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var field *huma.Schema
			if s != nil {
				field = s.Properties[k]
			}
			if found := numberErrors("", field, v[k]); len(found) > 0 && len(errs) < maxFieldErrors {
				errs = append(errs, under(strings.TrimPrefix(path+"."+k, "."), found)...)
			}
		}
	}
	return errs
}

// under puts a path before those of errors found below it.
func under(path string, errs []library.FieldError) []library.FieldError {
	for i := range errs {
		switch rest := errs[i].Field; {
		case rest == "":
			errs[i].Field = shorten(path)
		case strings.HasPrefix(rest, "["):
			errs[i].Field = shorten(path + rest)
		default:
			errs[i].Field = shorten(path + "." + rest)
		}
	}
	return errs
}

func outOfRange(path string, s *huma.Schema) library.FieldError {
	e := library.FieldError{Field: path, Code: "range", Message: "The number is larger than any that is taken."}
	if s == nil || s.Type != huma.TypeInteger && s.Type != huma.TypeNumber {
		return e
	}
	what := "number"
	if s.Type == huma.TypeInteger {
		what = "whole number"
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		e.Message = fmt.Sprintf("Expected a %s from %v to %v.", what, *s.Minimum, *s.Maximum)
	case s.Maximum != nil:
		e.Message = fmt.Sprintf("Expected a %s of at most %v.", what, *s.Maximum)
	case s.Format == "int32":
		e.Message = fmt.Sprintf("Expected a whole number from %d to %d.", math.MinInt32, math.MaxInt32)
	case s.Type == huma.TypeInteger:
		e.Message = fmt.Sprintf("Expected a whole number of at most %d.", int64(math.MaxInt64))
	}
	return e
}
