package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/mappings"
)

// Bounds of what is looked at for spelling.
const (
	maxSpelled    = 6  // words of a query
	minSpelled    = 4  // letters of a word
	maxCandidates = 36 // spellings per word
)

// spelledFields are where the words of a library are looked for.
var spelledFields = []string{"prompt", "title", "tags.text"}

// Words lists the distinct positive words of a query that could be misspelled.
func (q *Query) Words() []string {
	var out []string
	Visit(q.Tree, func(n Node, negated bool) bool {
		t, ok := n.(*Text)
		if !ok || negated || t.Kind == Glob {
			return true
		}
		for _, w := range strings.Fields(t.Value) {
			if w = strings.ToLower(w); spellable(w) && !questionWords[w] && !slices.Contains(out, w) && len(out) < maxSpelled {
				out = append(out, w)
			}
		}
		return true
	})
	return out
}

// spellable reports whether a word is made of letters that can be swapped.
func spellable(w string) bool {
	for _, r := range w {
		if !unicode.IsLetter(r) || isCJK(r) {
			return false
		}
	}
	return utf8.RuneCountInString(w) >= minSpelled
}

// questionWords are words of people who ask in sentences. A library that has none of them
// has other words, but not better spellings: "show me" is not "snow me".
var questionWords = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq("about also another anything been both containing contains could done each every feel feelings feels find from give have " +
		"having image images into just kind like likes looking looks made make manner many more most much need other over photo photos picture " +
		"pictures please search shot show showing shows some someone something such than that their them then there these they thing things this those " +
		"under very want wants were what when where which while will with without would your") {
		all[w] = true
	}
	return all
}()

// PlausibleTypo reports whether a word may be a slip of another: one slip in a short
// word, two in a long one.
func PlausibleTypo(word, meant string) bool {
	if utf8.RuneCountInString(word) <= shortWord {
		return distance(word, meant, 3) <= 1
	}
	return distance(word, meant, 3) <= 2
}

// shortWord is the longest word of which two slips make any other.
const shortWord = 5

// WithSpelling writes the query with other words in the place of its own, and reads
// it again.
func (q *Query) WithSpelling(better map[string]string) (*Query, error) {
	tree := Map(q.Tree, func(n Node, negated bool) Node {
		t, ok := n.(*Text)
		if !ok || negated || t.Kind == Glob {
			return n
		}
		words := strings.Fields(t.Value)
		for i, w := range words {
			if b := better[strings.ToLower(w)]; b != "" {
				words[i] = b
			}
		}
		out := *t
		out.Value = strings.Join(words, " ")
		return &out
	})
	return Parse(Print(tree), Options{})
}

// NameWords lists the distinct positive words of a query that could be parts of names.
func (q *Query) NameWords() []string {
	var out []string
	Visit(q.Tree, func(n Node, negated bool) bool {
		t, ok := n.(*Text)
		if !ok || negated || t.Kind != Word {
			return true
		}
		w := nameOf(t)
		if utf8.RuneCountInString(w) >= minNamed && hasWord(w) && !questionWords[w] && !slices.Contains(out, w) && len(out) < maxSpelled {
			out = append(out, w)
		}
		return true
	})
	return out
}

// minNamed is how many characters of a name are worth looking for.
const minNamed = 3

func nameOf(t *Text) string { return strings.ToLower(t.name()) }

// nameFields are where a word that is in no text may be a name or a part of one.
var nameFields = []string{"model", "sampler", "scheduler", "base_model", "tool", "creator", "filename"}

// NameConditions writes the conditions in which a word would be a name, the likeliest
// first. What may be a misspelled word is not looked for in file names, which often
// hold the beginning of a prompt.
func NameConditions(word string) []string {
	var out []string
	for _, f := range nameFields {
		if f != "filename" || !spellable(word) {
			out = append(out, ConditionText(LookupField(f), word))
		}
	}
	return out
}

// WithConditions writes the query with conditions in the place of words, and reads it again.
func (q *Query) WithConditions(conditions map[string]string) (*Query, error) {
	tree := Map(q.Tree, func(n Node, negated bool) Node {
		t, ok := n.(*Text)
		if !ok || negated || t.Kind != Word || conditions[nameOf(t)] == "" {
			return n
		}
		condition, err := Parse(conditions[nameOf(t)], Options{})
		if err != nil {
			return n
		}
		return condition.Tree
	})
	return Parse(Print(tree), Options{})
}

// SpellingCandidates is the request for words of a tenant that are spelled like the given
// ones. They may be words of private assets: none may be shown before CountWords has
// found it among what the caller may see.
func SpellingCandidates(tenant library.TenantID, words []string) map[string]any {
	suggest, own := clause{}, mappings.VocabularyPrefix(tenant)
	for _, w := range words {
		suggest[w] = clause{"text": own + mappings.FoldText(w), "term": clause{"field": mappings.VocabularyField, "size": maxCandidates, "suggest_mode": "always",
			"prefix_length": utf8.RuneCountInString(own) + 1, "min_word_length": minSpelled, "max_edits": 2,
			"max_term_freq": 1e9}} // a share by default, of everybody's assets
	}
	return map[string]any{"size": 0, "_source": false, "track_total_hits": false, "suggest": suggest}
}

// CountWords turns a compiled search for everything into one that counts how many
// assets each word occurs in, as a facet by the word.
func (s *Search) CountWords(words []string) *Search {
	out := s.withoutHits()
	for _, w := range words {
		out.Aggs[w] = clause{"filter": containsAny(w)}
	}
	return out
}

// CountCooccurrences does the same for assets that have, beside the word, any of the
// words it stands for in the map.
func (s *Search) CountCooccurrences(words map[string][]string) *Search {
	out := s.withoutHits()
	for w, others := range words {
		out.Aggs[w] = clause{"filter": clause{"bool": clause{"filter": []clause{containsAny(w), containsAny(strings.Join(others, " "))}}}}
	}
	return out
}

// containsAny finds assets that have any of some words.
func containsAny(words string) clause {
	return clause{"multi_match": clause{"query": words, "fields": spelledFields}}
}

// CompareSpelling compares two spellings of a word by how few slips lie between; negative
// when a is closer.
func CompareSpelling(word, a, b string) int { return distance(word, a, 4) - distance(word, b, 4) }
