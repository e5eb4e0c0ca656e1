package query

import (
	"math"
	"strings"
	"unicode"
)

// The score of an asset is the sum, over the words and phrases of a query that it
// has, of the term's weight times how often and in how long a text it stands. The
// weight is how rare the term is among the assets that the caller may see. It is
// counted by the caller, because the index knows only how rare a term is among
// everybody's assets, which is nobody's business and would make one tenant's data
// move another's ranking. See docs/design/layout.md.

// ranker is how one word or phrase of a query adds to the score.
type ranker struct {
	text  string // what is counted, to remember the count by
	match clause // finds the assets that have it
	score func(weight float64) []clause
}

// sideBySide joins the plain words that stand side by side in an And; empty where
// they are one, too many, or not only words.
func sideBySide(n *And) string {
	var words []string
	for _, child := range n.Children {
		t, ok := child.(*Text)
		switch {
		case !ok:
		case t.Kind != Word:
			return ""
		case hasWord(t.Value):
			words = append(words, t.Value)
		}
	}
	if len(words) < 2 || len(words) > mostTogether {
		return ""
	}
	return strings.Join(words, " ")
}

// rank compiles the positive text of a tree for ranking.
func (s *Search) rank(c *compiler, n Node) {
	s.byClass = c.mode == Exact || c.mode == Partial
	if _, ok := n.(*Const); ok || s.byClass {
		return
	}
	s.sure = scoresAlways(n)
	known := map[string]bool{}
	Visit(n, func(n Node, negated bool) bool {
		if and, ok := n.(*And); ok && !negated {
			if joined := sideBySide(and); joined != "" {
				c.clauses += weight(joined)
				s.close = append(s.close, joined)
			}
		}
		t, ok := n.(*Text)
		if !ok || negated || t.Kind == Glob || !hasWord(t.Value) {
			return true
		}
		s.always = append(s.always, c.identifierClauses(t, scoring)...)
		if r := c.ranker(t); !known[r.text] {
			known[r.text] = true
			s.rankers = append(s.rankers, r)
		}
		return true
	})
	if c.mode == Smart || c.mode == FullText {
		s.always = append(s.always, c.exactMatches(semanticText(n))...)
	}
}

// ranker compiles one leaf. A plain word is ranked by its stem, so that an asset
// that has it in several forms is not ranked by one of them; anything else as it is
// looked for.
func (c *compiler) ranker(t *Text) ranker {
	var r ranker
	if word := bareWord(t.Value); isPlainWord(word) {
		r = ranker{"~" + word, stemOf(word, 1), func(w float64) []clause { return []clause{stemOf(word, w)} }}
		c.clauses++
	} else {
		match := c.analyzed(t, filtering)
		kind, times := "=", 1.0
		if t.Kind == Phrase {
			kind, times = `"`, phraseTimes
		}
		r = ranker{kind + t.Value, match, func(w float64) []clause { return []clause{boosted(match, w*times)} }}
	}
	score := r.score
	if t.Model {
		r.text, r.score = r.text+" model", func(w float64) []clause {
			return append(score(w), clause{"match_phrase": clause{"model_names.text": clause{"query": t.Value, "boost": modelTimes * w}}})
		}
		c.clauses += weight(t.Value)
	}
	if c.mode == Fuzzy {
		exact, slips := r.score, c.slips(t)
		r.score = func(w float64) []clause {
			list := exact(typedTimes * w)
			for _, s := range slips {
				list = append(list, s.score(w))
			}
			return list
		}
	}
	return r
}

// How many times its weight a term counts.
const (
	phraseTimes = 2 // in quotes
	modelTimes  = 3 // a name in a model tag, as the name of a model
	typedTimes  = 3 // in fuzzy mode, as it was typed
	closeTimes  = 1 // of all words together: that they stand side by side
)

// boosted copies a clause of one field, or of several, with a boost.
func boosted(c clause, boost float64) clause {
	for kind, body := range c {
		for field, options := range body.(clause) {
			m := clause{"boost": boost}
			for k, v := range options.(clause) {
				m[k] = v
			}
			return clause{kind: clause{field: m}}
		}
	}
	return c
}

// isPlainWord reports whether a text is certainly one token of letters and digits.
func isPlainWord(s string) bool {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r > 0x7f && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && unicode.IsLetter(r):
		default:
			return false
		}
	}
	return s != ""
}

