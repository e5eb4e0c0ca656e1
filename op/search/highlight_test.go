package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/query/run"
)

func TestHighlight_TellWhereTheWordsAre(t *testing.T) {
	x := newIndex(t, nil)
	x.load(doc(1, "\n 最高品質, best_quality, a (sleeping cat:1.2) & a dog, quality "))
	for _, mode := range []string{"smart", "fulltext", "boolean", "fuzzy"} {
		f := x.search(map[string]any{"query": "cat quality", "search_mode": mode, "highlight": true})
		if len(f.Data) != 1 {
			t.Fatalf("%s finds %d", mode, len(f.Data))
		}
		want := map[string]run.Highlight{"prompt": {
			Fragments: []string{"最高品質, best_<em>quality</em>, a (sleeping <em>cat</em>:1.2) &amp; a dog, <em>quality</em>"},
			Matches: []run.Match{{Offset: 21, Length: 7, RuneOffset: 13, RuneLength: 7},
				{Offset: 42, Length: 3, RuneOffset: 34, RuneLength: 3}, {Offset: 60, Length: 7, RuneOffset: 52, RuneLength: 7}},
		}}
		if diff := cmp.Diff(want, f.Data[0].Highlights); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mode, diff)
		}
	}
	if f := x.search(map[string]any{"query": "cat"}); f.Data[0].Highlights != nil {
		t.Errorf("without being asked for there are %v", f.Data[0].Highlights)
	}
}
