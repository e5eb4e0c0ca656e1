package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokWord    tokenKind = iota // one word; stars holds its wildcards
	tokPhrase                   // quoted text
	tokField                    // a known field and its colon
	tokUnknown                  // an unknown prefix and its colon
	tokOpen
	tokClose
	tokAnd
	tokOr
	tokNot
	tokEmpty // made by the repair: a clause that is ignored, such as a field without a value
)

// token is one token of a query text. The lexer is total: every text is a list
// of tokens.
type token struct {
	kind  tokenKind
	text  string // escapes resolved
	stars []int  // byte offsets in text of the * that are wildcards
	field *Field // of tokField; after the repair, of the value or group behind it
	colon int    // of a word: where in text its last colon is that was not escaped, plus one; 0 = nowhere
	plain bool   // of a word: nothing in it was escaped
	not   bool   // after the repair: negated
	model bool   // a word or phrase out of <lora:name:weight>
	glued bool   // begins where the token before it ends
	at    span
}

func (t token) isValue() bool { return t.kind == tokWord || t.kind == tokPhrase }

type lexer struct {
	r      *reader
	s      string
	pos    int
	match  []uint16 // for each ( inside a run of non-blanks, where its ) is; 0 = nowhere in that run
	tokens []token
}

// lex splits the text of a reader. Depth and count limits are checked here, so
// later stages work on small lists only.
func (r *reader) lex() []token {
	l := &lexer{r: r, s: r.text, tokens: make([]token, 0, 4+len(r.text)/5)}
	if strings.IndexByte(l.s, '(') >= 0 {
		l.matchParens()
	}
	for l.skipBlanks() {
		l.next()
	}
	return l.tokens
}

func isBlank(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }

func isQuote(c rune) bool {
	switch c {
	case '"', '\u201C', '\u201D', '\u201E', '\u201F', '\uFF02': // straight, curly, full width
		return true
	}
	return false
}

func (l *lexer) skipBlanks() bool {
	for l.pos < len(l.s) {
		c, n := l.peek()
		if !isBlank(c) {
			return true
		}
		l.pos += n
	}
	return false
}

func (l *lexer) peek() (rune, int) {
	if c := l.s[l.pos]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(l.s[l.pos:])
}

// matchParens pairs parentheses within each run of non-blank characters, so that
// saber_(fate) is known to be one word without looking ahead again and again.
func (l *lexer) matchParens() {
	l.match = make([]uint16, len(l.s))
	var open []int
	for i := 0; i < len(l.s); {
		c, n := utf8.DecodeRuneInString(l.s[i:])
		switch {
		case isBlank(c):
			open = open[:0]
		case c == '\\' && i+1 < len(l.s):
			_, m := utf8.DecodeRuneInString(l.s[i+1:])
			n += m
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			l.match[open[len(open)-1]] = uint16(i) // MaxBytes fits
			open = open[:len(open)-1]
		}
		i += n
	}
}

func (l *lexer) add(t token) {
	if n := len(l.tokens); n > 0 {
		t.glued = l.tokens[n-1].at.end == t.at.start
	}
	l.tokens = append(l.tokens, t)
}

// next reads the token at a non-blank position.
func (l *lexer) next() {
	start := l.pos
	c, n := l.peek()
	switch {
	case c == '(':
		l.pos++
		l.add(token{kind: tokOpen, at: span{start, l.pos}})
	case c == ')':
		l.pos++
		l.add(token{kind: tokClose, at: span{start, l.pos}})
	case isQuote(c):
		l.pos += n
		l.phrase(start)
	case c == '-' && l.negates():
		l.pos++
		l.add(token{kind: tokNot, at: span{start, l.pos}})
		if l.s[l.pos] != '(' && !l.quoteHere() && !l.modelTag() {
			l.wordOrField(false)
		}
	case c == '<' && l.modelTag():
	default:
		l.wordOrField(true)
	}
}

// negates reports whether the minus here negates what follows directly. --word is
// text, as is a minus before nothing but punctuation, such as -> and -,
func (l *lexer) negates() bool {
	if l.pos+1 >= len(l.s) {
		return false
	}
	c, _ := utf8.DecodeRuneInString(l.s[l.pos+1:])
	return !isBlank(c) && c != '-' && c != ')' && !l.punctuationFrom(l.pos+1)
}

