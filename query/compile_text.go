package query

import (
	"slices"
	"strings"
	"unicode"

	"vitrine/library"
	"vitrine/mappings"
)

// textTier is a set of text fields that bare words are looked for in, with their
// weights. The negative prompt is in none: it names what a picture lacks.
type textTier struct {
	fields []string
	model  []string // the same with model names first, for <lora:name:1>
	narrow bool
}

// textTiers lists the sets from the full one down to the one for pasted pages.
var textTiers = []*textTier{
	{
		fields: []string{"title^2.2", "tags.text^2", "prompt^2", "model_names.text^1.5", "description", "filename.text"},
		model:  []string{"title^2.2", "tags.text^2", "prompt^2", "model_names.text^6", "description", "filename.text"},
	},
	{fields: []string{"title^2.2", "tags.text^2", "prompt^2"}, model: []string{"model_names.text^6", "tags.text^2", "prompt^2"}, narrow: true},
	{fields: []string{"prompt"}, model: []string{"model_names.text"}, narrow: true},
}

// excludedFields are where a negated word is looked for in smart mode.
var excludedFields = []string{"title", "tags.text", "prompt"}

func (t *textTier) names() []string {
	var names []string
	for _, f := range t.fields {
		name, _, _ := strings.Cut(f, "^")
		names = append(names, strings.TrimSuffix(name, ".text"))
	}
	return names
}

// Scores of the classes of a match in modes that rank by class.
const (
	scoreID       = 1000
	scoreTitle    = 100
	scoreFilename = 90
	scoreTag      = 50
	scoreModel    = 40
	scorePhrase   = 10
)

func (c *compiler) text(t *Text, u clauseContext) clause {
	if t.Kind == Glob {
		return c.glob(t)
	}
	named := c.identifierClauses(t, u)
	if len(named) == 0 {
		return c.leafIn(t, u)
	}
	c.clauses += len(named)
	return disMax(append(named, c.leafIn(t, u))...)
}

func (c *compiler) leafIn(t *Text, u clauseContext) clause {
	switch c.mode {
	case Exact:
		return c.exact(t.name())
	case Partial:
		return c.partial(t)
	case Fuzzy:
		return c.fuzzy(t, u)
	}
	return c.analyzed(t, u)
}

func (c *compiler) fields(t *Text, u clauseContext) []string {
	switch {
	case u == excluding && c.mode == Smart:
		return excludedFields
	case t.Model:
		return c.tier.model
	}
	return c.tier.fields
}

// analyzed looks for the words of a leaf next to each other in any text field. A
// long run of Chinese or Japanese is a sentence, of which most pairs suffice.
func (c *compiler) analyzed(t *Text, u clauseContext) clause {
	fields := c.fields(t, u)
	c.clauses += len(fields) * weight(t.Value)
	m := clause{"query": expandCompounds(t.Value), "fields": fields, "type": "phrase"}
	switch {
	case t.Kind == Word && c.mode != Boolean && u != excluding && cjkRunes(t.Value) > longCJK:
		m["query"], m["type"] = t.Value, "best_fields"
		m["minimum_should_match"] = "3<75%"
		c.clauses += len(fields) * cjkRunes(t.Value)
	case t.Kind == Phrase:
		m["boost"] = 2
		fallthrough
	default:
		if n := slop(t.Value); n > 0 {
			m["slop"] = n
		}
	}
	return clause{"multi_match": m}
}

const longCJK = 4

func (c *compiler) exact(v string) clause {
	c.clauses += 7 * weight(v)
	return disMax(
		constantScore(term("title.raw", v), scoreTitle),
		constantScore(term("filename", v), scoreFilename),
		constantScore(term("tags_norm", mappings.NormTag(v)), scoreTag),
		constantScore(anyOf("model_names", modelForms(v)), scoreModel),
		constantScore(phraseIn(v, "title", "description", "prompt"), scorePhrase),
	)
}

// modelForms gives a model name as typed and without folder and extension.
func modelForms(v string) []any {
	if f := library.FoldModelName(v); f != v && f != "" {
		return []any{v, f}
	}
	return []any{v}
}

func phraseIn(v string, fields ...string) clause {
	m := clause{"query": expandCompounds(v), "fields": fields, "type": "phrase"}
	if n := slop(v); n > 0 {
		m["slop"] = n
	}
	return clause{"multi_match": m}
}

