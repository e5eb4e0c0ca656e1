package e2e

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// configKeys returns the keys of a schema, with those of the objects in it behind dots.
func configKeys(s *huma.Schema, head string) (list []string) {
	for name, p := range s.Properties {
		if p.Type == "array" && p.Items != nil && len(p.Items.Properties) > 0 {
			p = p.Items
		}
		if list = append(list, head+name); name != "options" { // those of exports have tests of their own
			list = append(list, configKeys(p, head+name+".")...)
		}
	}
	slices.Sort(list)
	return list
}

// valueAt returns the value at a key; in a list, that of its first object.
func valueAt(config map[string]any, key string) any {
	head, rest, nested := strings.Cut(key, ".")
	v := config[head]
	if list, ok := v.([]any); ok && nested && len(list) > 0 {
		v = list[0]
	}
	if inner, ok := v.(map[string]any); ok && nested {
		return valueAt(inner, rest)
	}
	if nested {
		return nil
	}
	return v
}

// withValue returns a configuration with another value at a key; nil leaves the key out.
func withValue(config map[string]any, key string, v any) map[string]any {
	out := maps.Clone(config)
	head, rest, nested := strings.Cut(key, ".")
	switch inner := out[head].(type) {
	case map[string]any:
		if nested {
			v = withValue(inner, rest, v)
		}
	case []any:
		if nested {
			v = []any{withValue(inner[0].(map[string]any), rest, v)}
		}
	}
	if v == nil {
		delete(out, head)
	} else {
		out[head] = v
	}
	return out
}

func schemaAt(s *huma.Schema, key string) *huma.Schema {
	for name := range strings.SplitSeq(key, ".") {
		if s = s.Properties[name]; s.Type == "array" && s.Items != nil && len(s.Items.Properties) > 0 && strings.Contains(key, ".") {
			s = s.Items
		}
	}
	return s
}

// wrongValues returns values that a schema refuses: of another type, and just beyond each bound.
func wrongValues(s *huma.Schema) (list []any) {
	object, long := map[string]any{"no": "such"}, func(n int) string { return strings.Repeat("x", n) }
	switch s.Type {
	case "string":
		list = append(list, object, []any{"one", "two"})
		if len(s.Enum) > 0 {
			list = append(list, "no-such-value")
		}
		if s.MaxLength != nil {
			list = append(list, long(*s.MaxLength+1))
		}
		if s.MinLength != nil {
			list = append(list, "")
		}
		if s.Pattern != "" {
			list = append(list, "%")
		}
	case "integer", "number":
		list = append(list, object, "many", true)
		if s.Type == "integer" {
			list = append(list, 1.5)
		}
		for _, n := range []struct {
			bound *float64
			by    float64
		}{{s.Minimum, -1}, {s.Maximum, 1}, {s.ExclusiveMinimum, 0}} {
			if n.bound != nil && !math.IsInf(*n.bound, 0) {
				list = append(list, *n.bound+n.by)
			}
		}
	case "boolean":
		list = append(list, object, "perhaps", 7)
	case "array":
		list = append(list, object, 1.5)
		if s.MinItems != nil && *s.MinItems > 0 {
			list = append(list, []any{})
		}
		if s.MaxItems != nil {
			list = append(list, slices.Repeat([]any{"x"}, *s.MaxItems+1))
		}
		if s.Items != nil && len(s.Items.Enum) > 0 {
			list = append(list, []any{"no-such-value"})
		}
	case "object":
		list = append(list, "text", 7, []any{1})
	}
	return list
}
