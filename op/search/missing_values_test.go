package search_test

import (
	"slices"
	"testing"

	"vitrine/query"
)

func TestSearch_AValueThatNoAssetHasIsNamedWithTheNearest(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	mine, theirs := doc(1, "a city"), doc(2, "a city")
	mine.ModelNames, mine.LoraNames, mine.Sampler = []string{"neon_haze"}, []string{"neon_haze"}, "dpmpp_2m"
	theirs.TenantID, theirs.ModelNames, theirs.LoraNames = tenantB, []string{"neon_maze"}, []string{"neon_maze"}
	private := doc(3, "a city")
	private.Owner, private.Visibility, private.ModelNames, private.LoraNames = "another", "private", []string{"neon_gaze"}, []string{"neon_gaze"}
	village := doc(6, "a village")
	village.Owner = reader.ID
	x.load(mine, theirs, private, village)
	for text, want := range map[string]string{
		"lora:neon_haza": "lora:neon_haze", "lora:neon_maze": "lora:neon_haze", "lora:neon_gaze": "lora:neon_haze", "tag:grup1": "tag:group1",
		"city sampler:dpmp_2m": "sampler:dpmpp_2m", "lora:neon-haze": "", "lora:neon_haze -tag:nosuch": "", "lora:neon_haze tag:group6": "", "lora:wholly_other": "-",
		"owner:me lora:neon_haze": "", "owner:nobody": "-",
	} {
		var out struct {
			Data           []struct{ Matched string }
			Interpretation struct{ Warnings []query.Warning }
		}
		if err := x.try("SearchAssets", map[string]any{"query": text}, &out); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(out.Interpretation.Warnings, func(w query.Warning) bool { return w.Code == query.NoSuchValue })
		got := ""
		if i >= 0 {
			if got = out.Interpretation.Warnings[i].Suggestion; got == "" {
				got = "-"
			}
		}
		if got != want {
			t.Errorf("%s: suggests %q, want %q", text, got, want)
		}
	}
}
