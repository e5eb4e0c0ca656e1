package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Field is one argument of an input, or one member of an output.
type Field struct {
	Path     string // its name; filters.status within an object, data[].title within a list
	Schema   *huma.Schema
	Required bool
}

// Fields lists the properties of an object schema, required ones first, each
// followed by those inside it.
func Fields(s *huma.Schema) []Field { return fields("", s) }

// Type returns in words what values the field takes: its type, the values of an
// enumeration, and bounds.
func (f Field) Type() string { return typeText(f.Schema) }

// Default returns the field's default as text, or nothing.
func (f Field) Default() string {
	if f.Schema.Default == nil {
		return ""
	}
	return fmt.Sprint(f.Schema.Default)
}

func fields(prefix string, s *huma.Schema) []Field {
	names := make([]string, 0, len(s.Properties))
	for n := range s.Properties {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if ra, rb := isRequired(s, a), isRequired(s, b); ra != rb && prefix == "" {
			if ra {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var rows []Field
	for _, n := range names {
		p := s.Properties[n]
		path := prefix + n
		rows = append(rows, Field{path, p, isRequired(s, n)})
		if p.Items != nil {
			p, path = p.Items, path+"[]"
		}
		if len(p.Properties) > 0 {
			rows = append(rows, fields(path+".", p)...)
		}
	}
	return rows
}

// typeText returns what values a field takes.
func typeText(s *huma.Schema) string {
	t := s.Type
	switch {
	case s.Items != nil:
		t = typeText(s.Items) + "[]"
	case s.Type == "":
		t = "any"
	case s.Format != "" && s.Type == huma.TypeString:
		t += " (" + s.Format + ")"
	}
	if s.Nullable {
		t += " or null"
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		t = strings.Join(values, ", ")
	}
	for _, l := range []struct {
		low, high any
		of        string
	}{{s.Minimum, s.Maximum, ""}, {s.MinLength, s.MaxLength, " characters"}, {s.MinItems, s.MaxItems, " items"}} {
		if r := rangeText(l.low, l.high); r != "" {
			t += ", " + r + l.of
		}
	}
	return t
}

// rangeText words a range of which either end may be missing (a nil *float64 or *int).
func rangeText(low, high any) string {
	l, h := bound(low), bound(high)
	switch {
	case l != "" && h != "":
		return l + " to " + h
	case l != "":
		return "at least " + l
	case h != "":
		return "at most " + h
	}
	return ""
}

func bound(v any) string {
	switch v := v.(type) {
	case *float64:
		if v != nil {
			return fmt.Sprint(*v)
		}
	case *int:
		if v != nil {
			return fmt.Sprint(*v)
		}
	}
	return ""
}
