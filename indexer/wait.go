package indexer

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/panics"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/mappings"
)

// MaxWait is the longest that Await waits, whatever its caller asks for.
const MaxWait = 20 * time.Second

// Write is what a document shows and the version that a write gave it.
type Write struct {
	Key     string
	Version int64
}

// Waiter lets a search wait until it can see its caller's own writes. It needs
// nothing but OpenSearch and is safe for concurrent use.
type Waiter struct {
	search  *opensearch.Client
	index   Locate
	metrics *Metrics

	mu        sync.Mutex
	refreshes map[string]*refreshGroup // by index
}

// Locate names the index that a tenant's assets are searched in.
type Locate func(context.Context, library.TenantID) (index string, shared bool, err error)

// NewWaiter makes a waiter for the indices that searches read.
func NewWaiter(search *opensearch.Client, index Locate, m *Metrics) *Waiter {
	return &Waiter{search: search, index: index, metrics: m, refreshes: map[string]*refreshGroup{}}
}

// refresher returns what refreshes an index.
func (w *Waiter) refresher(index string) *refreshGroup {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.refreshes[index]
	if r == nil {
		r = &refreshGroup{do: func(ctx context.Context) error {
			return opensearch.Call(ctx, w.search, http.MethodPost, "/"+index+"/_refresh", nil, nil)
		}}
		w.refreshes[index] = r
	}
	return r
}

// Await blocks until searches see some writes of a tenant, for most (at most
// MaxWait) and no longer. It reports whether they do. When time runs out, or
// OpenSearch does not answer, it gives false: the search should go on and say
// that it may be behind.
func (w *Waiter) Await(ctx context.Context, tenant library.TenantID, writes []Write, most time.Duration) bool {
	if len(writes) == 0 {
		return true
	}
	began := time.Now()
	defer func() { w.metrics.refreshWait.Observe(time.Since(began).Seconds()) }()
	ctx, cancel := context.WithTimeout(ctx, min(most, MaxWait))
	defer cancel()
	for {
		index, _, err := w.index(ctx, tenant)
		if err != nil || !w.awaitIn(ctx, index, tenant, writes) {
			return false
		}
		// A tenant that moved meanwhile is searched in another index, which got the writes
		// but may not show them yet.
		if now, _, err := w.index(ctx, tenant); err != nil || now == index {
			return err == nil
		}
	}
}

// awaitIn is Await for one index.
func (w *Waiter) awaitIn(ctx context.Context, index string, tenant library.TenantID, writes []Write) bool {
	for pause := 5 * time.Millisecond; len(writes) > 0; pause = min(2*pause, 50*time.Millisecond) {
		if writes = w.pending(ctx, index, tenant, writes); len(writes) > 0 && retry.Sleep(ctx, pause) != nil {
			return false
		}
	}
	return w.refresher(index).await(ctx) == nil
}

// pending returns the writes whose documents are not in the index yet, searchable
// or not; all of them when OpenSearch does not say.
func (w *Waiter) pending(ctx context.Context, index string, tenant library.TenantID, writes []Write) []Write {
	type doc struct {
		ID      string `json:"_id"`
		Routing string `json:"routing"`
		Source  bool   `json:"_source"`
	}
	ask := make([]doc, len(writes))
	for i, x := range writes {
		ask[i] = doc{ID: mappings.DocumentID(tenant, x.Key), Routing: mappings.Routing(tenant)}
	}
	body, err := json.Marshal(map[string]any{"docs": ask})
	if err != nil {
		return writes
	}
	var found struct {
		Docs []struct {
			Version int64 `json:"_version"`
		} `json:"docs"`
	}
	err = opensearch.Call(ctx, w.search, http.MethodPost, "/"+index+"/_mget?filter_path=docs._version,docs._id", body, &found)
	if err != nil || len(found.Docs) != len(writes) {
		return writes
	}
	var left []Write
	for i, x := range writes {
		if found.Docs[i].Version < x.Version {
			left = append(left, x)
		}
	}
	return left
}

// refreshGroup folds the refreshes of many callers into few: one is under way, and
// all who come meanwhile share the next.
type refreshGroup struct {
	do func(context.Context) error

	mu      sync.Mutex
	running *refreshCall
	next    *refreshCall
}

type refreshCall struct {
	done chan struct{}
	err  error
}

// refreshTimeout ends a refresh that gets no answer. It is longer than any
// caller waits, because the refresh is not one caller's alone.
const refreshTimeout = 10 * time.Second

// await returns once a refresh that began after the call has ended.
func (r *refreshGroup) await(ctx context.Context) error {
	r.mu.Lock()
	mine := r.next
	if mine == nil {
		mine = &refreshCall{done: make(chan struct{})}
		if r.running == nil {
			r.running = mine
			go r.run(mine) //nolint:gosec // many wait for one refresh, which must not end with the first of them
		} else {
			r.next = mine
		}
	}
	r.mu.Unlock()
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run refreshes for one group of callers, and then for the next that formed.
func (r *refreshGroup) run(f *refreshCall) {
	for f != nil {
		ctx, cancel := context.WithTimeout(context.Background(), refreshTimeout)
		f.err = panics.Try(func() error { return r.do(ctx) })
		cancel()
		close(f.done)
		r.mu.Lock()
		f, r.next = r.next, nil
		r.running = f
		r.mu.Unlock()
	}
}
