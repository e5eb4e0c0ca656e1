package op

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// Shape is the form of an object inside an input whose form depends on another argument,
// such as the configuration of a stage. It is made from a Go struct as inputs are.
type Shape struct {
	Schema *huma.Schema
	t      reflect.Type
}

// ShapeOf returns the shape of a struct.
func ShapeOf[T any]() Shape {
	return Shape{schemaOf[T](), reflect.TypeFor[T]()}
}

// Decode brings an object to the shape's form (names, numbers, defaults), checks it as an
// input is checked, and decodes it into a pointer to the struct. What is wrong is named below
// the path at. The object itself is not changed.
func (s Shape) Decode(at string, object map[string]any, into any) []library.FieldError {
	args := cloneObject(object)
	normalize(s.Schema, args)
	errs := numberErrors("", s.Schema, args)
	said := map[string]bool{}
	for _, e := range errs {
		said[e.Field] = true
	}
	for _, e := range validate(s.Schema, args) {
		if !said[e.Field] {
			errs = append(errs, e)
		}
	}
	errs = append(errs, textErrors(s.Schema, "", args)...)
	if len(errs) == 0 {
		raw, err := json.Marshal(args)
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber() // values of any type keep seeds beyond 2^53
			err = d.Decode(into)
		}
		if err != nil {
			errs = append(errs, library.FieldError{Code: "type", Message: "It does not have the expected form."})
		}
	}
	for i := range errs {
		if errs[i].Field = at + "." + errs[i].Field; errs[i].Field == at+"." {
			errs[i].Field = at
		}
	}
	return errs
}

// cloneObject copies an object and the objects and lists in it.
func cloneObject(object map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range out {
		out[k] = cloneValue(v)
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return cloneObject(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = cloneValue(x)
		}
		return out
	}
	return v
}
