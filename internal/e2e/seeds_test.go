package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestSeeds_BeyondTwoToThe53SurviveJavaScript: JSON.parse rounds such numbers, so that a seed
// sent back as a number finds nothing. As seed_text it goes in and out exactly.
func TestSeeds_BeyondTwoToThe53SurviveJavaScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seeds := []string{"9007199254740993", "9007199254740992", "18446744073709551615", "18446744073709551614", "6952411511246973023"}
	var hashes []string
	token := ""
	for i, seed := range seeds {
		made := "a fox in the snow\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: " + seed + ", Size: 48x32, Model: canaryModel, Version: v1.10.1"
		stored := w.StoreFile("", "fox"+seed+".png", "image/png", withText(picture(400+i, ""), "parameters", made))
		hashes, token = append(hashes, stored.Asset.AssetH), stored.IndexToken
	}
	w.Search("", "fox", token)
	var read []struct {
		Asset, Number string
		Texts         []string
		Found         [][]string
		Counted       [][]struct{ Count int }
	}
	program := nodeClient("seeds.mjs", "mcp-client-typescript-1")
	if err := json.Unmarshal(program(t, nil, "API_URL="+w.URL, "API_KEY="+w.Key, "ASSETS="+strings.Join(hashes, ",")), &read); err != nil || len(read) != len(seeds) {
		t.Fatalf("%d of %d were read: %v", len(read), len(seeds), err)
	}
	rounded := 0
	for i, got := range read {
		if got.Number != seeds[i] {
			rounded++
		}
		for surface, text := range got.Texts {
			if text != seeds[i] {
				t.Errorf("seed_text is %q, want %s", text, seeds[i])
			}
			if !slices.Equal(got.Found[surface], []string{hashes[i]}) {
				t.Errorf("seed:%s finds %v, want %s alone", text, got.Found[surface], hashes[i])
			}
			if len(got.Counted[surface]) != 1 || got.Counted[surface][0].Count != 1 {
				t.Errorf("the facets of seed:%s count %+v, want one asset", text, got.Counted[surface])
			}
		}
	}
	if rounded == 0 {
		t.Error("JavaScript read every number exactly: the test tries nothing")
	}
}
