package query

import (
	"strings"
	"unicode/utf8"
)

// Completion is what the end of a text, as far as it is typed, could become.
type Completion struct {
	From   int    // byte offset of what is being typed; the text before it stays
	Field  *Field // whose value is being typed; nil: a word, or the name of a field
	Prefix string // as typed so far
	Closed bool   // behind a closing parenthesis nothing is being typed
}

// Complete finds what is being typed at the end of a text. The error is a
// *library.Fault for a text that is too long.
func Complete(text string) (Completion, error) {
	r, err := newReader(text, Options{})
	if err != nil {
		return Completion{}, err
	}
	tokens := r.lex()
	if len(tokens) == 0 || tokens[len(tokens)-1].at.end < len(r.text) {
		return Completion{From: len(text)}, nil
	}
	last := tokens[len(tokens)-1]
	c := Completion{From: last.at.start}
	switch {
	case last.kind == tokField:
		c.Field = last.field
	case !last.isValue():
		c.From, c.Closed = len(text), last.kind == tokClose
	default:
		c.Prefix = last.text
		if n := len(tokens); n > 1 && tokens[n-2].kind == tokField && last.glued {
			c.Field, c.From = tokens[n-2].field, tokens[n-2].at.start
		}
	}
	return c, nil
}

// Fields lists the fields whose names begin with what is typed; none while a
// value is typed.
func (c Completion) Fields() []*Field {
	var out []*Field
	if c.Field != nil || c.Closed {
		return nil
	}
	prefix := strings.ToLower(c.Prefix)
	for _, f := range fieldTable {
		if strings.HasPrefix(f.Name, prefix) {
			out = append(out, f)
		}
	}
	return out
}

// wordSources are the fields whose values a bare word could become.
var wordSources = []string{"tag", "model", "tool"}

// minCompleted is how many characters of a bare word are worth completing.
const minCompleted = 2

// Counted lists the fields whose values can be completed by counting them in the
// index: the one whose value is typed, or those that a bare word may mean.
func (c Completion) Counted() []*Field {
	if c.Field != nil {
		if c.Field.Facet == nil || c.Field.Facet.Kind != FacetTerms || c.Field.Type == TypeBool || c.Field.Type == TypeChain {
			return nil
		}
		return []*Field{c.Field}
	}
	if utf8.RuneCountInString(c.Prefix) < minCompleted {
		return nil
	}
	out := make([]*Field, len(wordSources))
	for i, name := range wordSources {
		out[i] = LookupField(name)
	}
	return out
}

// Fixed lists the values of a field that has no others, as far as they begin with
// what is typed.
func (c Completion) Fixed() []string {
	if c.Field == nil {
		return nil
	}
	values := c.Field.Values
	if c.Field.Type == TypeBool || c.Field.Type == TypeChain {
		values = []string{"true", "false"}
	}
	var out []string
	for _, v := range values {
		if c.Matches(v) {
			out = append(out, v)
		}
	}
	return out
}

// Matches reports whether a value begins with what is typed.
func (c Completion) Matches(value string) bool {
	return strings.HasPrefix(foldASCII(value), foldASCII(c.Prefix))
}

// CountValues turns a compiled search into one that counts the values of fields,
// by name, of which a value, or for parts of names a word of it, begins with
// what is typed.
func (s *Search) CountValues(c Completion, size int) *Search {
	out := *s
	out.Size, out.Highlight, out.Aggs = 0, nil, map[string]any{}
	for _, f := range c.Counted() {
		count := clause{"field": f.Facet.Index, "size": size}
		if f.Type != TypeEnum {
			count["include"] = beginning(f, c.Prefix)
		}
		out.Aggs[f.Name] = clause{"filter": matchAll(), "aggs": clause{"values": clause{"terms": count}}}
	}
	return &out
}

// beginning is a regular expression in the notation of the index.
func beginning(f *Field, typed string) string {
	var b strings.Builder
	if f.Type == TypePart {
		b.WriteString(`(.*[ _/.\-\\])?`)
	}
	for _, r := range foldASCII(typed) {
		if r < 0x80 && (r < '0' || r > '9') && (r < 'a' || r > 'z') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String() + ".*"
}

// Term writes a condition on one value as query text.
func Term(f *Field, value string) string {
	var b strings.Builder
	b.WriteString(f.Name + ":")
	if plainValue(strings.ToLower(value)) {
		b.WriteString(value)
	} else {
		printQuoted(&b, value)
	}
	return b.String()
}
