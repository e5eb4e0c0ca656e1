package clientgen

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// field is a field of a struct as JSON has it.
type field struct {
	reflect.StructField
	name string
	omit bool // left out when empty
}

// fields returns the fields of a struct in the order of JSON, those of embedded
// structs in their place.
func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			list = append(list, fields(base(f.Type))...)
		default:
			if name == "" {
				name = f.Name
			}
			list = append(list, field{f, name, strings.Contains(rest, "omitempty") || strings.Contains(rest, "omitzero")})
		}
	}
	return list
}

// base returns what pointers, lists and maps are made of.
func base(t reflect.Type) reflect.Type {
	for (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && !leaf(t) {
		t = t.Elem()
	}
	return t
}

var (
	timeType = reflect.TypeFor[time.Time]()
	rawType  = reflect.TypeFor[json.RawMessage]()
)

// leaf reports whether a type has its own form in JSON.
func leaf(t reflect.Type) bool { return t == timeType || t == rawType }

// structType returns a struct type as source.
func (g *generator) structType(t reflect.Type, input, attaches bool) string {
	var b strings.Builder
	b.WriteString("struct {\n")
	for _, f := range fields(t) {
		b.WriteString(comment("\t", fieldDoc(f, input)))
		tag := f.name
		if f.omit {
			tag += ",omitempty"
		}
		kind := g.goType(f.Type)
		if input && needsPointer(f) {
			kind = "*" + kind
		}
		if f.Type == timeType && f.omit {
			tag = f.name + ",omitzero"
		}
		fmt.Fprintf(&b, "\t%s %s `json:%q`\n", fieldName(f.name), kind, tag)
	}
	if attaches {
		b.WriteString("\t// Binary parts, such as a preview.\n\tAttachments []Attachment `json:\"attachments,omitempty\"`\n")
	}
	b.WriteString("}")
	return b.String()
}

// needsPointer reports whether an input's zero value means something else than
// leaving it out: a default that is not zero stands beside a zero that is allowed.
func needsPointer(f field) bool {
	usual := f.Tag.Get("default")
	switch f.Type.Kind() {
	case reflect.Bool:
		return usual == "true"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		lowest, bounded := f.Tag.Lookup("minimum")
		return usual != "" && usual != "0" && (!bounded || strings.HasPrefix(lowest, "0") || strings.HasPrefix(lowest, "-"))
	}
	return false
}

// fieldDoc returns what is known of a field: its sentence, and for inputs whether it
// is required, its values and default.
func fieldDoc(f field, input bool) string {
	says := []string{f.Tag.Get("doc")}
	if input && !f.omit && f.Type.Kind() != reflect.Pointer {
		says = append(says, "Required.")
	}
	if values := f.Tag.Get("enum"); values != "" {
		says = append(says, "One of "+strings.ReplaceAll(values, ",", ", ")+".")
	}
	if usual := f.Tag.Get("default"); usual != "" && usual != "0" && usual != "false" {
		says = append(says, "Default: "+usual+".")
	}
	return strings.TrimSpace(strings.Join(says, " "))
}

// goType returns a type as the client has it: named texts and numbers as what they
// are made of.
func (g *generator) goType(t reflect.Type) string {
	switch {
	case t == timeType:
		return "time.Time"
	case t == rawType:
		return "json.RawMessage"
	}
	switch t.Kind() {
	case reflect.Pointer:
		if leaf := g.goType(t.Elem()); leaf == "json.RawMessage" { // nil says as much
			return leaf
		}
		return "*" + g.goType(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "[]byte"
		}
		return "[]" + g.goType(t.Elem())
	case reflect.Map:
		return "map[" + g.goType(t.Key()) + "]" + g.goType(t.Elem())
	case reflect.Struct:
		return g.names[t]
	case reflect.Interface:
		return "any"
	}
	return t.Kind().String()
}

// lineWidth is where comments are broken.
const lineWidth = 100

// comment returns a text as comment lines, or nothing for none.
func comment(indent, text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	line := indent + "//"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > lineWidth && line != indent+"//" {
			b.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}
