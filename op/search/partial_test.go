package search_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestSearch_WhileVectorsAreComputedItTellsWhatShareIsDone(t *testing.T) {
	t.Parallel()
	x, _ := small(t)
	partial := func(name string, args map[string]any) (bool, *float64) {
		t.Helper()
		if name == "GetFacets" {
			var facets struct{ Degraded []string }
			if err := x.try(name, with(args, "facets", []string{"tag"}), &facets); err != nil {
				t.Fatal(err)
			}
			return slices.Contains(facets.Degraded, "semantic_partial"), nil
		}
		f := x.search(args)
		return slices.Contains(f.Degraded, "semantic_partial"), f.Share
	}
	feline := map[string]any{"query": "feline"}
	if yes, share := partial("SearchAssets", feline); yes || share != nil {
		t.Fatalf("with all vectors it is partial, %v", share)
	}
	x.unembedded = true
	x.load(near(30, "one more feline"), near(31, "and another"))
	deadline := time.Now().Add(30 * time.Second) // counts may be some seconds old
	for yes := false; !yes; yes, _ = partial("SearchAssets", feline) {
		if time.Now().After(deadline) {
			t.Fatal("two of ten documents wait for their vectors, which no search tells")
		}
		time.Sleep(200 * time.Millisecond)
	}
	// Nine of the tenant's are visible or not to this caller, two of them wait.
	_, share := partial("SearchAssets", feline)
	if want := "0.777"; share == nil || fmt.Sprint(*share) != want {
		t.Errorf("the share is %v, want %s", share, want)
	}
	for name, c := range map[string]struct {
		op   string
		args map[string]any
		want bool
	}{
		"facets":                   {"GetFacets", feline, true},
		"by date":                  {"SearchAssets", with(feline, "order_by", "created"), true},
		"neighbors":                {"SearchAssets", map[string]any{"query": "similar:" + string(hash(1))}, true},
		"a first page by cursor":   {"SearchAssets", with(feline, "cursor", "*"), true},
		"by words alone":           {"SearchAssets", with(feline, "search_mode", "fulltext"), false},
		"conditions without words": {"SearchAssets", map[string]any{"query": "tag:group1"}, false},
	} {
		if got, _ := partial(c.op, c.args); got != c.want {
			t.Errorf("%s: partial %v, want %v", name, got, c.want)
		}
	}
}
