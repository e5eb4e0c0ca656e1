package writer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// The tools write JSON in three dialects that differ in spaces, escapes and
// numbers; readers have stumbled over each. Values keep their order, because
// the order of keys in these files carries meaning for some readers.

// field is one key of an object.
type field struct {
	key   string
	value any
}

// object is a JSON object in written order; list a JSON array.
type (
	object []field
	list   []any
)

// pyFloat is written as Python prints a float: 1 becomes 1.0.
type pyFloat float64

// dialect is a way of printing JSON.
type dialect struct {
	comma, colon string // between items, after keys
	ascii        bool   // escape everything beyond ASCII as \uXXXX
	indent       string // when set, one item per line
}

var (
	pythonJSON  = dialect{comma: ", ", colon: ": ", ascii: true}              // json.dumps
	compactJSON = dialect{comma: ",", colon: ":"}                             // pydantic, JSON.stringify
	netJSON     = dialect{comma: ",", colon: ": ", ascii: true, indent: "  "} // Newtonsoft, indented
)

func (d dialect) String(v any) string {
	var b strings.Builder
	d.write(&b, v, 0)
	return b.String()
}

func (d dialect) write(b *strings.Builder, v any, depth int) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case object:
		d.block(b, '{', '}', len(v), depth, func(i int) {
			d.quote(b, v[i].key)
			b.WriteString(d.colon)
			d.write(b, v[i].value, depth+1)
		})
	case list:
		d.block(b, '[', ']', len(v), depth, func(i int) { d.write(b, v[i], depth+1) })
	case string:
		d.quote(b, v)
	case pyFloat:
		b.WriteString(pyNumber(float64(v)))
	case float64:
		b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		fmt.Fprint(b, v) // bool and the integer types print as JSON does
	}
}

func (d dialect) block(b *strings.Builder, open, end byte, n, depth int, item func(int)) {
	b.WriteByte(open)
	for i := range n {
		if i > 0 {
			b.WriteString(d.comma)
		}
		if d.indent != "" {
			b.WriteString("\n" + strings.Repeat(d.indent, depth+1))
		}
		item(i)
	}
	if d.indent != "" && n > 0 {
		b.WriteString("\n" + strings.Repeat(d.indent, depth))
	}
	b.WriteByte(end)
}

func (d dialect) quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20:
			fmt.Fprintf(b, `\u%04x`, r)
		case r < 0x7f || !d.ascii:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

func pyNumber(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
