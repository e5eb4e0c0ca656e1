package events_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/events"
	"vitrine/library"
	"vitrine/op"
)

// TestFollow_SendsEachStateOnceUntilTheLast follows a thing that changes, as a browser's EventSource
// does: the last state has an id, with which it is told to connect no more.
func TestFollow_SendsEachStateOnceUntilTheLast(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	streams := events.NewStreams(e.store, events.StreamConfig{Poll: time.Millisecond, PerTenant: 1}, events.NewMetrics(prometheus.NewRegistry()))
	var looks atomic.Int64
	missing := atomic.Bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := streams.Follow(w, r, e.actor, func(context.Context, library.Actor) (any, bool, error) {
			if missing.Load() {
				return nil, false, library.NotFound("thing")
			}
			n := looks.Add(1)
			return map[string]int64{"step": n / 10}, n >= 30, nil
		})
		if err != nil {
			op.WriteProblem(w, r, err)
		}
	}))
	t.Cleanup(server.Close)
	get := func(last string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Last-Event-ID", last)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	res := get("")
	var got []string
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "data: ") || strings.HasPrefix(line, "id: ") {
			got = append(got, line)
		}
	}
	if want := []string{`data: {"step":0}`, `data: {"step":1}`, `data: {"step":2}`, "id: ended", `data: {"step":3}`}; !slices.Equal(got, want) || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("the stream is %q, want %q", got, want)
	}
	if res := get("ended"); res.StatusCode != http.StatusNoContent {
		t.Errorf("a client that has seen the end is answered with %s", res.Status)
	}
	missing.Store(true)
	if res := get(""); res.StatusCode != http.StatusNotFound {
		t.Errorf("what is not there is answered with %s", res.Status)
	}
}
