package search_test

import (
	"fmt"
	"testing"
)

func TestUnknownWords_AMisspelledWordBesideOthersThatFindEnough(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	for i := range 5 {
		x.load(doc(i, fmt.Sprint("castle in the forest, watercolor ", i)), doc(100+i, "knight on a snow field"))
	}
	x.load(doc(200, "sorcerer"))
	for name, c := range map[string]struct{ query, mode, want string }{
		"repaired":                       {"knigth castle", "smart", "knight castle"},
		"with a filter":                  {"knigth castle mime_type:image/png", "smart", `knight castle mime_type:image/png`},
		"two of them":                    {"knigth watercolour forest", "smart", "knight watercolor forest"},
		"in a mode that needs every one": {"knigth snow", "boolean", "knight snow"},
		"nothing to repair":              {"knight castle", "smart", ""},
		"no word is like it":             {"dragon castle", "smart", ""},
		"only one asset has it":          {"sorcerex castle", "smart", ""},
		"words of asking":                {"show castle", "smart", ""},
		"too different for so short":     {"snia castle", "smart", ""},
	} {
		for range 2 { // the second time from what is remembered
			f := x.search(map[string]any{"query": c.query, "search_mode": c.mode})
			got := ""
			if f.DidYouMean != nil {
				got = f.DidYouMean.Query
			}
			if got != c.want {
				t.Errorf("%s: %q suggests %q instead of %q", name, c.query, got, c.want)
			}
		}
	}
}

func TestUnknownWords_OfEquallyCloseSpellingsTheOneThatGoesWithTheOtherWordsIsMeant(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	for i := range 4 {
		x.load(doc(i, "a house of stained glass"), doc(100+i, "gas lamps in the fog"), doc(200+i, "a gas station"), doc(300+i, "fog over hills"))
	}
	for sent, want := range map[string]string{
		"staned glas":           "stained glass",
		"stained glas":          "stained glass",
		"glas station":          "gas station",
		"glas":                  "gas", // the most frequent
		"stained house of glas": "stained house of glass",
	} {
		f := x.search(map[string]any{"query": sent})
		if f.DidYouMean == nil || f.DidYouMean.Query != want {
			t.Errorf("%q suggests %+v instead of %q", sent, f.DidYouMean, want)
		}
	}
}
