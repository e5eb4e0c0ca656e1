package search_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/mappings"
)

func near(n int, prompt string, v ...float32) mappings.Document {
	d := doc(n, prompt)
	if v != nil {
		d.Vectors = map[string][]float32{made: v}
	}
	return d
}

// small is a library in which "feline" means the cats, which no text calls so.
func small(t *testing.T) (*index, *meanings) {
	e := &meanings{vectors: map[string][]float32{"feline": {1, 0, 0, 0}, "cat": {1, 0, 0, 0}, "group1": {0, 0, 1, 0}}}
	x := newIndex(t, e)
	trashed, private, other := near(20, "a cat thrown away", 1, 0, 0, 0), near(21, "a private cat", 1, 0, 0, 0), near(22, "a cat elsewhere", 1, 0, 0, 0)
	trashed.Trashed, private.Visibility, private.Owner, other.TenantID = true, "private", "somebody else", tenantB
	titled := near(5, "nothing of the kind", 0, 1, 0, 0)
	titled.Title = "Feline"
	x.load(near(1, "a cat on a roof", 1, 0.1, 0, 0), near(2, "a cat in a box", 1, 0.3, 0, 0), near(3, "a dog", 0.2, 1, 0, 0), near(4, "a feline without a vector"),
		titled, trashed, private, other)
	return x, e
}

func TestQueryVector_SmartSearchFindsByMeaningToo(t *testing.T) {
	t.Parallel()
	x, e := small(t)
	got := x.search(map[string]any{"query": "feline"})
	if len(got.Degraded) != 0 {
		t.Fatalf("degraded: %v", got.Degraded)
	}
	// The title is the whole text; then what one retriever has first; then by likeness.
	want := []library.AssetHash{hash(5), hash(1), hash(4), hash(2), hash(3)}
	if diff := cmp.Diff(want[:1], got.hashes()[:1]); diff != "" {
		t.Errorf("the exact title is not first: %s", diff)
	}
	have := got.hashes()
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("other assets than those the caller may see: %s", diff)
	}
	if got.Total != 5 {
		t.Errorf("total %d", got.Total)
	}
	for i := 1; i < len(got.Data); i++ {
		if *got.Data[i].Score > *got.Data[i-1].Score {
			t.Errorf("the score rises at %d", i)
		}
	}
	asked := e.asked
	x.search(map[string]any{"query": "feline", "filters": map[string]any{"status": "Draft"}})
	if e.asked != asked {
		t.Error("the vector of the same words was made twice")
	}
}

func TestQueryVector_ConditionsHoldForNeighboursToo(t *testing.T) {
	t.Parallel()
	x, _ := small(t)
	for q, want := range map[string][]library.AssetHash{
		"feline -roof":           {hash(5), hash(2), hash(3), hash(4)},
		"feline tag:group1":      {hash(1)},
		"feline created:1999":    {},
		"feline filename:*003*":  {hash(3)},
		"feline seed:notanumber": {},
	} {
		got := x.search(map[string]any{"query": q})
		have := got.hashes()
		slices.Sort(have)
		slices.Sort(want)
		if diff := cmp.Diff(want, have); diff != "" || got.Total != len(want) {
			t.Errorf("%s (total %d): %s", q, got.Total, diff)
		}
	}
}

