package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vitrine/library"
	"vitrine/query"
)

func read(t *testing.T, hits string) searchResponse {
	t.Helper()
	var a searchResponse
	if err := a.ReadJSON([]byte(`{"hits":{"hits":[` + hits + `]}}`)); err != nil {
		t.Fatal(err)
	}
	return a
}

var nearly = cmpopts.EquateApprox(0, 1e-9)

// compiled is a search for red cat whose words can score so much.
func compiled(t *testing.T, attainable float64) *query.Search {
	t.Helper()
	q, err := query.Parse("red cat", query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := query.Compile(q, query.Request{Tenant: "11111111-1111-1111-1111-111111111111"})
	if err != nil {
		t.Fatal(err)
	}
	return s.Weigh(query.TermWeights{Weights: []float64{attainable, 0}, Attainable: attainable})
}

func TestNormalize_ScoresOfWordsAreSharesOfWhatTheyCanBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hits       string
		attainable float64
		want       []float64
	}{
		"no hit":            {"", 8, []float64{}},
		"some of the words": {`{"_score":4},{"_score":1}`, 8, []float64{0.5, 0.125}},
		"more than once":    {`{"_score":10}`, 8, []float64{1.25}},
		"what a whole name adds does not count": {`{"_score":34,"matched_queries":["exact_title"]},{"_score":8},{"_score":22,"matched_queries":["exact_tag"]}`, 8,
			[]float64{0.5, 1, 0.25}},
		"a score of nothing":    {`{"_score":0}`, 8, []float64{0}},
		"no word occurs at all": {`{"_score":2}`, 0, []float64{0}},
	} {
		if diff := cmp.Diff(c.want, read(t, c.hits).sharesOfAttainable(compiled(t, c.attainable)), nearly); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestNormalize_TheMeaningDecidesWhereNoAssetHasManyOfTheWords(t *testing.T) {
	t.Parallel()
	words := read(t, `{"fields":{"asset_h":["words"]},"_score":4},{"fields":{"asset_h":["near"]},"_score":1}`)
	near := read(t, `{"fields":{"asset_h":["near"]},"_score":0.9},{"fields":{"asset_h":["words"]},"_score":0.8},{"fields":{"asset_h":["far"]},"_score":0.5}`)
	for attainable, first := range map[float64]library.AssetHash{4: "words", 40: "near"} {
		if f := fuseScores(compiled(t, attainable), lexicalHits{words, true, 2}, near, &QueryVector{MinSimilarity: -1}); f.hashes[0] != first {
			t.Errorf("where 4 of %g are reached, %s comes first, want %s", attainable, f.hashes[0], first)
		}
	}
}

func TestNormalize_ScoresOfMeaningLieBetweenTheFarthestAndTheNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ values, want []float64 }{
		{nil, nil},
		{[]float64{3}, []float64{1}},
		{[]float64{0.9, 0.8, 0.5}, []float64{1, 0.75, 0}},
	} {
		if diff := cmp.Diff(c.want, minMaxNormalized(c.values), nearly); diff != "" {
			t.Errorf("%v: %s", c.values, diff)
		}
	}
}

func TestNormalize_WhatStandsOutOfItsRetrieversHitsCountsForMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ places, values, want []float64 }{
		{nil, nil, []float64{}},
		{[]float64{0.8}, []float64{4}, []float64{0.8}},                                     // alone
		{[]float64{1, 1, 1}, []float64{0.1, 0.1, 0.1}, []float64{1, 1, 1}},                 // all alike
		{[]float64{1, 0, 0, 0, 0}, []float64{9, 4, 4, 4, 4}, []float64{0.7, 0, 0, 0, 0}},   // two deviations above the mean
		{[]float64{1, 1, 0, 0}, []float64{9, 9, 4, 4}, []float64{0.6, 0.6, 0, 0}},          // one
		{[]float64{1, 0.5, 0}, []float64{6, 5, 4}, []float64{0.5 + 0.1224744871, 0.25, 0}}, // what is on the mean gets its place alone
	} {
		if diff := cmp.Diff(c.want, withOutstanding(c.places, c.values), nearly, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%v: %s", c.values, diff)
		}
	}
}

func TestNormalize_TheLongerASentenceTheMoreItsWordsCount(t *testing.T) {
	t.Parallel()
	long := "the old man who sat with his dog near a river until rain fell over dark hills and every boat left that empty harbor before night"
	for text, want := range map[string]float64{
		"red cat":           keywordsWeight,
		"a cat on the roof": shortSentenceWeight,
		long:                longSentenceWeight,
		"a cat sits on the roof of an old house at night": shortSentenceWeight + (longSentenceWeight-shortSentenceWeight)*6/14,
	} {
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := query.Compile(q, query.Request{Tenant: "11111111-1111-1111-1111-111111111111"})
		if err != nil {
			t.Fatal(err)
		}
		if got := vectorWeight(s); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%q, %d terms: the meaning weighs %g, want %g", text, len(s.Terms()), got, want)
		}
	}
}

