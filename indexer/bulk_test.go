package indexer

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// meddled is an env whose bulk requests pass a meddler, with assets to write.
func meddled(t *testing.T, assets int, script ...func(*http.Request) (*http.Response, error)) (*env, *Indexer, *flakyTransport, []library.AssetHash) {
	e := newEnv(t)
	m := &flakyTransport{next: &http.Transport{MaxIdleConnsPerHost: 4}, script: script}
	e.gated = m
	t.Cleanup(func() { m.next.(*http.Transport).CloseIdleConnections() })
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	var hashes []library.AssetHash
	for i := range assets {
		hashes = append(hashes, e.add(typicalAsset(fmt.Sprint(i))).Hash)
	}
	return e, x, m, hashes
}

func TestBulk_NothingIsSkippedWhateverABulkRequestIsAnsweredWith(t *testing.T) {
	t.Parallel()
	throttledItem := `{"took":1,"errors":true,"items":[{"index":{"status":201}},{"index":{"status":429,"error":{"type":"rejected_execution_exception","reason":"full"}}},{"index":{"status":503,"error":{"type":"unavailable_shards_exception","reason":"gone"}}}]}`
	tests := map[string]struct {
		script []func(*http.Request) (*http.Response, error)
		bulks  int // requests it takes: those in the script and those that do the work
	}{
		"overload":                      {[]func(*http.Request) (*http.Response, error){refuse(429, `{}`), refuse(429, ``)}, 3},
		"a gateway without its server":  {[]func(*http.Request) (*http.Response, error){refuse(502, `<html>`), refuse(503, `{}`)}, 3},
		"a connection that breaks":      {[]func(*http.Request) (*http.Response, error){cut, cut}, 3},
		"an answer that is no answer":   {[]func(*http.Request) (*http.Response, error){refuse(200, `{"errors":true,"items":[]}`), refuse(200, `nonsense`)}, 3},
		"some items refused for a time": {[]func(*http.Request) (*http.Response, error){refuse(200, throttledItem)}, 2},
		"a request that is too large":   {[]func(*http.Request) (*http.Response, error){refuse(413, `{}`)}, 3},
		"no right to write for a time":  {[]func(*http.Request) (*http.Response, error){refuse(403, `{}`)}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, x, m, hashes := meddled(t, 3, tt.script...)
			e.indexNow(x, hashes...)
			want := hashes
			if name == "some items refused for a time" {
				want = hashes[1:] // the script said 201 of the first in the server's place
			}
			if problem := e.differs(want...); problem != "" {
				t.Error(problem)
			}
			if m.bulks != tt.bulks {
				t.Errorf("%d bulk requests, want %d", m.bulks, tt.bulks)
			}
			if missing, partial, err := e.store.IndexFailures.Count(e.ctx, indexstate.AssetIndex); missing+partial != 0 || err != nil {
				t.Errorf("%d failures, %d partial, error %v", missing, partial, err)
			}
		})
	}
}

func TestBulk_OneItemThatTheServerCannotTakeDoesNotBlockTheRest(t *testing.T) {
	t.Parallel()
	failing := refuse(200, `{"took":1,"errors":true,"items":[{"index":{"status":500,"error":{"type":"io_exception","reason":"odd"}}}]}`)
	e, x, m, hashes := meddled(t, 2)
	keys := []indexstate.DocumentKey{e.key(hashes[0])}
	bad, err := x.read(e.ctx, keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		m.script = append(m.script, failing)
	}
	began := time.Now()
	done := make(chan error)
	go func() { done <- x.writer.writeBatch(e.ctx, bad) }()
	time.Sleep(time.Second)
	x.writer.accepted.Add(1) // other documents get through meanwhile
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < itemRetryLimit || took > itemRetryLimit+10*time.Second {
		t.Errorf("it blocked its partition for %v", took)
	}
	if missing, _, err := e.store.IndexFailures.Count(e.ctx, indexstate.AssetIndex); missing != 1 || err != nil {
		t.Errorf("%d failures recorded, error %v", missing, err)
	}
}

func TestBulk_OverloadHalvesTheRequestAndGoodAnswersRaiseItAgain(t *testing.T) {
	t.Parallel()
	p := bulkSize{max: 4 << 20, current: 4 << 20, gauge: func(float64) {}}
	for range 3 {
		p.adjust(true)
	}
	if p.get() != 512<<10 {
		t.Errorf("after three overloads: %d", p.get())
	}
	for range 20 {
		p.adjust(true)
	}
	if p.get() != minBulkSize {
		t.Errorf("the smallest request: %d", p.get())
	}
	for range 20 {
		p.adjust(false)
	}
	if p.get() != 4<<20 {
		t.Errorf("after recovery: %d", p.get())
	}
}

func TestBulk_ABatchIsCutToThePaceAndConflictsCountAsSuccess(t *testing.T) {
	t.Parallel()
	e, x, m, hashes := meddled(t, 6)
	b, err := x.read(e.ctx, keysOf(e, hashes), nil)
	if err != nil {
		t.Fatal(err)
	}
	x.writer.bulk.size.max = 2 * b.items[0].line.len()
	x.writer.bulk.size.current = 2*b.items[0].line.len() + 10
	for range 2 {
		if err := x.writer.writeBatch(e.ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if m.bulks < 6 {
		t.Errorf("%d requests for twice six documents, two at a time", m.bulks)
	}
	if n := counted(t, x.metrics.documents.WithLabelValues(outcomeConflict)); n != 6 {
		t.Errorf("%v conflicts for six documents written twice", n)
	}
	if problem := e.differs(hashes...); problem != "" {
		t.Error(problem)
	}
}

func keysOf(e *env, hashes []library.AssetHash) []indexstate.DocumentKey {
	keys := make([]indexstate.DocumentKey, len(hashes))
	for i, h := range hashes {
		keys[i] = e.key(h)
	}
	return keys
}

func counted(t *testing.T, c prometheus.Counter) float64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}