func TestQueryVector_PagesFacetsAndTotalAgree(t *testing.T) {
	t.Parallel()
	// Some of the nearest are near by chance, some are found by the words too.
	x := newIndex(t, &meanings{vectors: map[string][]float32{"boat": {1, 2, 0, 1}, "snow": {2, 1, 1, 1}}, chance: 0.97})
	fill(x, 1500)
	for _, c := range []map[string]any{{"query": "boat"}, {"query": "snow"}, {"query": "snow", "order_by": "created"}, {"query": "boat snow -sea"}} {
		var all []library.AssetHash
		var total int
		for offset := 0; ; offset += 100 {
			f := x.search(with(c, "limit", 100, "offset", offset))
			total = f.Total
			all = append(all, f.hashes()...)
			if f.NextOffset == nil {
				break
			}
		}
		distinct := map[library.AssetHash]bool{}
		for _, h := range all {
			distinct[h] = true
		}
		if len(all) != total || len(distinct) != total {
			t.Errorf("%v: total %d, paged through %d of which %d distinct", c, total, len(all), len(distinct))
		}
		if odd := x.search(with(c, "limit", 100, "offset", 150)); !slices.Equal(odd.hashes(), all[min(150, total):min(250, total)]) {
			t.Errorf("%v: pages cut elsewhere differ", c)
		}
		var facets struct {
			Total  int `json:"total"`
			Facets []struct {
				Buckets []struct{ Count int }
				Missing int
			}
		}
		delete(c, "order_by")
		if f := x.try("GetFacets", with(c, "facets", []string{"tag"}), &facets); f != nil {
			t.Fatal(f)
		}
		sum := facets.Facets[0].Missing
		for _, b := range facets.Facets[0].Buckets {
			sum += b.Count
		}
		if facets.Total != total || sum != total { // every document has one tag
			t.Errorf("%v: the search has %d, the facets %d, their counts %d", c, total, facets.Total, sum)
		}
		if by := x.pageThrough(c, 100); c["order_by"] == nil && len(by) != total {
			t.Errorf("%v: a walk has %d of %d", c, len(by), total)
		}
	}
}

func TestQueryVector_WhatIsNearByChanceIsNotFound(t *testing.T) {
	t.Parallel()
	x, e := small(t)
	e.chance = 0.3
	for name, c := range map[string]struct {
		query string
		want  []library.AssetHash
	}{
		"words that mean nothing here":  {"zebra", nil},
		"words that mean something":     {"feline", []library.AssetHash{hash(1), hash(2), hash(4), hash(5)}}, // the dog is as near as unrelated texts are
		"words that mean it and a wish": {"feline -box", []library.AssetHash{hash(1), hash(4), hash(5)}},
	} {
		for _, order := range []string{"relevance", "created"} {
			got := x.search(map[string]any{"query": c.query, "order_by": order})
			have := got.hashes()
			slices.Sort(have)
			if !slices.Equal(have, c.want) || got.Total != len(c.want) {
				t.Errorf("%s by %s: %v, total %d, want %v", name, order, have, got.Total, c.want)
			}
		}
		var facets struct{ Total int }
		if f := x.try("GetFacets", map[string]any{"query": c.query, "facets": []string{"tag"}}, &facets); f != nil || facets.Total != len(c.want) {
			t.Errorf("%s: facets of %d, %v", name, facets.Total, f)
		}
	}
}

func TestQueryVector_WithoutMeaningTheWordsAnswer(t *testing.T) {
	t.Parallel()
	x, e := small(t)
	words := []library.AssetHash{hash(5), hash(4)}
	check := func(what string, degraded bool) {
		t.Helper()
		got := x.search(map[string]any{"query": "feline"})
		if degraded != slices.Contains(got.Degraded, "semantic") || degraded && !slices.Equal(got.hashes(), words) {
			t.Errorf("%s: %v, degraded %v", what, got.hashes(), got.Degraded)
		}
	}
	e.down = true
	check("the embedder is down", true)
	e.down = false
	check("it is up again", false)
	x.Embedder = nil
	check("there is none", true)
	if got := x.search(map[string]any{"query": "tag:group1"}); len(got.Degraded) != 0 {
		t.Errorf("a search without words lacks nothing: %v", got.Degraded)
	}
	bare := newIndex(t, &unknown{})
	bare.load(near(4, "a feline"))
	if got := bare.search(map[string]any{"query": "feline"}); len(got.Data) != 1 || !slices.Contains(got.Degraded, "semantic") {
		t.Errorf("the index has no field for the model's vectors: %+v", got)
	}
}

// unknown is an embedder that the index has no field for.
type unknown struct{ meanings }

func (*unknown) ID() string { return "unknown" }

