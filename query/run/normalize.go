package run

import (
	"math"
	"slices"

	"vitrine/query"
)

// The two retrievers score on scales that have nothing in common, so each is brought to
// one before they are added: half by where a score lies on its scale, half by how far it
// stands out from the other hits of its retriever. docs/measurements/relevance.md tells
// how this was chosen over adding reciprocal ranks, which forget how far apart hits are.

// How much of a score the meaning makes; the words make the rest.
const (
	keywordsWeight      = 0.55 // of names, tags and keywords
	shortSentenceWeight = 0.75 // of a sentence of shortSentence words or fewer
	longSentenceWeight  = 0.5  // of a sentence of longSentence words or more
	shortSentence       = 6
	longSentence        = 20
)

// vectorWeight is how much of a score the meaning makes. A short sentence means more than
// its words, which are few and common; of a long one an asset has many words or has
// not, which tells as much as one vector for all of them.
func vectorWeight(compiled *query.Search) float64 {
	if !compiled.Sentence() {
		return keywordsWeight
	}
	length := min(1, max(0, float64(len(compiled.Terms())-shortSentence)/(longSentence-shortSentence)))
	return shortSentenceWeight + (longSentenceWeight-shortSentenceWeight)*length
}

// outstandingShare is how much of a retriever's part a hit gets for standing out.
const outstandingShare = 0.5

// fullyOutstanding is how many standard deviations above the mean count like the upper
// end of the scale.
const fullyOutstanding = 5

// withOutstanding returns for each place on a scale the same with its part for standing
// out, which the values tell: how many standard deviations one is above their mean,
// nothing below it. Where all are alike, none stands out and places are all there is.
func withOutstanding(places, values []float64) []float64 {
	mean, deviation := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	deviation = math.Sqrt(deviation)
	out := slices.Clone(places)
	if deviation < alike*math.Abs(mean) || deviation == 0 {
		return out
	}
	for i, v := range values {
		out[i] = (1-outstandingShare)*places[i] + outstandingShare*max(0, v-mean)/deviation/fullyOutstanding
	}
	return out
}

// alike is the share of their mean below which differences are those of rounding.
const alike = 1e-6

// ofWords returns what the lexical retriever gives its hits: their shares of what the
// words of the query can score, and how they stand out. Both count less where
// words of the query occur nowhere, since the others are then a part of what was asked.
func (a searchResponse) ofWords(compiled *query.Search) []float64 {
	shares := a.sharesOfAttainable(compiled)
	list := withOutstanding(shares, shares)
	for i := range list {
		list[i] *= compiled.Presence()
	}
	return list
}

// ofMeaning returns what the vector retriever gives its hits: where their scores lie
// between the lowest and the highest, and how they stand out.
func (a searchResponse) ofMeaning() []float64 {
	scores := make([]float64, len(a.Hits))
	for i, h := range a.Hits {
		scores[i] = h.score()
	}
	return withOutstanding(minMaxNormalized(scores), scores)
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

// minMaxNormalized returns where values lie between the lowest and the highest of them.
func minMaxNormalized(values []float64) []float64 {
	list := slices.Clone(values)
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
