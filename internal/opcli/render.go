package opcli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// member is one member of a JSON object, in the order in which it was sent.
type member struct {
	name  string
	value any
}

// object is a JSON object that keeps its order.
type object []member

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// Render writes a response for people: a line for each value, lists of objects as
// tables. What is empty is left out; nothing else is, but columns of a table that no
// line could hold, which are named below it, and the bytes of files, which are counted.
func Render(w io.Writer, response []byte) error {
	d := json.NewDecoder(bytes.NewReader(response))
	d.UseNumber()
	v, err := decodeOrdered(d)
	if err != nil {
		return fmt.Errorf("the response is no JSON: %w", err)
	}
	var b strings.Builder
	switch v := v.(type) {
	case object:
		renderObject(&b, "", v)
	default:
		b.WriteString(line(v) + "\n")
	}
	if b.Len() == 0 {
		b.WriteString("done\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// decodeOrdered reads one JSON value.
func decodeOrdered(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := t.(json.Delim)
	if !nested {
		return t, nil
	}
	list, obj := []any{}, object{}
	for d.More() {
		name := ""
		if delim == '{' {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			name, _ = t.(string) // a key is one
		}
		v, err := decodeOrdered(d)
		if err != nil {
			return nil, err
		}
		if data, ok := v.(string); ok && name == "data_base64" { // nobody reads it; --output json has it
			v = fmt.Sprintf("(%d bytes)", base64.StdEncoding.DecodedLen(len(data))-strings.Count(data[max(0, len(data)-2):], "="))
		}
		list, obj = append(list, v), append(obj, member{name, v})
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if delim == '{' {
		return obj, nil
	}
	return list, nil
}

// empty reports whether a value says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case object:
		return !slices.ContainsFunc(v, func(m member) bool { return !empty(m.value) })
	}
	return false
}

// line returns a value on one line.
func line(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.Join(strings.Fields(v), " ")
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = line(x)
		}
		return strings.Join(parts, ", ")
	case object:
		var parts []string
		for _, m := range v {
			if !empty(m.value) {
				parts = append(parts, m.name+"="+line(m.value))
			}
		}
		return strings.Join(parts, " ")
	}
	return fmt.Sprint(v)
}

const (
	// maxLine is how long a nested object or list may be on one line.
	maxLine = 100
	// maxColumn is how wide a column of a table may be.
	maxColumn = 60
)

func renderObject(b *strings.Builder, indent string, o object) {
	for _, m := range o {
		if !empty(m.value) {
			renderMember(b, indent, m)
		}
	}
}

func renderMember(b *strings.Builder, indent string, m member) {
	name := indent + m.name + ":"
	if m.name == "data_base64" {
		fmt.Fprintf(b, "%s %d characters of base64; --output json has them\n", name, len(line(m.value)))
		return
	}
	switch v := m.value.(type) {
	case object:
		if one := line(v); flat(v) && utf8.RuneCountInString(one) <= maxLine {
			fmt.Fprintf(b, "%s %s\n", name, one)
			return
		}
		b.WriteString(name + "\n")
		renderObject(b, indent+"  ", v)
	case []any:
		renderList(b, indent, name, v)
	case string:
		if strings.Contains(strings.TrimSpace(v), "\n") {
			b.WriteString(name + "\n")
			for text := range strings.Lines(strings.TrimSpace(v)) {
				b.WriteString(indent + "  " + strings.TrimRight(text, "\r\n") + "\n")
			}
			return
		}
		fmt.Fprintf(b, "%s %s\n", name, v)
	default:
		fmt.Fprintf(b, "%s %v\n", name, v)
	}
}

// flat reports whether an object holds plain values and lists of these only.
func flat(o object) bool {
	return !slices.ContainsFunc(o, func(m member) bool {
		if list, ok := m.value.([]any); ok {
			return slices.ContainsFunc(list, nested)
		}
		return nested(m.value)
	})
}

func nested(v any) bool {
	switch v.(type) {
	case object, []any:
		return !empty(v)
	}
	return false
}

func renderList(b *strings.Builder, indent, name string, list []any) {
	rows := make([]object, 0, len(list))
	for _, v := range list {
		if o, ok := v.(object); ok && flat(o) {
			rows = append(rows, o)
		}
	}
	switch one := line(list); {
	case len(rows) == len(list):
		b.WriteString(name + "\n")
		renderTable(b, indent+"  ", rows)
	case !slices.ContainsFunc(list, nested) && utf8.RuneCountInString(one) <= maxLine:
		fmt.Fprintf(b, "%s %s\n", name, one)
	default:
		b.WriteString(name + "\n")
		for _, v := range list {
			renderItem(b, indent, v)
		}
	}
}

// renderItem writes one item of a list behind a dash.
func renderItem(b *strings.Builder, indent string, v any) {
	o, ok := v.(object)
	if !ok {
		fmt.Fprintf(b, "%s  - %s\n", indent, line(v))
		return
	}
	var inner strings.Builder
	renderObject(&inner, indent+"    ", o)
	b.WriteString(indent + "  - " + strings.TrimPrefix(inner.String(), indent+"    "))
}

// renderTable writes objects as rows, with the columns in the order of the first
// object that has them. Columns without a value are left out.
func renderTable(b *strings.Builder, indent string, rows []object) {
	var columns, wide []string
	widths := map[string]int{}
	for _, r := range rows {
		for _, m := range r {
			n := utf8.RuneCountInString(line(m.value))
			if _, known := widths[m.name]; !known && n > 0 {
				columns = append(columns, m.name)
				widths[m.name] = utf8.RuneCountInString(m.name)
			}
			if n > 0 {
				widths[m.name] = max(widths[m.name], n)
			}
		}
	}
	columns = slices.DeleteFunc(columns, func(c string) bool {
		if widths[c] > maxColumn {
			wide = append(wide, c)
			return true
		}
		return false
	})
	row := func(value func(string) string) {
		var r strings.Builder
		for _, c := range columns {
			text := value(c)
			r.WriteString(text + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(text)+2))
		}
		b.WriteString(indent + strings.TrimRight(r.String(), " ") + "\n")
	}
	if len(columns) > 0 {
		row(func(c string) string { return c })
	}
	for _, r := range rows {
		row(func(c string) string { return line(r.get(c)) })
	}
	if len(wide) > 0 {
		fmt.Fprintf(b, "%s(too wide for a table: %s; --output json has them)\n", indent, strings.Join(wide, ", "))
	}
}
