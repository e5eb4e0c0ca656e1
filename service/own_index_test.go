package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/service/servicetest"
)

// TestOwnIndex_ATenantMovesWithoutAFailedSearchOrALostWrite lets a tenant outgrow the
// shared index while it searches and stores, beside another that stays.
func TestOwnIndex_ATenantMovesWithoutAFailedSearchOrALostWrite(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	cfg.OwnIndexAt = 8
	e := servicetest.StartWith(t, cfg, nil)
	small := e.NewTenant("small")
	smallKey := e.NewKey(small, library.Permissions...)
	e.Search(smallKey, "", e.StoreFile(smallKey, "bird.png", "image/png", picture(900), "winter").IndexToken)

	w := &winters{e: e}
	stop := w.search()
	for range 8 {
		w.store()
	}
	tenant := e.Tenant
	moved := func() error {
		w.store() // also while it moves
		shared, own := documentsOf(t, e, mappings.Names(cfg.Prefix).Alias(), tenant), documentsOf(t, e, mappings.Names(cfg.Prefix).Own(tenant).Alias(), tenant)
		if shared != 0 || own < 9 {
			return fmt.Errorf("the shared index has %d documents of the tenant, its own %d", shared, own)
		}
		return nil
	}
	servicetest.Eventually(t, "the tenant is in its own index alone", moved)
	for range 3 {
		w.store()
	}
	stop()
	if n := documentsOf(t, e, mappings.Names(cfg.Prefix).Alias(), small); n != 1 {
		t.Errorf("the shared index has %d documents of the tenant that stayed", n)
	}
	if f := e.Search(smallKey, "tag:winter", ""); f.Total != 1 {
		t.Errorf("the tenant that stayed finds %d files", f.Total)
	}
	rebuilt, err := e.Indexer.Rebuild(t.Context(), nil) // of both
	if err != nil || rebuilt.Count != int64(w.stored)+1 {
		t.Fatalf("rebuilt %d documents of %d: %v", rebuilt.Count, w.stored+1, err)
	}
	if f := e.Search("", "tag:winter", ""); f.Total != w.stored {
		t.Errorf("after a rebuild %d of %d files are found", f.Total, w.stored)
	}
	report, err := e.Indexer.Reconcile(t.Context(), nil)
	if err != nil || report.Repaired() != 0 || report.Remaining != 0 || report.Count != int64(w.stored)+1 {
		t.Errorf("comparing: %+v, %v", report, err)
	}
}

// winters stores and finds files with the tag winter.
type winters struct {
	e      *servicetest.Env
	mu     sync.Mutex
	stored int
}

// store stores another file, which its writer sees at once, wherever its index is.
func (w *winters) store() {
	t, e := w.e.T, w.e
	w.mu.Lock()
	n := w.stored + 1
	w.mu.Unlock()
	token := e.StoreFile("", fmt.Sprintf("fox%d.png", n), "image/png", picture(n), "winter").IndexToken
	if f := e.Search("", "tag:winter", token); f.Total != n {
		t.Errorf("after storing %d files, %d are found: %v", n, f.Total, f.Degraded)
	}
	w.mu.Lock()
	w.stored = n
	w.mu.Unlock()
}

// search searches again and again until the returned function is called, which fails the test
// where a search failed or missed a file that had been stored before.
func (w *winters) search() (stop func()) {
	t, e := w.e.T, w.e
	end, failed := make(chan struct{}), ""
	var searching sync.WaitGroup
	asked := 0
	searching.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
			w.mu.Lock()
			least := w.stored
			w.mu.Unlock()
			status, found, _ := searchOnce(e)
			asked++
			if (status != http.StatusOK || found.Total < least || found.Total > least+1 || len(found.Degraded) > 0) && failed == "" {
				failed = fmt.Sprintf("status %d, %d files found of %d stored, degraded %v", status, found.Total, least, found.Degraded)
			}
		}
	})
	return func() {
		close(end)
		searching.Wait()
		if failed != "" {
			t.Error("a search while the tenant moved:", failed)
		}
		t.Logf("%d searches, %d files", asked, w.stored)
	}
}

// documentsOf counts the searchable documents of a tenant in an index; 0 where there
// is none.
func documentsOf(t *testing.T, e *servicetest.Env, index string, tenant library.TenantID) int {
	t.Helper()
	var found struct {
		Count int `json:"count"`
	}
	body, _ := json.Marshal(map[string]any{"query": map[string]any{"bool": map[string]any{"filter": []any{
		map[string]any{"term": map[string]any{"tenant_id": tenant}}, map[string]any{"term": map[string]any{"deleted": false}}}}}})
	err := opensearch.Call(t.Context(), e.OpenSearch, http.MethodPost, "/"+index+"/_count", body, &found)
	var refused *opensearch.ResponseError
	if err != nil && !(errors.As(err, &refused) && refused.Status == http.StatusNotFound) {
		t.Fatal(err)
	}
	return found.Count
}
