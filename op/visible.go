package op

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"vitrine/library"
)

// visible takes unseen characters (library.Unseen) out of the texts of an encoded output:
// prompts, names and notes come out of files, and their writers may have meant a reader to
// see something else than a program does. Members that hold a document as it was found, raw
// JSON and free objects, stay as they are.
func visible(encoded []byte, of reflect.Type) []byte {
	if !mayHideText(encoded) {
		return encoded
	}
	c := cleaner{in: encoded, out: make([]byte, 0, len(encoded)), raw: rawMembers(of)}
	c.value()
	return c.out
}

// mayHideText reports whether an unseen character may be in JSON text. Most outputs have
// none, and are passed over in one go.
func mayHideText(b []byte) bool {
	if bytes.IndexByte(b, 0x7f) >= 0 || bytes.Contains(b, []byte(`\u00`)) || bytes.Contains(b, []byte(`\b`)) || bytes.Contains(b, []byte(`\f`)) {
		return true
	}
	return holds(b, 0xc2, func(rest []byte) bool { return rest[0] < 0xa0 }) || // U+0080 to U+009F
		holds(b, 0xe2, func(rest []byte) bool {
			r, _ := utf8.DecodeRune(append([]byte{0xe2}, rest[:min(2, len(rest))]...))
			return library.Unseen(r)
		})
}

// holds reports whether a byte occurs whose followers are what is looked for.
func holds(b []byte, lead byte, follow func(rest []byte) bool) bool {
	for {
		i := bytes.IndexByte(b, lead)
		if i < 0 || i+1 >= len(b) {
			return false
		}
		if b = b[i+1:]; follow(b) {
			return true
		}
	}
}

// cleaner copies JSON text without unseen characters. The text is valid: it was encoded
// here.
type cleaner struct {
	in, out []byte
	at      int
	raw     map[string]bool // members whose values are copied as they are
}

// value copies one value.
func (c *cleaner) value() {
	switch c.in[c.at] {
	case '{':
		c.list('}', func() {
			name := c.text(true)
			c.copy(1) // the colon
			if c.raw[name] {
				end := c.at + valueLength(c.in[c.at:])
				c.out, c.at = append(c.out, c.in[c.at:end]...), end
				return
			}
			c.value()
		})
	case '[':
		c.list(']', c.value)
	case '"':
		c.text(false)
	default:
		for c.at < len(c.in) && !strings.ContainsRune(",]}", rune(c.in[c.at])) {
			c.copy(1)
		}
	}
}

// list copies an object or an array; the text has no blanks between tokens.
func (c *cleaner) list(end byte, item func()) {
	c.copy(1)
	for c.in[c.at] != end {
		item()
		if c.in[c.at] == ',' {
			c.copy(1)
		}
	}
	c.copy(1)
}

func (c *cleaner) copy(n int) { c.out, c.at = append(c.out, c.in[c.at:c.at+n]...), c.at+n }

// text copies a string; the name of a member stays as it is and is returned.
func (c *cleaner) text(name bool) string {
	end := endOfString(c.in, c.at)
	if name {
		start := c.at
		c.copy(end - c.at)
		var s string
		_ = json.Unmarshal(c.in[start:end], &s) // it was encoded here
		return s
	}
	for c.at < end {
		r, n := rune(c.in[c.at]), 1
		switch {
		case r == '\\':
			r, n = escaped(c.in[c.at:end])
		case r >= utf8.RuneSelf:
			r, n = utf8.DecodeRune(c.in[c.at:end])
		}
		if library.Unseen(r) {
			c.at += n
		} else {
			c.copy(n)
		}
	}
	return ""
}

// escaped returns the character that an escape stands for, and its length.
func escaped(b []byte) (rune, int) {
	switch b[1] {
	case 'u':
		n, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(n), 6
	case 'b', 'f':
		return '\b', 2
	}
	return 'n', 2 // an end of line, a tab, or a character that needs the escape
}

// valueLength returns how long the value is that a JSON text begins with.
func valueLength(b []byte) int {
	var raw json.RawMessage
	d := json.NewDecoder(bytes.NewReader(b))
	if d.Decode(&raw) != nil {
		return 0
	}
	return len(raw)
}

var rawMembersOf sync.Map // reflect.Type → map[string]bool

// rawMembers returns the names of the members of a type, at any depth, that hold raw JSON or
// free objects.
func rawMembers(t reflect.Type) map[string]bool {
	if have, ok := rawMembersOf.Load(t); ok {
		return have.(map[string]bool)
	}
	names := map[string]bool{}
	collectRaw(t, names, map[reflect.Type]bool{})
	rawMembersOf.Store(t, names)
	return names
}

func collectRaw(t reflect.Type, names map[string]bool, seen map[reflect.Type]bool) {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if isRaw(f.Type) {
			names[name] = true
		} else {
			collectRaw(f.Type, names, seen)
		}
	}
}

func isRaw(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	raw := reflect.TypeFor[json.RawMessage]()
	return t == raw || t.Kind() == reflect.Map && (t.Elem() == raw || t.Elem().Kind() == reflect.Interface)
}
