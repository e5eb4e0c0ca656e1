package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/mappings"
)

// pages collects all hits of a search, two at a time, by offset or by cursor.
func (x *index) pages(args map[string]any, byCursor bool) (all found) {
	x.t.Helper()
	args = with(args, "limit", 2)
	if byCursor {
		args["cursor"] = "*"
	}
	for {
		f := x.search(args)
		if len(all.Data) > 0 && (f.Total != all.Total || f.ByWords != all.ByWords || fmt.Sprint(f.Relaxed) == fmt.Sprint(nil) != (all.Relaxed == nil)) {
			x.t.Errorf("%v: a page has total %d, by words %d, relaxed %v; the first had %d, %d, %v", args, f.Total, f.ByWords, f.Relaxed, all.Total, all.ByWords, all.Relaxed)
		}
		f.Data = append(all.Data, f.Data...)
		all = f
		switch {
		case byCursor && f.NextCursor != "":
			args["cursor"] = f.NextCursor
		case !byCursor && f.NextOffset != nil:
			args["offset"] = *f.NextOffset
		default:
			return all
		}
	}
}

func (f found) matched() map[library.AssetHash]string {
	out := map[library.AssetHash]string{}
	for _, d := range f.Data {
		out[d.Hash] = d.Matched
	}
	return out
}

func (f found) leftOut() string {
	if f.Relaxed == nil {
		return ""
	}
	return strings.Join(f.Relaxed.LeftOut, " ")
}

func TestSearch_EveryHitTellsWhetherWordsOrMeaningFoundIt(t *testing.T) {
	t.Parallel()
	x, e := small(t)
	e.chance = 0.3
	e.vectors["feline box"] = []float32{1, 0, 0, 0}
	x.load(near(6, "a feline in a box", 1, 0.2, 0, 0))
	for query, c := range map[string]struct {
		byWords int
		want    map[library.AssetHash]string
	}{
		"feline":            {3, map[library.AssetHash]string{hash(1): "meaning", hash(2): "meaning", hash(4): "words", hash(5): "words", hash(6): "both"}},
		"feline box":        {1, map[library.AssetHash]string{hash(1): "meaning", hash(2): "meaning", hash(6): "both"}},
		"feline tag:group6": {1, map[library.AssetHash]string{hash(6): "both"}},
		"feline tag:group1": {0, map[library.AssetHash]string{hash(1): "meaning"}},
		"tag:group6":        {1, map[library.AssetHash]string{hash(6): ""}},
		"similar:" + string(hash(1)) + " tag:group2": {0, map[library.AssetHash]string{hash(2): "meaning"}},
	} {
		for _, order := range []string{"relevance", "created"} {
			for _, byCursor := range []bool{false, true} {
				f := x.pages(map[string]any{"query": query, "order_by": order}, byCursor)
				if diff := cmp.Diff(c.want, f.matched()); diff != "" || f.ByWords != c.byWords || f.Total != len(c.want) {
					t.Errorf("%s by %s, by cursor %v: total %d, by words %d (-want +got):\n%s", query, order, byCursor, f.Total, f.ByWords, diff)
				}
			}
		}
	}
	if f := x.search(map[string]any{"query": "feline", "search_mode": "fulltext"}); f.ByWords != 3 || f.Total != 3 || f.Data[0].Matched != "words" {
		t.Errorf("by words alone: %+v", f)
	}
}

// relaxations are queries, the words that are left out of each, and how many documents it finds then.
var relaxations = map[string]struct {
	leftOut string
	total   int
}{
	"old fox":                             {"", 3},
	"red fox":                             {"red", 3},
	"what is the best picture of a fox":   {"what is the best picture of a", 3},
	"what is the best picture of a fox?":  {"what is the best picture of a", 3},
	"show me «old fox»!":                  {"show me", 3},
	"foxes":                               {"", 3},
	"best picture of a wyvern":            {"", 0}, // what fits any picture is no answer
	"find photos of foxes…":               {"find photos of", 3},
	"the red fox in a car":                {"the red fox in a", 2},
	"fox xyzzy":                           {"xyzzy", 3},
	"xyzzy plugh":                         {"", 0},
	"red xyzzy -car":                      {"xyzzy", 7},
	"red fox tag:group3":                  {"fox", 2},
	`"red fox"`:                           {"", 0},
	`"old fox" car`:                       {"car", 3},
	"red fox OR blue car":                 {"blue", 2},
	"red fox created:1999":                {"", 0},
	"picture AND (fox OR xyzzy) AND barn": {"picture barn", 3},
}

