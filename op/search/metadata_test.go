package search_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/mappings"
)

// withMetadata gives a document the fields that the indexer would.
func withMetadata(d *mappings.Document, m map[string]any) {
	r := mappings.NewMetadata(m)
	d.Metadata, d.MetadataKeys, d.MetadataValues, d.MetadataRanks = r.Pairs, r.Keys, r.Values, r.Ranks
}

func TestMetadata_IsFoundByKeyValueRangeAndPresence(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	docs := []mappings.Document{doc(0, "a fox"), doc(1, "a fox"), doc(2, "a fox"), doc(3, "a fox")}
	withMetadata(&docs[0], map[string]any{"client": "Acme", "rating": 9.0, "due": "2024-05-06", "a b:c": "x"})
	withMetadata(&docs[1], map[string]any{"Client": "acme labs", "rating": 10.0, "due": "2024-06-01T10:00:00Z", "顧客": "山田"})
	withMetadata(&docs[2], map[string]any{"shot": map[string]any{"lens": "50mm", "iso": "100"}, "rating": "none", "dir": "../x"})
	x.load(docs...)
	for text, want := range map[string][]int{
		"metadata.client:acme": {0}, "metadata.client:acme*": {0, 1}, "metadata.CLIENT:*": {0, 1}, `metadata.client:"Acme Labs"`: {1},
		"metadata:acme": {0}, "metadata:50mm": {2}, "-metadata:*": {3}, "has:metadata": {0, 1, 2}, "has:metadata.shot": {2}, "-has:metadata.client": {2, 3},
		"metadata.rating:>9": {1}, "metadata.rating:9..10": {0, 1}, "metadata.rating:9.0": {0}, "metadata.rating:<10": {0}, "metadata.rating:2..3": {},
		"metadata.due:2024-05": {}, "metadata.due:2024-05..2024-05": {0}, "metadata.due:>=2024-05-07": {1}, "metadata.due:2024-05-06": {0},
		"metadata.shot.lens:50mm": {2}, "metadata.shot.iso:>=100": {2}, "metadata.a_b_c:x": {0}, "metadata.顧客:山田": {1}, "metadata.dir:../x": {2},
		"metadata.client:(acme OR \"acme labs\")": {0, 1}, "acme": {}, "fox metadata.client:acme": {0},
	} {
		var got found
		if err := x.try("SearchAssets", map[string]any{"query": text, "search_mode": "boolean"}, &got); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		numbers := []int{}
		for i := range docs {
			for _, hit := range got.Data {
				if hit.Hash == docs[i].AssetH {
					numbers = append(numbers, i)
				}
			}
		}
		slices.Sort(numbers)
		if diff := cmp.Diff(want, numbers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestMetadata_IsCountedByKeyBesideOtherSelections(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var docs []mappings.Document
	for i := range 12 {
		d := doc(i, "a fox")
		if i > 0 {
			withMetadata(&d, map[string]any{"client": fmt.Sprint("C", i%3), "client2": "other", "round": i % 2})
		}
		docs = append(docs, d)
	}
	x.load(docs...)
	in := map[string]any{"facets": []string{"metadata.client", "metadata.Round"}, "selections": map[string][]string{"metadata.client": {"c1"}}}
	got := x.facets(in)
	if got.Total != 4 || len(got.Facets) != 2 {
		t.Fatalf("%d assets, facets %+v", got.Total, got.Facets)
	}
	if c := got.Facets[0]; fmt.Sprint(c.Buckets) != "[{c1 4} {c2 4} {c0 3}]" || c.Missing != 1 {
		t.Errorf("by client: %+v", c)
	}
	if c := got.Facets[1]; fmt.Sprint(c.Buckets) != "[{0 2} {1 2}]" || c.Missing != 0 {
		t.Errorf("by round, of client c1: %+v", c)
	}
	in["selections"] = map[string][]string{"metadata.client": {""}}
	if got := x.facets(in); got.Total != 1 {
		t.Errorf("without client there are %d, want 1", got.Total)
	}
	if err := x.try("GetFacets", map[string]any{"facets": []string{"metadata."}}, nil); err == nil {
		t.Error("a facet of no key is counted")
	}
}
