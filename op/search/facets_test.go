package search_test

import (
	"fmt"
	"testing"

	"vitrine/mappings"
)

type counted struct {
	Total  int
	Facets []struct {
		Name    string
		Missing int
		Buckets []struct {
			Value string
			Count int
		}
	}
}

func (x *index) facets(in map[string]any) (out counted) {
	x.t.Helper()
	if f := x.try("GetFacets", in, &out); f != nil {
		x.t.Fatalf("counting %v: %v", in, f)
	}
	return out
}

func TestFacets_EveryBucketHoldsWhatItsSelectionFinds(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	var docs []mappings.Document
	for i := range 24 {
		d := doc(i, "a fox")
		strength, cfg, steps := float64(i%11)/10, 6.5+float64(i%3)/2, 18+i
		d.Denoise, d.CFG, d.Steps, d.ModelWeights = &strength, &cfg, &steps, []float64{strength, 1.25}
		docs = append(docs, d)
	}
	docs[3].Denoise = nil
	x.load(docs...)
	names := []string{"denoise", "cfg", "steps", "model_weight"}
	all := x.facets(map[string]any{"facets": names})
	for _, f := range all.Facets {
		if len(f.Buckets) < 2 {
			t.Errorf("%s has the buckets %v", f.Name, f.Buckets)
		}
		sum := f.Missing
		for _, b := range f.Buckets {
			sum += b.Count
			found := x.facets(map[string]any{"facets": names, "selections": map[string][]string{f.Name: {b.Value}}})
			if found.Total != b.Count {
				t.Errorf("%s %s counts %d, selected it finds %d", f.Name, b.Value, b.Count, found.Total)
			}
		}
		if f.Name != "model_weight" && sum != len(docs) {
			t.Errorf("%s: buckets and missing hold %d of %d", f.Name, sum, len(docs))
		}
	}
	var got []string
	for _, b := range all.Facets[0].Buckets {
		got = append(got, b.Value)
	}
	if want := "[0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1]"; fmt.Sprint(got) != want {
		t.Errorf("strengths are counted as %v, want %s", got, want)
	}
}