func TestNormalize_WordsCountLessWhereOthersOfTheQueryOccurNowhere(t *testing.T) {
	t.Parallel()
	s := compiled(t, 6)
	hits := read(t, `{"_score":6}`)
	if got := hits.ofWords(s); got[0] != 1 {
		t.Errorf("all words are there: %g", got[0])
	}
	if got := hits.ofWords(s.Weigh(query.WeighTerms([]int64{2, 0}, 10))); got[0] >= hits.ofWords(s.Weigh(query.WeighTerms([]int64{2, 5}, 10)))[0] {
		t.Errorf("a query of which a word occurs nowhere counts its words like another: %g", got[0])
	}
	if got := hits.ofWords(s.Weigh(query.WeighTerms([]int64{0, 0}, 10))); got[0] != 0 {
		t.Errorf("no word occurs: %g", got[0])
	}
}

func TestNormalize_AScoreNeverReachesTheNextClass(t *testing.T) {
	t.Parallel()
	f := fusion{}
	f.rank(candidates{"often": {hash: "often", score: 3}, "tag": {hash: "tag", class: 1, score: 0.2}})
	if diff := cmp.Diff([]library.AssetHash{"tag", "often"}, f.hashes); diff != "" || f.scores["tag"] <= f.scores["often"] {
		t.Errorf("%v score %v", f.hashes, f.scores)
	}
}

func TestNormalize_TheHeadIsBestFirstAndAboveWhatFollows(t *testing.T) {
	t.Parallel()
	words := read(t, `{"fields":{"asset_h":["a"]},"_score":4},{"fields":{"asset_h":["b"]},"_score":1},{"fields":{"asset_h":["title"]},"_score":31,"matched_queries":["exact_title"]}`)
	near := read(t, `{"fields":{"asset_h":["b"]},"_score":0.9},{"fields":{"asset_h":["c"]},"_score":0.7},{"fields":{"asset_h":["d"]},"_score":0.5}`)
	f := fuseScores(compiled(t, 2), lexicalHits{words, true, 3}, near, &QueryVector{MinSimilarity: -1})
	// a has most of the words, b some and is nearest, c is half as near, d farthest.
	want := []library.AssetHash{"title", "a", "b", "c", "d"}
	if diff := cmp.Diff(want, f.hashes); diff != "" {
		t.Error(diff)
	}
	if f.total != 5 {
		t.Errorf("total %d instead of 5: neighbours that the words find count once", f.total)
	}
	for i, h := range f.hashes {
		if i > 0 && f.scores[h] > f.scores[f.hashes[i-1]] {
			t.Errorf("%s scores more than the one before it", h)
		}
		if f.scores[h] <= rankScore(len(f.hashes)) {
			t.Errorf("%s in the head scores %g, what follows it %g", h, f.scores[h], rankScore(len(f.hashes)))
		}
	}
}

func TestFusion_SomeOfTheWordsRankWhatIsNearAndFindNothing(t *testing.T) {
	t.Parallel()
	words := read(t, `{"fields":{"asset_h":["all"]},"_score":4,"matched_queries":["by_words"]},{"fields":{"asset_h":["some and near"]},"_score":1},`+
		`{"fields":{"asset_h":["some"]},"_score":0.8},{"fields":{"asset_h":["some and far"]},"_score":0.5}`)
	near := read(t, `{"fields":{"asset_h":["near"]},"_score":0.9},{"fields":{"asset_h":["some and near"]},"_score":0.85},{"fields":{"asset_h":["some and far"]},"_score":0.55},{"fields":{"asset_h":["all"]},"_score":0.5}`)
	f := fuseScores(compiled(t, 2), lexicalHits{words, false, 1}, near, &QueryVector{MinSimilarity: 0.2})
	if diff := cmp.Diff([]library.AssetHash{"all", "some and near", "near"}, f.hashes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{false, true, true}, f.similar); diff != "" {
		t.Error(diff)
	}
	if f.total != 3 || f.lexicalTotal != 1 || !f.complete || len(f.uncounted) > 0 {
		t.Errorf("total %d, by words %d, complete %v, uncounted %v; want 3, 1, and all known", f.total, f.lexicalTotal, f.complete, f.uncounted)
	}
}

func TestMinSimilarity_BesideAVeryNearOneTheFartherAreNotSimilar(t *testing.T) {
	t.Parallel()
	near := read(t, `{"_score":0.9},{"_score":0.75},{"_score":0.72},{"_score":0.63}`) // cosines 0.8, 0.5, 0.44, 0.26
	for _, c := range []struct {
		least, share float64
		want         int
	}{{0.24, 0, 4}, {0.24, 0.6, 2}, {0.24, 0.5, 3}, {0.55, 0.5, 1}, {0.9, 0.5, 0}, {-1, 0.6, 4}} {
		m := QueryVector{MinSimilarity: c.least, ShareOfBest: c.share}
		if got := len(m.aboveMinSimilarity(near).Hits); got != c.want {
			t.Errorf("above %g and %g of the best are %d, want %d", c.least, c.share, got, c.want)
		}
	}
}
