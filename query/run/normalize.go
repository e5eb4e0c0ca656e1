package run

import (
	"slices"

	"vitrine/query"
)

// The two retrievers score on scales that have nothing in common, so each is brought to
// one from 0 to 1 before they are added. docs/measurements/relevance.md tells how this was
// chosen over adding reciprocal ranks, which forget how far apart hits are.

// vectorWeight is how much of a score the meaning makes; the words make the rest. Of a
// sentence the meaning tells more than of names, tags and keywords.
func vectorWeight(sentence bool) float64 {
	if sentence {
		return 0.65
	}
	return 0.55
}

// sharesOfAttainable returns the scores of the lexical retriever, without what whole names
// add, as shares of what the words of the query can score. So words weigh as much as the
// assets have of them: where the best hit has two of ten words, they tell little,
// and the meaning decides.
func (a searchResponse) sharesOfAttainable(compiled *query.Search) []float64 {
	list := make([]float64, len(a.Hits))
	for i, h := range a.Hits {
		list[i] = h.score()
		for _, name := range h.Matched {
			list[i] -= query.ExactMatchBoosts[name]
		}
		list[i] = compiled.ShareOfAttainable(max(0, list[i]))
	}
	return list
}

// minMaxNormalized returns where the scores of the vector retriever lie between its lowest
// and its highest.
func (a searchResponse) minMaxNormalized() []float64 {
	list := make([]float64, len(a.Hits))
	for i, h := range a.Hits {
		list[i] = h.score()
	}
	if len(list) == 0 {
		return list
	}
	low, high := slices.Min(list), slices.Max(list)
	for i := range list {
		if high > low {
			list[i] = (list[i] - low) / (high - low)
		} else {
			list[i] = 1
		}
	}
	return list
}
