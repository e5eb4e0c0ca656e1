package op

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

func init() { huma.DefaultArrayNullable = false } // an array is never null: [] says "none"

// schemaOf makes the JSON Schema of a Go type with every reference inlined:
// some MCP clients fail on $ref, and a flat schema reads better.
func schemaOf[T any]() *huma.Schema {
	r := &inlineRegistry{open: map[reflect.Type]bool{}}
	s := huma.SchemaFromType(r, reflect.TypeFor[T]())
	plainDefaults(s)
	describeFields(s, reflect.TypeFor[T]())
	s.PrecomputeMessages()
	return s
}

// describeFields adds what the tags of fields say beside those of huma: id:"…" the form of
// an identifier, base64:"true" that a text is bytes in base64. The latter is not checked
// here, since the reader of the bytes takes more alphabets than one.
func describeFields(s *huma.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if s.Items != nil {
		s = s.Items
	}
	if t.Kind() != reflect.Struct || len(s.Properties) == 0 {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if f.Anonymous || p == nil {
			continue
		}
		describeFields(p, f.Type)
		if p.Items != nil {
			p = p.Items
		}
		if form, ok := idForms[IDKind(f.Tag.Get("id"))]; ok && p.Pattern == "" && p.Type == huma.TypeString {
			p.Pattern, p.PatternDescription = form.pattern, form.words
		}
		if f.Tag.Get("base64") == "true" {
			p.Extensions = map[string]any{"contentEncoding": "base64"}
		}
	}
}

// plainDefaults returns an optional field's default as the value it stands for: a
// field of type *bool has a default of that type, which is no JSON boolean.
func plainDefaults(s *huma.Schema) {
	for _, p := range s.Properties {
		if v := reflect.ValueOf(p.Default); v.Kind() == reflect.Pointer && !v.IsNil() {
			p.Default = v.Elem().Interface()
		}
		plainDefaults(p)
	}
}

// CheckOutput reports where an encoded output breaks the operation's output
// schema. Clients may check it too and refuse the answer, so tests run it over
// every operation.
func (o Operation) CheckOutput(encoded []byte) []library.FieldError {
	d := json.NewDecoder(bytes.NewReader(encoded))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return []library.FieldError{{Code: "type", Message: "It is not valid JSON."}}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return []library.FieldError{{Code: "type", Message: "It is not an object."}}
	}
	for k, x := range m {
		m[k] = plainNumbers(x)
	}
	if o.Attaches {
		delete(m, "attachments") // which REST adds to the output
	}
	return check(o.Output, m, huma.ModeReadFromServer)
}

// plainNumbers turns exact numbers into Go numbers and leaves all else alone.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i, x := range v {
			v[i] = plainNumbers(x)
		}
	case map[string]any:
		for k, x := range v {
			v[k] = plainNumbers(x)
		}
	}
	return v
}

// inlineRegistry is a registry that never hands out a reference. A type that contains
// itself becomes an open object at the second level.
type inlineRegistry struct{ open map[reflect.Type]bool }

func (r *inlineRegistry) Schema(given reflect.Type, _ bool, _ string) *huma.Schema {
	t := given
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return huma.SchemaFromType(r, given) // a pointer makes a value that may be null
	}
	if r.open[t] {
		return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	}
	r.open[t] = true
	defer delete(r.open, t)
	return huma.SchemaFromType(r, t)
}

func (r *inlineRegistry) SchemaFromRef(string) *huma.Schema                { return nil }
func (r *inlineRegistry) TypeFromRef(string) reflect.Type                  { return nil }
func (r *inlineRegistry) Map() map[string]*huma.Schema                     { return map[string]*huma.Schema{} }
func (r *inlineRegistry) RegisterTypeAlias(_ reflect.Type, _ reflect.Type) {}

// SchemaJSON returns a schema as JSON Schema (2020-12) text. Schemas are made once,
// at start, so one that cannot be encoded is a defect of the program.
func SchemaJSON(s *huma.Schema) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic("op: a schema cannot be encoded: " + err.Error())
	}
	return b
}
