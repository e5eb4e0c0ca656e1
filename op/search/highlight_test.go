package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/query/run"
)

func TestHighlight_TellWhereTheWordsAre(t *testing.T) {
	t.Parallel()
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

func TestHighlight_MarksWhatTheWordsOfAQueryFind(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	d := doc(1, `a_b, red_hair girl <lora:neon_haze:0.8>, (a_b:1.2) two running foxes \(best\) <lora:a:1:lbw=ALL>, [cat|dog:0.5] it's a girl's hat`)
	d.Title, d.MIMEType, d.Tags = "Foxes at home", "image/png", []string{"dog"}
	x.load(d)
	for text, want := range map[string][]string{
		"a_b": {"a_b", "a_b"}, "b": {"b", "b"}, "hair": {"hair"}, "red_hair": {"red_hair"}, `"red hair"`: {"red", "hair"},
		"neon": {"neon"}, "haze": {"haze"}, "neon_haze": {"neon_haze"}, `"neon haze"`: {"neon", "haze"}, "a": {"a", "a", "a", "a"},
		"fox": {"foxes", "title: Foxes"}, "foxes": {"foxes", "title: Foxes"}, `"foxes"`: {"foxes", "title: Foxes"}, "run": {"running"}, "dogs": {"dog"}, "girl": {"girl", "girl"},
		"prompt:foxes": {"foxes"}, "title:foxes": {"title: Foxes"}, "title:foxes prompt:dog": {"dog", "title: Foxes"}, "fo*": {"foxes", "title: Foxes"},
		"two format:png tag:dog -kitten": {"two"}, "tag:dog": nil, "cat OR nothing": {"cat"},
	} {
		f := x.search(map[string]any{"query": text, "highlight": true})
		if len(f.Data) != 1 {
			t.Errorf("%s finds %d", text, len(f.Data))
			continue
		}
		var got []string
		for _, m := range f.Data[0].Highlights["prompt"].Matches {
			got = append(got, d.Prompt[m.Offset:m.Offset+m.Length])
		}
		for _, m := range f.Data[0].Highlights["title"].Matches {
			got = append(got, "title: "+d.Title[m.Offset:m.Offset+m.Length])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
