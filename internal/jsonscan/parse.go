package jsonscan

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Files are untrusted: these bounds keep the memory and the stack of a parse small
// whatever a document holds.
const (
	maxDepth = 128
	// MaxValues is a budget of values that real documents stay far below; each
	// value takes a hundred bytes and more.
	MaxValues = 200_000
)

// Parse reads one JSON value as writers really leave it: bare NaN and Infinity,
// which Python writes, are null, control characters within strings are kept, and
// invalid UTF-8 and lone surrogates are replaced. budget is lowered by the number
// of values; rest is what follows the value. It is false when the document is cut
// short, malformed, nested deeper than 128 levels, or larger than the budget.
func Parse(text string, budget *int) (v Value, rest string, ok bool) {
	p := parser{s: text, budget: *budget}
	v, ok = p.value(0)
	*budget = p.budget
	if !ok {
		return Value{}, "", false
	}
	return v, p.s[p.at:], true
}

// ParseAll reads a text that holds one JSON value and nothing else. A byte order
// mark, blanks and NULs around it are ignored.
func ParseAll(text string, budget *int) (Value, bool) {
	v, rest, ok := Parse(strings.Trim(strings.TrimPrefix(text, "\ufeff"), " \t\r\n\x00"), budget)
	return v, ok && rest == ""
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

func (p *parser) value(depth int) (Value, bool) {
	p.space()
	p.budget--
	if p.at >= len(p.s) || depth > maxDepth || p.budget < 0 {
		return Value{}, false
	}
	switch c := p.s[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, ok := p.str()
		return Value{Kind: String, Text: s}, ok
	case p.word("true"):
		return Value{Kind: Bool, Text: "true"}, true
	case p.word("false"):
		return Value{Kind: Bool, Text: "false"}, true
	case p.word("null"), p.word("NaN"), p.word("-NaN"), p.word("Infinity"), p.word("-Infinity"):
		// Python writes numbers that JSON does not know; they carry no value.
		return Value{}, true
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return Value{}, false
}

func (p *parser) number() (Value, bool) {
	start := p.at
	for p.at < len(p.s) && strings.IndexByte("+-0123456789.eE", p.s[p.at]) >= 0 {
		p.at++
	}
	text := p.s[start:p.at]
	_, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return Value{}, false
	}
	return Value{Kind: Number, Text: text}, true
}

func (p *parser) array(depth int) (Value, bool) {
	p.at++
	v := Value{Kind: Array}
	for p.space(); p.at < len(p.s); p.space() {
		if p.s[p.at] == ']' {
			p.at++
			return v, true
		}
		if len(v.List) > 0 && !p.comma() {
			return Value{}, false
		}
		e, ok := p.value(depth + 1)
		if !ok {
			return Value{}, false
		}
		v.List = append(v.List, e)
	}
	return Value{}, false
}

func (p *parser) object(depth int) (Value, bool) {
	p.at++
	v := Value{Kind: Object}
	for p.space(); p.at < len(p.s); p.space() {
		if p.s[p.at] == '}' {
			p.at++
			return v, true
		}
		if len(v.Members) > 0 && !p.comma() {
			return Value{}, false
		}
		p.space()
		if p.at >= len(p.s) || p.s[p.at] != '"' {
			return Value{}, false
		}
		name, ok := p.str()
		if p.space(); !ok || p.at >= len(p.s) || p.s[p.at] != ':' {
			return Value{}, false
		}
		p.at++
		e, ok := p.value(depth + 1)
		if !ok {
			return Value{}, false
		}
		v.Members = append(v.Members, Member{name, e})
	}
	return Value{}, false
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