// punctuationFrom reports whether what stands from i up to the next blank is only
// punctuation, none of which means anything to the language.
func (l *lexer) punctuationFrom(i int) bool {
	for _, c := range l.s[i:] {
		switch {
		case isBlank(c):
			return true
		case c == '*' || c == '\\' || c == '(' || c == ')' || c == '<' || isQuote(c) || isWordRune(c):
			return false
		}
	}
	return true
}

// quoteHere reads a phrase when one begins here.
func (l *lexer) quoteHere() bool {
	c, n := l.peek()
	if !isQuote(c) {
		return false
	}
	start := l.pos
	l.pos += n
	l.phrase(start)
	return true
}

// wordOrField reads a field prefix or a word. Behind a minus a word is never an operator.
func (l *lexer) wordOrField(operators bool) {
	start := l.pos
	if name, ok := l.prefix(); ok && !l.drive(name) {
		l.pos += len(name) + 1
		at := span{start, l.pos}
		if f := LookupField(name); f != nil {
			l.add(token{kind: tokField, text: name, field: f, at: at})
		} else {
			l.add(token{kind: tokUnknown, text: name, at: at})
		}
		l.value()
		return
	}
	if operators && l.operator() {
		return
	}
	l.word(start)
}

// prefix finds "name:" with a letter first. x:// is a link, not a prefix.
func (l *lexer) prefix() (string, bool) {
	i := l.pos
	for i < len(l.s) {
		c := l.s[i] | 0x20
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == l.pos || (l.s[i] != '_' && (l.s[i] < '0' || l.s[i] > '9'))) {
			break
		}
		i++
	}
	if i < len(l.s) && l.s[i] == '.' {
		i = metadataKeyEnd(l.s, l.pos)
	}
	if i == l.pos || i >= len(l.s) || l.s[i] != ':' || strings.HasPrefix(l.s[i:], "://") {
		return "", false
	}
	return l.s[l.pos:i], true
}

