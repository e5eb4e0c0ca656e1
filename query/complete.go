package query

import (
	"strings"
	"unicode/utf8"

	"vitrine/mappings"
)

// Completion is what the end of a text, as far as it is typed, could become.
type Completion struct {
	From   int    // byte offset of what is being typed; the text before it stays
	Field  *Field // whose value is being typed; nil: a word, or the name of a field
	Prefix string // as typed so far
	Closed bool   // nothing that is known is being typed
	inside bool   // a value of a field that stands before the group around it
}

// Complete finds what is being typed at the end of a text. The error is a
// *library.Error for a text that is too long.
func Complete(text string) (Completion, error) {
	r, err := newReader(text, Options{})
	if err != nil {
		return Completion{}, err
	}
	tokens := r.lex()
	c := Completion{From: len(text), Field: groupField(tokens)}
	c.inside = c.Field != nil
	if len(tokens) == 0 {
		return c, nil
	}
	last := tokens[len(tokens)-1]
	switch ended := last.at.end < len(r.text); {
	case last.kind == tokField:
		return Completion{From: last.at.start, Field: last.field}, nil
	case ended, !last.isValue():
		c.Closed = !ended && (last.kind == tokClose || last.kind == tokUnknown)
	default:
		c.From, c.Prefix = last.at.start, last.text
		c.parseContext(tokens[:len(tokens)-1], last.glued)
	}
	return c, nil
}

// parseContext looks at the tokens before the value that is being typed. A blank behind
// a field is left out, as when the query is read.
func (c *Completion) parseContext(tokens []token, glued bool) {
	if len(tokens) == 0 {
		return
	}
	switch prev := tokens[len(tokens)-1]; {
	case prev.kind == tokField:
		c.From, c.Field, c.inside = prev.at.start, prev.field, false
	case prev.kind == tokUnknown && glued:
		c.Closed = true
	}
}

// groupField is the field in front of the innermost open group that has one.
func groupField(tokens []token) *Field {
	fields := []*Field{nil}
	for i, t := range tokens {
		switch {
		case t.kind == tokOpen && i > 0 && tokens[i-1].kind == tokField:
			fields = append(fields, tokens[i-1].field)
		case t.kind == tokOpen:
			fields = append(fields, fields[len(fields)-1])
		case t.kind == tokClose && len(fields) > 1:
			fields = fields[:len(fields)-1]
		}
	}
	return fields[len(fields)-1]
}

// Apply writes a condition on one value in the place of what is being typed.
func (c Completion) Apply(f *Field, value string) string {
	if f == metadataKeyNames {
		if c.Field == nil {
			return value + ":"
		}
		f = c.Field
	}
	if !c.inside {
		return ConditionText(f, value)
	}
	if strings.HasPrefix(value, "-") || strings.Contains(value, ":") { // alone they negate, and name a field
		var b strings.Builder
		printQuoted(&b, value)
		return b.String()
	}
	return strings.TrimPrefix(ConditionText(f, value), f.Name+":")
}

// Fields lists the fields whose names begin with what is typed; none while a
// value is typed.
func (c Completion) Fields() []*Field {
	var out []*Field
	if c.Field != nil && !c.inside || c.Closed {
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

// CountedFields lists the fields whose values can be completed by counting them in the
// index: the one whose value is typed, or those that a bare word may mean.
func (c Completion) CountedFields() []*Field {
	if c.Closed {
		return nil
	}
	if strings.HasPrefix(mappings.FoldText(c.Prefix), mappings.MetadataPrefix) && (c.Field == nil || c.Field.Name == "has") {
		return []*Field{metadataKeyNames}
	}
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

// EnumValues lists the values of a field that has no others, as far as they begin with
// what is typed.
func (c Completion) EnumValues() []string {
	if c.Field == nil || c.Closed {
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
	return strings.HasPrefix(mappings.FoldText(value), mappings.FoldText(c.Prefix))
}

// withoutHits is the same search without hits, for what is to be counted.
func (s *Search) withoutHits() *Search {
	out := *s
	out.Size, out.Highlight, out.Aggs = 0, nil, map[string]any{}
	return &out
}

// CountConditions turns a compiled search into one that counts what conditions find,
// as ConditionText writes them: a condition on a part of a name finds more than one name.
func (s *Search) CountConditions(terms []string) (*Search, error) {
	out := s.withoutHits()
	for _, text := range terms {
		q, err := Parse(text, Options{})
		if err != nil {
			return nil, err
		}
		if _, ok := q.Tree.(*Const); !ok {
			out.Aggs[text] = clause{"filter": (&compiler{viewer: s.viewer, preds: map[*Pred]clause{}}).node(q.Tree, filtering)}
		}
	}
	return out, nil
}

// CountValues turns a compiled search into one that counts the values of fields,
// by name, of which a value, or for parts of names a word of it, begins with
// what is typed.
func (s *Search) CountValues(c Completion, size int) *Search {
	out := s.withoutHits()
	for _, f := range c.CountedFields() {
		count := clause{"field": f.Facet.Index, "size": size}
		if f.Type != TypeEnum {
			count["include"] = beginning(f, c.Prefix)
		}
		out.Aggs[f.Name] = clause{"filter": matchAll(), "aggs": clause{"values": clause{"terms": count}}}
	}
	return out
}

// longestBeginning is how many characters of what is typed the index compares. It
// refuses regular expressions of more than 1,000 characters, of which one typed takes
// up to four, and the time that one takes grows faster than its length.
const longestBeginning = 100

// cut returns the part of what is typed that the index compares.
func cut(typed string) string {
	n := 0
	for i := range typed {
		if n++; n > longestBeginning {
			return typed[:i]
		}
	}
	return typed
}

// Promises reports whether a value that the index counted can become what is typed:
// the index compares only the first hundred characters.
func (c Completion) Promises(value string) bool {
	if len(cut(c.Prefix)) == len(c.Prefix) {
		return true
	}
	blank := strings.NewReplacer("_", " ")
	return strings.Contains(blank.Replace(mappings.FoldText(value)), blank.Replace(mappings.FoldText(c.Prefix)))
}

// beginning is a regular expression in the notation of the index.
func beginning(f *Field, typed string) string {
	typed = cut(mappings.FoldText(typed))
	if f.Key != "" {
		typed = f.Key + "=" + typed
	}
	var b strings.Builder
	switch f.Type {
	case TypePart:
		b.WriteString(`(.*[ _/.\-\\])?`)
	case TypeMIME:
		b.WriteString("(.*/)?")
	}
	for _, r := range typed {
		if f.Type == TypeTag && (r == ' ' || r == '_') {
			b.WriteString("[ _]")
			continue
		}
		if r < 0x80 && !isLetterOrDigit(byte(r)) { // before a letter it would begin a class of characters
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String() + ".*"
}

func isLetterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// ConditionText writes a condition on one value as query text.
func ConditionText(f *Field, value string) string {
	var b strings.Builder
	b.WriteString(f.Name + ":")
	if f.plainValue(strings.ToLower(value)) {
		b.WriteString(value)
	} else {
		printQuoted(&b, value)
	}
	return b.String()
}
