package comfy

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A file is untrusted: these bounds keep the reader's memory and stack small
// whatever the file holds. Real graphs stay far below them.
const (
	maxJSONDepth  = 128
	maxJSONValues = 200_000 // of both documents of a file together; each takes a hundred bytes and more
	maxUnwraps    = 4       // a graph that is a JSON string of a JSON string of …
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one JSON value. Numbers keep their text, because seeds use the whole
// unsigned 64-bit range; objects keep the order of their members.
type value struct {
	kind    kind
	text    string // of strings, numbers and booleans
	list    []value
	members []member
}

type member struct {
	name string
	val  value
}

func (v value) get(name string) value {
	for i := range v.members {
		if v.members[i].name == name {
			return v.members[i].val
		}
	}
	return value{}
}

func (v value) str() string {
	if v.kind == kindString {
		return v.text
	}
	return ""
}

// scalar returns strings, numbers and booleans as text. File choices with a preview
// picture keep the name as the content of an object; they are that name.
func (v value) scalar() (string, bool) {
	switch v.kind {
	case kindString, kindNumber, kindBool:
		return v.text, true
	case kindObject:
		if c := v.get("content"); c.kind == kindString {
			return c.text, true
		}
	}
	return "", false
}

// id returns the text of a node identifier, which is a number in old files.
func (v value) id() string {
	if v.kind == kindNumber || v.kind == kindString {
		return v.text
	}
	return ""
}

func (v value) integer() (int, bool) {
	if v.kind != kindNumber && v.kind != kindString {
		return 0, false
	}
	if n, err := strconv.Atoi(v.text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil || f != f || f > 1<<31 || f < -1<<31 {
		return 0, false
	}
	return int(f), true
}

// decode reads a JSON document as writers really leave it: with a byte order
// mark, trailing NULs, bare NaN and Infinity, or wrapped in JSON strings.
func decode(raw []byte) (value, bool) {
	budget := maxJSONValues
	return decodeWithin(raw, &budget)
}

// decodeWithin is decode for one of several documents that share a budget of values.
func decodeWithin(raw []byte, budget *int) (value, bool) {
	text := string(raw)
	for range maxUnwraps {
		v, ok := parseJSON(text, budget)
		if !ok || v.kind == kindArray {
			return value{}, false
		}
		if v.kind == kindObject {
			return v, true
		}
		if v.kind != kindString {
			return value{}, false
		}
		text = v.text
	}
	return value{}, false
}

func parseJSON(text string, budget *int) (value, bool) {
	text = strings.Trim(strings.TrimPrefix(text, "\ufeff"), " \t\r\n\x00")
	p := parser{s: text, budget: *budget}
	v, ok := p.value(0)
	*budget = p.budget
	if !ok {
		return value{}, false
	}
	p.space()
	return v, p.at == len(p.s)
}

// parser is a recursive descent over the text; at is the next byte.
type parser struct {
	s      string
	at     int
	budget int
}

func (p *parser) space() {
	for p.at < len(p.s) {
		switch p.s[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) word(w string) bool {
	if strings.HasPrefix(p.s[p.at:], w) {
		p.at += len(w)
		return true
	}
	return false
}

func (p *parser) value(depth int) (value, bool) {
	p.space()
	p.budget--
	if p.at >= len(p.s) || depth > maxJSONDepth || p.budget < 0 {
		return value{}, false
	}
	switch c := p.s[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, ok := p.str()
		return value{kind: kindString, text: s}, ok
	case p.word("true"):
		return value{kind: kindBool, text: "true"}, true
	case p.word("false"):
		return value{kind: kindBool, text: "false"}, true
	case p.word("null"), p.word("NaN"), p.word("Infinity"), p.word("-Infinity"):
		// Python writes numbers that JSON does not know; they carry no setting.
		return value{}, true
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return value{}, false
}

func (p *parser) number() (value, bool) {
	start := p.at
	for p.at < len(p.s) && strings.IndexByte("+-0123456789.eE", p.s[p.at]) >= 0 {
		p.at++
	}
	text := p.s[start:p.at]
	_, err := strconv.ParseFloat(text, 64)
	if err != nil && !isRange(err) {
		return value{}, false
	}
	return value{kind: kindNumber, text: text}, true
}

func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

func (p *parser) array(depth int) (value, bool) {
	p.at++
	v := value{kind: kindArray}
	for p.space(); p.at < len(p.s); p.space() {
		if p.s[p.at] == ']' {
			p.at++
			return v, true
		}
		if len(v.list) > 0 && !p.comma() {
			return value{}, false
		}
		e, ok := p.value(depth + 1)
		if !ok {
			return value{}, false
		}
		v.list = append(v.list, e)
	}
	return value{}, false
}

func (p *parser) object(depth int) (value, bool) {
	p.at++
	v := value{kind: kindObject}
	for p.space(); p.at < len(p.s); p.space() {
		if p.s[p.at] == '}' {
			p.at++
			return v, true
		}
		if len(v.members) > 0 && !p.comma() {
			return value{}, false
		}
		p.space()
		if p.at >= len(p.s) || p.s[p.at] != '"' {
			return value{}, false
		}
		name, ok := p.str()
		if p.space(); !ok || p.at >= len(p.s) || p.s[p.at] != ':' {
			return value{}, false
		}
		p.at++
		e, ok := p.value(depth + 1)
		if !ok {
			return value{}, false
		}
		v.members = append(v.members, member{name, e})
	}
	return value{}, false
}

func (p *parser) comma() bool {
	if p.s[p.at] != ',' {
		return false
	}
	p.at++
	return true
}

// str reads a string at the opening quote. Control characters inside strings are
// kept: some savers write them raw.
func (p *parser) str() (string, bool) {
	p.at++
	rest := p.s[p.at:]
	i := strings.IndexAny(rest, `"\`)
	if i < 0 {
		return "", false
	}
	if rest[i] == '"' {
		p.at += i + 1
		return strings.ToValidUTF8(rest[:i], "\ufffd"), true
	}
	var b strings.Builder
	for p.at < len(p.s) {
		rest := p.s[p.at:]
		i := strings.IndexAny(rest, `"\`)
		if i < 0 {
			return "", false
		}
		b.WriteString(rest[:i])
		p.at += i + 1
		if rest[i] == '"' {
			return strings.ToValidUTF8(b.String(), "\ufffd"), true
		}
		if !p.escape(&b) {
			return "", false
		}
	}
	return "", false
}

func (p *parser) escape(b *strings.Builder) bool {
	if p.at >= len(p.s) {
		return false
	}
	c := p.s[p.at]
	p.at++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'u':
		return p.unicode(b)
	case '"', '\\', '/':
		b.WriteByte(c)
	default:
		return false
	}
	return true
}

func (p *parser) unicode(b *strings.Builder) bool {
	r, ok := p.hex4()
	if !ok {
		return false
	}
	if utf16.IsSurrogate(r) {
		low := rune(utf8.RuneError)
		if strings.HasPrefix(p.s[p.at:], `\u`) {
			mark := p.at
			p.at += 2
			if low, ok = p.hex4(); !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				p.at, low = mark, utf8.RuneError
			}
		}
		r = utf16.DecodeRune(r, low)
	}
	b.WriteRune(r)
	return true
}

func (p *parser) hex4() (rune, bool) {
	if p.at+4 > len(p.s) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 32)
	p.at += 4
	return rune(n), err == nil
}
