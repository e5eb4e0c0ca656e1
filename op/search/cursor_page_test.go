package search_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/mappings"
)

// pageThrough pages by cursor to the end and gives every asset in order.
func (x *index) pageThrough(args map[string]any, limit int) []library.AssetHash {
	x.t.Helper()
	var all []library.AssetHash
	total := -1
	for cursor := "*"; cursor != ""; {
		f := x.search(with(args, "cursor", cursor, "limit", limit))
		if total < 0 {
			total = f.Total
		}
		if f.Total != total {
			x.t.Fatalf("the total moved from %d to %d", total, f.Total)
		}
		if f.Offset != len(all) {
			x.t.Fatalf("offset says %d after %d results", f.Offset, len(all))
		}
		all = append(all, f.hashes()...)
		cursor = f.NextCursor
	}
	if len(all) != total {
		x.t.Errorf("%v: walked through %d of %d", args, len(all), total)
	}
	seen := map[library.AssetHash]bool{}
	for _, h := range all {
		if seen[h] {
			x.t.Errorf("%v: %s came twice", args, h)
		}
		seen[h] = true
	}
	return all
}

// writes keeps writing until stopped: new assets, changed ones, deleted ones.
func (x *index) writes(among int) (stop func()) {
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			fresh, changed := doc(1_000_000+i, "fox fox fox"), doc(i*31%among, "something else entirely")
			gone := mappings.Document{TenantID: tenantA, AssetH: hash(i * 17 % among), Deleted: true}
			x.load(fresh, changed, gone)
			time.Sleep(30 * time.Millisecond) // the machine is shared
		}
	})
	return func() { close(done); wg.Wait() }
}

func fill(x *index, n int) {
	batch := []mappings.Document{}
	for i := range n {
		prompt := fmt.Sprintf("a red fox number %d in the snow", i)
		if i%5 == 0 {
			prompt = "a blue boat, fox " + strings.Repeat("sea ", i%11)
		}
		d := doc(i, prompt)
		if i%4 == 0 {
			d.Title = fmt.Sprint("title ", i%50)
		}
		if i%3 == 0 {
			d.Vectors = map[string][]float32{made: {float32(i%13) + 1, float32(i%7) + 1, float32(i % 3), 1}}
		}
		if batch = append(batch, d); len(batch) == 1000 || i == n-1 {
			x.load(batch...)
			batch = batch[:0]
		}
	}
	x.load(mappings.Document{TenantID: tenantB, AssetH: hash(5), Prompt: "fox of another tenant", Status: library.StatusDraft})
}

func TestCursorPage_AWalkShowsEveryAssetOnceWhileOthersWrite(t *testing.T) {
	t.Parallel()
	const n = 2_600
	x := newIndex(t, &meanings{vectors: map[string][]float32{"boat": {1, 2, 0, 1}}})
	fill(x, n)
	for _, c := range []struct {
		name  string
		args  map[string]any
		atMin int
	}{
		{"everything", map[string]any{}, n},
		{"ranked by words", map[string]any{"query": "fox snow", "search_mode": "fulltext"}, n / 2},
		{"by title, which most lack", map[string]any{"query": "-tag:group3", "order_by": "title", "filters": map[string]any{"tags": []string{"group2"}}}, n / 10},
		{"words and meaning", map[string]any{"query": "boat"}, n / 10},
		{"words and meaning by date", map[string]any{"query": "boat", "order_by": "created"}, n / 10},
		{"neighbours", map[string]any{"query_vector": []float64{1, 0, 0, 0}, "embedding_configuration_h": made}, n / 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			x.t = t
			t.Cleanup(x.writes(n))
			if got := x.pageThrough(c.args, 100); len(got) < c.atMin {
				t.Errorf("%d results, want at least %d", len(got), c.atMin)
			}
		})
	}
}

func TestCursorPage_ACursorIsGoodForItsSearchOnly(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	fill(x, 30)
	args := map[string]any{"query": "fox", "limit": 5}
	first := x.search(with(args, "cursor", "*"))
	if first.NextCursor == "" || first.NextOffset != nil {
		t.Fatalf("no cursor, or an offset: %+v", first)
	}
	if got := x.search(with(args, "cursor", first.NextCursor, "limit", 7)); len(got.Data) != 7 || got.Offset != 5 {
		t.Errorf("with another limit: %d results at %d", len(got.Data), got.Offset)
	}
	changed := []byte(first.NextCursor)
	changed[len(changed)/2] ^= 1
	for name, bad := range map[string]map[string]any{
		"tampered":      with(args, "cursor", string(changed)),
		"nonsense":      with(args, "cursor", "nonsense"),
		"empty":         with(args, "cursor", "AAAA"),
		"another query": with(args, "cursor", first.NextCursor, "query", "boat"),
		"another order": with(args, "cursor", first.NextCursor, "order_by", "title"),
		"with offset":   with(args, "cursor", first.NextCursor, "offset", 5),
	} {
		var out found
		f := x.try("SearchAssets", bad, &out)
		if f == nil || f.Kind != library.KindInvalid || len(f.Fields) != 1 || f.Fields[0].Message == "" {
			t.Errorf("%s: %v", name, f)
		}
	}
	x.Key = []byte(strings.Repeat("z", 32))
	if f := x.try("SearchAssets", with(args, "cursor", first.NextCursor), &found{}); f == nil || f.Kind != library.KindInvalid {
		t.Errorf("signed with another key: %v", f)
	}
}

func TestCursorPage_ACursorWhosePointIsGoneSaysSo(t *testing.T) {
	t.Parallel()
	x := newIndex(t, &meanings{})
	fill(x, 300)
	for _, q := range []string{"", "fox"} {
		args := map[string]any{"query": q, "limit": 5}
		first := x.search(with(args, "cursor", "*"))
		x.send("DELETE", "/_search/point_in_time", []byte(`{"pit_id":["`+pointOf(t, first.NextCursor)+`"]}`), nil)
		f := x.try("SearchAssets", with(args, "cursor", first.NextCursor), &found{})
		if f == nil || f.Kind != library.KindInvalid || f.Code != "CURSOR_EXPIRED" || f.Fields[0].Hint == "" {
			t.Errorf("%q: %v", q, f)
		}
	}
}

// pointOf takes the point out of a cursor, whose form clients are not to know.
func pointOf(t *testing.T, cursor string) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	var fields struct{ P string }
	if err := json.NewDecoder(bytes.NewReader(raw[2:])).Decode(&fields); err != nil || fields.P == "" {
		t.Fatalf("no point in the cursor: %v", err)
	}
	return fields.P
}

func TestCursorPage_TheLastPageGivesThePointBack(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	fill(x, 12)
	first := x.search(map[string]any{"cursor": "*", "limit": 8})
	if last := x.search(map[string]any{"cursor": first.NextCursor, "limit": 8}); last.NextCursor != "" || len(last.Data) != 4 {
		t.Fatalf("the last page has %d results and the cursor %q", len(last.Data), last.NextCursor)
	}
	if f := x.try("SearchAssets", map[string]any{"cursor": first.NextCursor, "limit": 8}, &found{}); f == nil || f.Code != "CURSOR_EXPIRED" {
		t.Errorf("the point is still held: %v", f)
	}
}
