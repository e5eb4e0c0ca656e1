package query

import (
	"slices"
)

// Words of a query are all required. Where no asset has all of them, a search may be
// compiled again without some (Request.LeftOut): LeftOutSteps lists in which order.

// ByWords and ByMeaning name the clauses that say, in a hit's matched_queries, which
// retriever found it: the words with all that is required of them, or the vector.
const (
	ByWords   = "by_words"
	ByMeaning = "by_meaning"
)

// ranksAll reports whether the mode ranks by all words, so that some may be left out.
func (c *compiler) ranksAll() bool { return c.mode == Smart || c.mode == FullText }

// required leaves out the words that the request leaves out, unless none would remain.
func (c *compiler) required(text []Node) []Node {
	if len(c.leftOut) == 0 {
		return text
	}
	kept := slices.DeleteFunc(slices.Clone(text), func(n Node) bool {
		t, ok := n.(*Text)
		return ok && t.Kind == Word && slices.Contains(c.leftOut, t.Value)
	})
	if len(kept) == 0 {
		return text
	}
	return kept
}

// candidates compiles what is worth ranking in smart mode: what has any of the words
// that stand side by side. It is nil where that is no more than what must match, or
// too large for the index.
func (c *compiler) candidates(n Node) clause {
	if c.mode != Smart || !c.narrows {
		return nil
	}
	before := c.clauses
	c.broad = true
	out := c.tree(n)
	if c.broad = false; c.clauses > maxClauses {
		c.clauses = before
		return nil
	}
	return out
}

// Candidates is the search for what has any of the words, ranked as by Weigh. A hit
// that has what is required of them has ByWords among its matched queries; where
// all is false, every hit has.
func (s *Search) Candidates() (out *Search, all bool) {
	if s.candidates == nil {
		return s, true
	}
	c := *s
	c.inner = shouldMatch(s.candidates, clause{"bool": clause{"filter": []clause{s.inner}, "_name": ByWords}})
	c.Query = c.ranked(s.weights.Weights)
	return &c, false
}

// relaxable lists the words that a request may leave out, in the order of the query: plain
// words that stand beside other text. Phrases in quotes are insisted on.
func (c *compiler) relaxable(n Node) []*Text {
	if !c.ranksAll() {
		return nil
	}
	var list []*Text
	Visit(n, func(n Node, negated bool) bool {
		and, ok := n.(*And)
		if !ok || negated {
			return !negated
		}
		var words []*Text
		text := 0
		for _, child := range and.Children {
			if t, ok := child.(*Text); ok && t.Kind == Word && hasWord(t.Value) {
				words = append(words, t)
			}
			if hasPositiveText(child) {
				text++
			}
		}
		if text > 1 {
			list = append(list, words...)
		}
		return true
	})
	return list
}

// Relaxable lists the words that need not match where no asset has all words. It is
// empty where nothing can be left out.
func (s *Search) Relaxable() []string {
	list := make([]string, len(s.relax))
	for i, w := range s.relax {
		list[i] = w.text
	}
	return list
}

// CountRelaxable returns the searches that count, among what the conditions of the query
// leave, the assets with each of the Relaxable words, and all of them last.
func (s *Search) CountRelaxable() []*Search {
	list := make([]*Search, 0, len(s.relax)+1)
	for _, w := range s.relax {
		list = append(list, &Search{Query: clause{"bool": clause{"filter": []clause{s.KNNFilter, w.match}}}})
	}
	return append(list, &Search{Query: s.KNNFilter})
}

// Conditional reports whether the query or the request has conditions beside words.
func (s *Search) Conditional() bool { return s.conditional }

// relaxableWord is a word that may be left out.
type relaxableWord struct {
	text  string
	match clause
}

// mostSteps bounds how many readings are tried.
const mostSteps = 16

// LeftOutSteps lists what to leave out of words, step by step, until something has the
// rest: the words that only grammar needs, then those that people ask with, then those that
// nothing has, then the most frequent. counts says how many assets have each word. The
// rarest word is never left out. There is no step where no word occurs, or none but
// such as fit any picture.
func LeftOutSteps(words []string, counts []int64) [][]string {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	telling := func(i int) bool { return !IsWeakWord(words[i]) }
	weakLast := slices.ContainsFunc(order, telling)
	if weakLast && !slices.ContainsFunc(order, func(i int) bool { return telling(i) && counts[i] > 0 }) {
		return nil
	}
	class := classOfWords(words, counts, weakLast)
	slices.SortStableFunc(order, func(a, b int) int {
		if class(a) != class(b) {
			return class(a) - class(b)
		}
		return int(min(max(counts[b]-counts[a], -1), 1))
	})
	ends := stepEnds(order, class)
	steps := make([][]string, len(ends))
	for i, end := range ends {
		left := slices.Sorted(slices.Values(order[:end]))
		for _, at := range left {
			steps[i] = append(steps[i], words[at])
		}
	}
	return steps
}

// The classes of words in the order in which they are left out.
const (
	grammarClass = iota
	askingClass
	unknownClass
	frequentClass
)

// classOfWords returns the class of each word. In a request the words of asking go with
// those of grammar.
func classOfWords(words []string, counts []int64, weakLast bool) func(int) int {
	request := isRequest(words)
	return func(i int) int {
		switch {
		case weakLast && isFunctionWord(words[i]), weakLast && request && IsWeakWord(words[i]):
			return grammarClass
		case weakLast && IsWeakWord(words[i]):
			return askingClass
		case counts[i] == 0:
			return unknownClass
		}
		return frequentClass
	}
}

// stepEnds returns how many words of an order each step leaves out: each of the first
// classes at once, the frequent words one by one, or several where they are many.
func stepEnds(order []int, class func(int) int) (ends []int) {
	frequent := len(order)
	for i, at := range order {
		if i > 0 && class(at) != class(order[i-1]) {
			ends = append(ends, i)
		}
		if class(at) == frequentClass {
			frequent = i
			break
		}
	}
	if frequent == len(order) {
		return nil // no word occurs
	}
	stride := 1 + (len(order)-frequent)/mostSteps
	for i := frequent + stride; i < len(order); i += stride {
		ends = append(ends, i)
	}
	if last := len(order) - 1; last > frequent && (len(ends) == 0 || ends[len(ends)-1] != last) {
		ends = append(ends, last)
	}
	return ends
}

func isFunctionWord(w string) bool { return functionWords[bareWord(w)] }