func TestQueryVector_NeighboursOfAnAssetAndOfAVector(t *testing.T) {
	t.Parallel()
	x, _ := small(t)
	asset := map[string]any{"similar_to_asset_h": string(hash(1)), "embedding_configuration_h": made}
	want := []library.AssetHash{hash(2), hash(3), hash(5)}
	for name, args := range map[string]map[string]any{
		"of an asset": asset,
		"of an asset by the active configuration": {"similar_to_asset_h": string(hash(1))},
		"of an asset in words":                    {"query": "similar:" + string(hash(1))},
	} {
		if got := x.search(args); !slices.Equal(got.hashes(), want) || got.Total != 3 {
			t.Errorf("%s: %v, total %d", name, got.hashes(), got.Total)
		}
	}
	if got := x.search(with(asset, "query", "box")); !slices.Equal(got.hashes(), want[:1]) {
		t.Errorf("words beside the asset are conditions, but got %v", got.hashes())
	}
	if got := x.search(with(asset, "filters", map[string]any{"tags": []string{"group3"}})); !slices.Equal(got.hashes(), want[1:2]) {
		t.Errorf("filters: %v", got.hashes())
	}
	vector := map[string]any{"query_vector": []float64{1, 0, 0, 0}, "embedding_configuration_h": made}
	if got := x.search(vector); !slices.Equal(got.hashes(), []library.AssetHash{hash(1), hash(2), hash(3), hash(5)}) {
		t.Errorf("of a vector: %v", got.hashes())
	}
	if got := x.search(with(vector, "limit", 1, "offset", 2)); !slices.Equal(got.hashes(), want[1:2]) || got.Total != 4 {
		t.Errorf("second page: %v", got.hashes())
	}
}

func TestQueryVector_VectorsThatCannotBeSearchedByAreExplained(t *testing.T) {
	t.Parallel()
	x, _ := small(t)
	for name, c := range map[string]struct {
		args        map[string]any
		kind        library.ErrorKind
		code, field string
	}{
		"wrong length":           {map[string]any{"query_vector": []float64{1, 0}, "embedding_configuration_h": made}, library.KindInvalid, "VALIDATION_FAILED", "query_vector"},
		"all zero":               {map[string]any{"query_vector": []float64{0, 0, 0, 0}, "embedding_configuration_h": made}, library.KindInvalid, "VALIDATION_FAILED", "query_vector"},
		"beyond single floats":   {map[string]any{"query_vector": []float64{math.MaxFloat64, 0, 0, 0}, "embedding_configuration_h": made}, library.KindInvalid, "VALIDATION_FAILED", "query_vector"},
		"unknown configuration":  {map[string]any{"query_vector": []float64{1, 0, 0, 0}, "embedding_configuration_h": "nope"}, library.KindInvalid, "VALIDATION_FAILED", "embedding_configuration_h"},
		"no configuration":       {map[string]any{"query_vector": []float64{1, 0, 0, 0}}, library.KindInvalid, "VALIDATION_FAILED", "embedding_configuration_h"},
		"vector and asset":       {map[string]any{"query_vector": []float64{1, 0, 0, 0}, "similar_to_asset_h": string(hash(1)), "embedding_configuration_h": made}, library.KindInvalid, "VALIDATION_FAILED", "similar_to_asset_h"},
		"asset without a vector": {map[string]any{"similar_to_asset_h": string(hash(4)), "embedding_configuration_h": made}, library.KindUnprocessable, "NO_VECTOR", ""},
		"no such asset":          {map[string]any{"similar_to_asset_h": strings.Repeat("e", 40), "embedding_configuration_h": made}, library.KindNotFound, "NOT_FOUND", ""},
		"another tenant's asset": {map[string]any{"similar_to_asset_h": string(hash(22)), "embedding_configuration_h": made}, library.KindNotFound, "NOT_FOUND", ""},
		"two assets":             {map[string]any{"query": "similar:" + string(hash(2)), "similar_to_asset_h": string(hash(1)), "embedding_configuration_h": made}, library.KindInvalid, "VALIDATION_FAILED", "similar_to_asset_h"},
	} {
		f := x.try("SearchAssets", c.args, &found{})
		if f == nil || f.Kind != c.kind || f.Code != c.code || c.field != "" && (len(f.Fields) == 0 || f.Fields[0].Field != c.field || f.Fields[0].Message == "") {
			t.Errorf("%s: %v", name, f)
		}
	}
}