// drive reports whether a prefix is the drive of a path, as in C:\pictures.
func (l *lexer) drive(name string) bool {
	return len(name) == 1 && strings.HasPrefix(l.s[l.pos+1:], `:\`)
}

// value reads what follows a prefix directly: a phrase, a group or a word, in
// which a leading minus is part of the value.
func (l *lexer) value() {
	if l.pos >= len(l.s) {
		return
	}
	c, n := l.peek()
	switch {
	case isBlank(c) || c == '(' || c == ')':
	case isQuote(c):
		start := l.pos
		l.pos += n
		l.phrase(start)
		l.rangeTail()
	default:
		l.word(l.pos)
		l.rangeTail()
	}
}

// rangeTail joins the pieces of "2024-01-01".."2024-02-01" and of >"2024-01-01"
// into one value.
func (l *lexer) rangeTail() {
	for l.pos < len(l.s) {
		last := &l.tokens[len(l.tokens)-1]
		c, n := l.peek()
		start := l.pos
		switch {
		case isQuote(c) && last.kind == tokWord && (strings.HasSuffix(last.text, "..") || isComparison(last.text)):
			l.pos += n
			l.phrase(start)
		case last.kind == tokPhrase && strings.HasPrefix(l.s[l.pos:], ".."):
			l.word(start)
		default:
			return
		}
		piece := l.tokens[len(l.tokens)-1]
		l.tokens = l.tokens[:len(l.tokens)-1]
		last = &l.tokens[len(l.tokens)-1]
		last.kind = tokWord
		last.text += piece.text
		last.at.end = piece.at.end
	}
}

func isComparison(s string) bool { return s == ">" || s == ">=" || s == "<" || s == "<=" }

// operator reads AND, OR or NOT when it is a whole token: followed by a blank, a
// parenthesis or the end.
func (l *lexer) operator() bool {
	for _, op := range [...]struct {
		name string
		kind tokenKind
	}{{"AND", tokAnd}, {"OR", tokOr}, {"NOT", tokNot}} {
		if !strings.HasPrefix(l.s[l.pos:], op.name) {
			continue
		}
		end := l.pos + len(op.name)
		if end < len(l.s) {
			c, _ := utf8.DecodeRuneInString(l.s[end:])
			if !isBlank(c) && c != '(' && c != ')' {
				continue
			}
		}
		l.add(token{kind: op.kind, text: op.name, at: span{l.pos, end}})
		l.pos = end
		return true
	}
	return false
}

// phrase reads quoted text whose opening quote is behind the position.
func (l *lexer) phrase(start int) {
	var b strings.Builder
	for l.pos < len(l.s) {
		c, n := l.peek()
		if c == '\\' && l.pos+1 < len(l.s) {
			e, m := utf8.DecodeRuneInString(l.s[l.pos+1:])
			if e == '\\' || isQuote(e) {
				b.WriteRune(e)
				l.pos += 1 + m
				continue
			}
		}
		l.pos += n
		if isQuote(c) {
			l.add(token{kind: tokPhrase, text: b.String(), at: span{start, l.pos}})
			return
		}
		b.WriteRune(c)
	}
	at := span{start, l.pos}
	_, n := utf8.DecodeRuneInString(l.s[start:])
	w := l.r.warn(UnclosedQuote, span{start, start + n}, "a quote is not closed; it was closed at the end")
	w.Suggestion = `add a closing "`
	l.add(token{kind: tokPhrase, text: b.String(), at: at})
}

// word reads a word from the position: up to a blank, a ) that it did not open,
// or a quote that has its closing quote. In a path with a drive a backslash is
// itself.
func (l *lexer) word(start int) {
	t := token{kind: tokWord, plain: true}
	name, path := l.prefix()
	path = path && l.drive(name)
	var b strings.Builder
	inside := 0
scan:
	for l.pos < len(l.s) {
		c, n := l.peek()
		switch {
		case isBlank(c):
			break scan
		case c == '\\' && !path:
			t.plain = false
			l.pos++
			if l.pos < len(l.s) {
				e, m := l.peek()
				b.WriteRune(e)
				l.pos += m
				continue
			}
			l.r.warn(DanglingEscape, span{l.pos - 1, l.pos}, "a backslash at the end escapes nothing; it was read literally")
			b.WriteByte('\\')
			continue
		case c == '(' && l.match[l.pos] > 0:
			inside++
		case c == ')' && inside == 0, isQuote(c) && l.pos > start && l.opens(l.pos+n):
			break scan
		case c == ')':
			inside--
		case c == ':':
			t.colon = b.Len() + 1
		case isQuote(c):
			l.r.warn(UnclosedQuote, span{l.pos, l.pos + n}, "a quote inside a word is not closed; it was read literally")
		case c == '*':
			t.stars = append(t.stars, b.Len())
		}
		b.WriteRune(c)
		l.pos += n
	}
	t.text, t.at = b.String(), span{start, l.pos}
	l.add(t)
}

// opens reports whether the quote before i, inside a word, begins a phrase: text
// follows directly, and a closing quote later. The one of 24" does not.
func (l *lexer) opens(i int) bool {
	if i >= len(l.s) {
		return false
	}
	c, n := utf8.DecodeRuneInString(l.s[i:])
	return !isBlank(c) && (isQuote(c) || strings.IndexFunc(l.s[i+n:], isQuote) >= 0)
}

// modelTag reads <lora:name:weight>, the way prompts load a model. It is text.
func (l *lexer) modelTag() bool {
	rest := l.s[l.pos:]
	if rest[0] != '<' {
		return false
	}
	end := strings.IndexByte(rest, '>')
	kind, body, ok := strings.Cut(rest[1:max(end, 1)], ":")
	if end < 0 || !ok || strings.ContainsAny(body, "<\n\\\"") {
		return false
	}
	switch strings.ToLower(kind) {
	case "lora", "lyco", "hypernet", "ti":
	default:
		return false
	}
	name, _, _ := strings.Cut(body, ":")
	name = oneLine(name)
	if name == "" {
		return false
	}
	start := l.pos
	l.pos += end + 1
	t := token{kind: tokWord, text: name, model: true, at: span{start, l.pos}}
	if strings.ContainsRune(name, ' ') {
		t.kind = tokPhrase
	}
	l.add(t)
	return true
}
