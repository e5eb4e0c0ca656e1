package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/mappings"
)

// excludedFields are where a negated word is looked for in smart mode.
var excludedFields = []string{"title", "tags.text", "prompt"}

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

// analyzed looks for the words of a leaf next to each other in any text field. A
// long run of Chinese or Japanese is a sentence, of which most pairs suffice.
func (c *compiler) analyzed(t *Text, u clauseContext) clause {
	switch {
	case u == excluding && c.mode == Smart:
		c.clauses += len(excludedFields) * weight(t.Value)
		return phraseIn(t.Value, excludedFields...)
	case c.isSentence(t) && u != excluding:
		c.clauses += cjkRunes(t.Value)
		return clause{"match": clause{mappings.WordsField: clause{"query": t.Value, "minimum_should_match": "3<75%"}}}
	}
	c.clauses += weight(t.Value)
	if stem := t.stemmed(); stem != "" && c.ranksAll() && u != excluding {
		return stemOf(stem, 1)
	}
	return wordsPhrase(t.Value, slop(t.Value), 1)
}

// stemmed returns the word that a leaf is looked for by in all its forms, where rankings
// go by all words; empty where it is looked for as it stands.
func (n *Text) stemmed() string {
	if n.Kind != Word || n.Model {
		return ""
	}
	if w := bareWord(n.Value); isPlainWord(w) {
		return w
	}
	return ""
}

// stemOf finds assets with any form of a word in one of their text fields.
func stemOf(word string, boost float64) clause {
	return clause{"match": clause{mappings.WordsField: clause{"query": word, "analyzer": mappings.StemAnalyzer, "boost": boost}}}
}

// isSentence reports whether a leaf is a run of characters too long to be one word.
func (c *compiler) isSentence(t *Text) bool {
	return t.Kind == Word && c.mode != Boolean && cjkRunes(t.Value) > longCJK
}

// wordsPhrase finds assets with the words of a text next to each other in one of
// their text fields; between the values of WordsField is a gap that no slop spans.
func wordsPhrase(v string, slop int, boost float64) clause {
	m := clause{"query": expandCompounds(v)}
	if slop > 0 {
		m["slop"] = slop
	}
	if boost != 1 {
		m["boost"] = boost
	}
	return clause{"match_phrase": clause{mappings.WordsField: m}}
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

// modelForms returns a model name as typed and without folder and extension.
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

// fuzzy also finds words one or two slips away. Runs of Chinese or Japanese have no
// letters to slip on.
func (c *compiler) fuzzy(t *Text, u clauseContext) clause {
	typed := c.analyzed(t, u)
	slips := c.slips(t)
	if len(slips) == 0 {
		return typed
	}
	list := make([]clause, len(slips))
	for i, s := range slips {
		list[i] = s.clause()
	}
	return shouldMatch(typed, all(list...))
}

// slip looks for the words of a tenant that are spelled like a word: one slip away
// for a short word, two for a long one, none in the first letter. The closest come
// first.
type slip struct {
	tenant library.TenantID
	word   string
	most   int // words that are looked for
}

func (s slip) query() clause {
	own, slips := mappings.VocabularyPrefix(s.tenant), 1
	if utf8.RuneCountInString(s.word) > shortWord {
		slips = 2
	}
	return clause{"value": own + s.word, "fuzziness": slips, "prefix_length": utf8.RuneCountInString(own) + 1, "max_expansions": s.most}
}

func (s slip) clause() clause { return clause{"fuzzy": clause{mappings.VocabularyField: s.query()}} }

// score is the clause as it ranks: the fewer slips, the more of the weight.
func (s slip) score(weight float64) clause {
	q := s.query()
	q["boost"], q["rewrite"] = weight, fmt.Sprintf("top_terms_boost_%d", s.most)
	return clause{"fuzzy": clause{mappings.VocabularyField: q}}
}

// slips lists the words of a leaf that may be slips of others.
func (c *compiler) slips(t *Text) (list []slip) {
	if t.Kind != Word || cjkRunes(t.Value) > 0 {
		return nil
	}
	most := min(max((maxClauses*3/8)/max(c.words, 1), 1), 50)
	mappings.Words(t.Value, func(word string) {
		c.clauses += most
		list = append(list, slip{c.tenant, word, most})
	})
	return list
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
