package mappings

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

func TestMetadata_IsReadAsPairsOfKeysAndValues(t *testing.T) {
	var m map[string]any
	err := json.Unmarshal([]byte(`{"Client":"Acme Corp","shot":{"Lens mm":50.0,"ok":true,"by":null},"tags":["a","b",{"c":"d"}],
		"a.b":"dotted","顧客":"山田","due":"2024-05-06","":"no name","empty":"","deep":{"1":{"2":{"3":{"4":{"5":{"6":{"7":{"8":"x"}}}}}}}}}`), &m)
	if err != nil {
		t.Fatal(err)
	}
	got := NewMetadata(m)
	want := Metadata{
		Pairs: []string{"_=no name", "a.b=dotted", "client=Acme Corp", "due=2024-05-06", "shot.lens_mm=50", "shot.ok=true", "tags.c=d", "tags=a", "tags=b", "顧客=山田"},
		Keys: []string{"metadata._", "metadata.a", "metadata.a.b", "metadata.client", "metadata.due", "metadata.shot", "metadata.shot.lens_mm", "metadata.shot.ok",
			"metadata.tags", "metadata.tags.c", "metadata.顧客"},
		Values: []string{"2024-05-06", "50", "Acme Corp", "a", "b", "d", "dotted", "no name", "true", "山田"},
		Ranks:  []string{"due=" + DateRank(time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)), "shot.lens_mm=" + NumberRank(50)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMetadata_IsBounded(t *testing.T) {
	m := map[string]any{"long": strings.Repeat("é", MaxMetadataValue+1), strings.Repeat("k", MaxMetadataKey+1): "x"}
	for i := range 2 * MaxMetadataValues {
		m[fmt.Sprintf("m%04d", i)] = "v"
	}
	got := NewMetadata(m)
	if len(got.Pairs) != MaxMetadataValues || !slices.Contains(got.Keys, "metadata.long") || !slices.Contains(got.Keys, "metadata.m0000") || len(got.Keys) != MaxMetadataValues+1 {
		t.Errorf("%d pairs, %d keys", len(got.Pairs), len(got.Keys))
	}
	for _, p := range got.Pairs {
		if strings.HasPrefix(p, "k") || strings.HasPrefix(p, "long") {
			t.Errorf("%s is searched", p)
		}
	}
}

func TestMetadata_RanksCompareAsNumbersAndDatesDo(t *testing.T) {
	randtest.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -0.0, 1, -1, 0.5, 10, 9, 1e300, -1e300}))
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if (a < b) != (NumberRank(a) < NumberRank(b)) || (a == b) != (NumberRank(a) == NumberRank(b)) {
			t.Fatalf("%v %s and %v %s", a, NumberRank(a), b, NumberRank(b))
		}
		x, y := time.UnixMilli(rapid.Int64Range(-6e13, 2e14).Draw(t, "x")), time.UnixMilli(rapid.Int64Range(-6e13, 2e14).Draw(t, "y"))
		if x.Before(y) != (DateRank(x) < DateRank(y)) {
			t.Fatalf("%v %s and %v %s", x, DateRank(x), y, DateRank(y))
		}
		if low, high := RankBounds(DateRank(x)); low > DateRank(y) || high < DateRank(y) || NumberRank(a) > low && NumberRank(a) < high {
			t.Fatalf("bounds %s and %s", low, high)
		}
	})
}