// partial ranks a value's beginning over a word's beginning over its inside. One
// character is too little for the inside.
func (c *compiler) partial(t *Text) clause {
	v := strings.ToLower(t.name())
	if len([]rune(v)) < MinGlobText {
		c.clauses += 4 * weight(v)
		return constantScore(phraseIn(v, "title", "filename.text", "tags.text", "model_names.text"), 1)
	}
	c.clauses += 10 + 3*(weight(v)-1+strings.Count(v, " ")+cjkRunes(v))
	list := []clause{
		constantScore(prefix("title.raw", v), 8),
		constantScore(prefix("filename", v), 8),
		constantScore(prefix("tags_norm", mappings.NormTag(v)), 6),
		constantScore(prefix("model_names", v), 5),
		constantScore(clause{"multi_match": clause{"query": v, "type": "bool_prefix", "operator": "and", "fields": []string{"title.sayt", "title.sayt._2gram", "title.sayt._3gram"}}}, 4),
	}
	if len([]rune(v)) <= longestInside {
		inside := "*" + escapeGlob(v) + "*"
		list = append(list, constantScore(wildcard("title.w", inside), 1), constantScore(wildcard("filename.w", inside), 1), constantScore(wildcard("model_names.w", inside), 1))
	}
	return disMax(list...)
}

// longestInside is how many characters are looked for inside a name. What a pattern
// costs the index grows with the square of its length, and at some 450 it refuses.
const longestInside = 255

// longestFuzzy is how many characters a word may have to be looked for with slips: the
// time that takes grows with its length, to seconds at some hundreds.
const longestFuzzy = 64

// fuzzy also finds words one or two slips away; the word as typed counts three
// times. Runs of Chinese or Japanese have no letters to slip on.
func (c *compiler) fuzzy(t *Text, u clauseContext) clause {
	typed := c.analyzed(t, u)
	if t.Kind == Phrase || cjkRunes(t.Value) > 0 || len([]rune(t.Value)) > longestFuzzy {
		return typed
	}
	typed["multi_match"].(clause)["boost"] = 3
	fields := c.fields(t, u)
	expansions := min(max((maxClauses*3/4)/(len(fields)*max(c.words, 1)), 1), 50)
	c.clauses += len(fields) * expansions * weight(t.Value)
	return shouldMatch(typed, clause{"multi_match": clause{
		"query": t.Value, "fields": fields, "operator": "and", "tie_breaker": 0.2,
		"fuzziness": "AUTO", "prefix_length": 1, "max_expansions": expansions,
	}})
}

// glob compares whole names, titles and tags, and, unless it begins with a
// wildcard, the words of the prose.
func (c *compiler) glob(t *Text) clause {
	parts := lowered(t.Pattern)
	p := joinGlob(parts)
	list := []clause{wildcard("filename.w", p), wildcard("title.w", p), wildcard("tags_norm", tagGlob(parts)), wildcard("model_names.w", p)}
	if parts[0] != "" {
		p = joinGlob(folded(parts))
		list = append(list, wildcard("title", p), wildcard("prompt", p), wildcard("description", p))
	}
	c.clauses += len(list)
	return disMax(list...)
}

// exactMatches lets an asset whose title, tag or file name is the whole text come
// first: the text as its words were read, or as it was typed, because names hold
// marks that mean something to the language. The names of the clauses come back
// in a hit's matched_queries.
func (c *compiler) exactMatches(text string) []clause {
	var names, tags []any
	for _, form := range []string{text, c.typed} {
		if form != "" && len(form) <= mappings.MaxKeyword && !slices.Contains(names, any(form)) {
			names, tags = append(names, form), append(tags, mappings.NormTag(form))
		}
	}
	if text == "" || len(names) == 0 {
		return nil
	}
	if file := baseFilename(c.typed); file != "" && len(file) <= mappings.MaxKeyword {
		names = append(names, file)
	}
	c.clauses += 3
	named := func(name string, q clause) clause {
		return clause{"constant_score": clause{"filter": q, "boost": ExactMatchBoosts[name], "_name": name}}
	}
	return []clause{
		named("exact_title", anyOf("title.raw", names)),
		named("exact_filename", anyOf("filename", names)),
		named("exact_tag", anyOf("tags_norm", tags)),
	}
}

// ExactMatchBoosts is what each of the clauses for whole names adds to a hit's score,
// by the clause's name.
var ExactMatchBoosts = map[string]float64{"exact_title": 30, "exact_filename": 25, "exact_tag": 20}

// weight estimates how many clauses the analysis makes of a text in one field: a
// word with inner marks is looked for whole and in parts.
func weight(s string) int {
	n := 1
	inner := false
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSpace(r) {
			inner = inner || unicode.IsSpace(r)
			continue
		}
		n += 2
	}
	if inner && n > 1 {
		n += strings.Count(s, " ")
	}
	return n
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func cjkRunes(s string) int {
	n := 0
	for _, r := range s {
		if isCJK(r) {
			n++
		}
	}
	return n
}
