package run

import (
	"slices"

	"vitrine/query"
)

// The two retrievers score on scales that have nothing in common, so each is brought to
// one from 0 to 1 before they are added. docs/measurements/relevance.md tells how this was
// chosen over adding reciprocal ranks, which forget how far apart hits are.

// standoutRank is the hit that the best one is compared with.
const standoutRank = 10

// vectorWeight is how much of a score the meaning makes; the words make the rest.
// standing is the share of the best hit's score that the tenth has: where the
// words single few assets out they are trusted more, and where they find all of
// them alike the meaning is.
// Of a sentence the meaning tells more than its words, however they stand.
func vectorWeight(standing float64, sentence bool) float64 {
	if sentence {
		return sentenceWeight
	}
	return 0.2 + 0.4*standing
}

// sentenceWeight is how much of a score the meaning of a sentence makes.
const sentenceWeight = 0.65

// shareOfBest returns the scores of the lexical retriever as shares of the best, without what
// whole names add, and the share of the tenth.
func (a searchResponse) shareOfBest() (list []float64, standing float64) {
	list = make([]float64, len(a.Hits))
	for i, h := range a.Hits {
		list[i] = h.score()
		for _, name := range h.Matched {
			list[i] -= query.ExactMatchBoosts[name]
		}
	}
	if len(list) == 0 {
		return list, 1
	}
	best := slices.Max(list)
	for i := range list {
		if best > 0 {
			list[i] = max(0, list[i]/best)
		}
	}
	if len(list) < standoutRank {
		return list, 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return list, sorted[len(sorted)-standoutRank]
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