// scoresAlways reports whether every asset that a tree finds has a word of it that
// scores.
func scoresAlways(n Node) bool {
	switch n := n.(type) {
	case *Text:
		return n.Kind != Glob && hasWord(n.Value)
	case *And:
		any, every := false, true // of the text, of which a mode may take a part as enough
		for _, child := range n.Children {
			t, isText := child.(*Text)
			switch {
			case isText && t.Kind != Glob && !hasWord(t.Value): // looked for only where it is alone
			case isText || onlyText(child):
				any, every = true, every && scoresAlways(child)
			case scoresAlways(child):
				return true
			}
		}
		return any && every
	case *Or:
		for _, child := range n.Children {
			if !scoresAlways(child) {
				return false
			}
		}
		return true
	}
	return false
}

// Terms lists what the ranking weighs, each to be counted by CountOf. It is empty
// where nothing is ranked by words.
func (s *Search) Terms() []string {
	list := make([]string, len(s.rankers))
	for i, r := range s.rankers {
		list[i] = r.text
	}
	return list
}

// CountOf returns the search that counts the assets with the i-th term among those
// that the caller may see; of all of them for -1.
func (s *Search) CountOf(i int) *Search {
	inner := clause(nil)
	if i >= 0 {
		inner = s.rankers[i].match
	}
	return &Search{Query: s.bounds.visible(inner)}
}

// Weight returns how much a term counts that n of all assets have: the logarithm of
// how rare it is, in steps that hide what a few assets more or less change, so that
// processes that counted at different times rank alike.
func Weight(n, all int64) float64 {
	n = min(n, all)
	const step = 8
	return max(1, math.Round(step*math.Log1p((float64(all-n)+0.5)/(float64(n)+0.5)))) / step
}

// TermWeights are how much the Terms of a search count. The zero value lets all count alike.
type TermWeights struct {
	Weights []float64 `json:"weights,omitempty"`
	// Attainable is the sum of the weights of the terms that some asset has: about what an
	// asset scores that has all of them once.
	Attainable float64 `json:"attainable,omitempty"`
	// Absent is the sum of the weights of the other terms, which no asset has.
	Absent float64 `json:"absent,omitempty"`
}

// WeighTerms returns the weights of terms of which each is in so many of all assets.
func WeighTerms(counts []int64, all int64) TermWeights {
	w := TermWeights{Weights: make([]float64, len(counts))}
	for i, n := range counts {
		w.Weights[i] = Weight(n, all)
		if n > 0 {
			w.Attainable += w.Weights[i]
		} else {
			w.Absent += w.Weights[i]
		}
	}
	return w
}

// Weigh returns the search ranked by the weights of its Terms.
func (s *Search) Weigh(w TermWeights) *Search {
	out := *s
	out.weights, out.Query = w, s.ranked(w.Weights)
	return &out
}

// ShareOfAttainable returns which share of what the words of the query can score a score is.
// It is above 1 for what has them several times, side by side or as a name.
func (s *Search) ShareOfAttainable(score float64) float64 {
	attainable := s.weights.Attainable
	if s.weights.Weights == nil {
		attainable = float64(len(s.rankers))
	}
	if attainable <= 0 {
		return 0
	}
	return score / attainable
}

// absentCounts is how much a term that no asset has counts beside one that some have. It may
// be a slip, or it may be what was looked for.
const absentCounts = 0.25

// Presence returns how much of what was asked for the terms are that some asset has, from 0
// to 1: the less, the less it says of an asset that it has these.
func (s *Search) Presence() float64 {
	if s.weights.Absent <= 0 {
		return 1
	}
	return s.weights.Attainable / (s.weights.Attainable + absentCounts*s.weights.Absent)
}

// ranked puts together what must hold and what scores. Terms without a weight
// count alike.
func (s *Search) ranked(weights []float64) clause {
	if s.byClass || !s.Scored {
		return s.bounds.wrap(s.inner, s.Scored)
	}
	var scores []clause
	mean := 0.0
	for i, r := range s.rankers {
		w := 1.0
		if i < len(weights) {
			w = weights[i]
		}
		mean += w / float64(len(s.rankers))
		scores = append(scores, r.score(w)...)
	}
	for _, joined := range s.close {
		scores = append(scores, wordsPhrase(joined, 2+slop(joined), closeTimes*mean)) // the index adds this up for each word
	}
	scores = append(scores, s.always...)
	if !s.sure {
		scores = append(scores, constantScore(matchAll(), 0))
	}
	return s.bounds.scored(s.inner, shouldMatch(scores...))
}
