package indexer

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
)

// TestAwait_SeesTheWriteInTheIndexThatTheTenantMovesToMeanwhile: a tenant is searched in
// another index from the middle of a wait on. That index has the write and does not show it
// before somebody refreshes it.
func TestAwait_SeesTheWriteInTheIndexThatTheTenantMovesToMeanwhile(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	d := mappings.Document{TenantID: e.actor.Tenant, AssetH: "da39a3ee5e6b4b0d3255bfef95601890afd80709", DocVersion: 3, Title: "fox"}
	names := mappings.Names(e.cfg.Prefix)
	shared, own := names.Index(1), names.Own(e.actor.Tenant).Index(1)
	for _, index := range []string{shared, own} {
		body, err := mappings.Create(index, mappings.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		e.ask(http.MethodPut, "/"+index, body)
		e.ask(http.MethodPut, "/"+index+"/_settings", []byte(`{"index":{"refresh_interval":"-1"}}`))
		path := fmt.Sprintf("/%s/_doc/%s?routing=%s&version=%d&version_type=external", index, mappings.DocID(d.TenantID, d.AssetH), d.TenantID, d.DocVersion)
		if err := opensearch.Call(e.ctx, e.search, http.MethodPut, path, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	var asked atomic.Int32
	w := NewWaiter(e.search, func(context.Context, library.TenantID) (string, bool, error) {
		if asked.Add(1) == 1 {
			return shared, true, nil
		}
		return own, false, nil
	}, NewMetrics())
	if !w.Await(e.ctx, e.actor.Tenant, []Write{{string(d.AssetH), d.DocVersion}}, time.Minute) {
		t.Fatal("the write is in both indices, and the wait says that it cannot be seen")
	}
	var shown struct {
		Count int64 `json:"count"`
	}
	if err := opensearch.Call(e.ctx, e.search, http.MethodGet, "/"+own+"/_count", nil, &shown); err != nil || shown.Count != 1 {
		t.Errorf("after the wait the index that is searched shows %d documents, error %v", shown.Count, err)
	}
}

// TestAwait_WaitsAsLongAsItsCallerAsks: a write that is never shown is waited for all the time.
func TestAwait_WaitsAsLongAsItsCallerAsks(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	index := mappings.Names(e.cfg.Prefix).Index(1)
	body, err := mappings.Create(index, mappings.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	e.ask(http.MethodPut, "/"+index, body)
	w := NewWaiter(e.search, func(context.Context, library.TenantID) (string, bool, error) { return index, true, nil }, NewMetrics())
	const most = 2500 * time.Millisecond
	began := time.Now()
	if w.Await(e.ctx, e.actor.Tenant, []Write{{"da39a3ee5e6b4b0d3255bfef95601890afd80709", 1}}, most) {
		t.Error("a write that never came is shown")
	}
	if took := time.Since(began); took < most {
		t.Errorf("it was waited for %s instead of %s", took, most)
	}
}