func TestSearch_WhereNothingHasAllWordsSomeAreLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var docs []mappings.Document
	for i := range 12 { // "a" and "picture" everywhere, red often, fox three times and never with a car
		prompt := "a red barn in the picture"
		switch {
		case i < 3:
			prompt = "a picture with an old fox"
		case i < 5:
			prompt = "a red car in the picture"
		}
		docs = append(docs, doc(i, prompt))
	}
	x.load(docs...)
	for query, c := range relaxations {
		for _, mode := range []string{"fulltext", "smart"} {
			args := map[string]any{"query": query, "search_mode": mode}
			f := x.search(with(args, "limit", 100))
			if f.leftOut() != c.leftOut || f.Total != c.total || f.ByWords != c.total || len(f.Data) != c.total {
				t.Errorf("%s %q: %d found, %d by words, without %q; want %d without %q", mode, query, f.Total, f.ByWords, f.leftOut(), c.total, c.leftOut)
			}
			if p := x.pages(args, mode == "smart"); len(p.matched()) != c.total || p.leftOut() != c.leftOut {
				t.Errorf("%s %q in pages: %d without %q", mode, query, len(p.matched()), p.leftOut())
			}
			var facets struct {
				Total   int
				Relaxed *struct {
					LeftOut []string `json:"left_out"`
				}
			}
			if err := x.try("GetFacets", with(args, "facets", []string{"tag"}), &facets); err != nil || facets.Total != c.total || (facets.Relaxed != nil) != (c.leftOut != "") {
				t.Errorf("%s %q: facets of %d, relaxed %v, %v", mode, query, facets.Total, facets.Relaxed, err)
			}
		}
	}
	var facets struct {
		Total   int
		Relaxed any
	}
	args := map[string]any{"query": "old fox", "search_mode": "fulltext", "facets": []string{"tag"}, "selections": map[string]any{"tag": []string{"group6"}}}
	if err := x.try("GetFacets", args, &facets); err != nil || facets.Total != 0 || facets.Relaxed != nil {
		t.Errorf("a selection that leaves nothing: %+v, %v", facets, err)
	}
	if f := x.search(map[string]any{"query": "red fox", "search_mode": "boolean"}); f.Total != 0 || f.Relaxed != nil {
		t.Errorf("boolean mode takes the query as it is written: %+v", f)
	}
}

func TestSearch_AConditionsOwnWordFindsNothingBesideIt(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	docs := []mappings.Document{doc(20, "a city at noon")}
	for i := range 8 {
		d := doc(i, "a butterfly")
		d.ModelNames, d.LoraNames = []string{"neon_haze"}, []string{"neon_haze"}
		docs = append(docs, d)
	}
	x.load(docs...)
	query := map[string]any{"query": "neon city lora:neon_haze"}
	if f := x.search(query); f.Total != 0 || f.ByWords != 0 {
		t.Errorf("%d of 8 pictures with the LoRA are found as if they showed a city, %d by words", f.Total, f.ByWords)
	}
	d := doc(9, "a city of lights")
	d.ModelNames, d.LoraNames = []string{"neon_haze"}, []string{"neon_haze"}
	x.load(d)
	if f := x.search(query); f.Total != 1 || f.ByWords != 1 || !slices.Equal(f.hashes(), []library.AssetHash{hash(9)}) || f.Relaxed != nil {
		t.Errorf("beside one with a city: %+v", f)
	}
}

func TestSearch_ALongPromptIsFoundWithoutTheWordsThatWereChanged(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	x.load(doc(1, strings.Join(words, " ")), doc(2, strings.Join(words[:30], " ")), mappings.Document{TenantID: tenantB, AssetH: hash(3), Prompt: "changed", Status: library.StatusDraft})
	f := x.search(map[string]any{"query": strings.Join(words, " ") + " changed", "search_mode": "fulltext"})
	if f.Total != 1 || f.leftOut() != "changed" || f.hashes()[0] != hash(1) {
		t.Errorf("%d found, without %q", f.Total, f.leftOut())
	}
}
