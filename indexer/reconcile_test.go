package indexer

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// indexNow brings assets into the index without Kafka.
func (e *env) indexNow(x *Indexer, hashes ...library.AssetHash) {
	e.t.Helper()
	keys := make([]indexstate.DocumentKey, len(hashes))
	for i, h := range hashes {
		keys[i] = e.key(h)
	}
	b, err := x.read(e.ctx, keys, nil)
	if err == nil {
		err = x.writer.writeBatch(e.ctx, b)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

func TestReconcile_RepairsEveryKindOfDifference(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	var h []library.AssetHash
	for i := range 12 {
		h = append(h, e.add(typicalAsset(fmt.Sprint(i))).Hash)
	}
	e.retitle("second version", h...)
	e.indexNow(x, h...)
	if got, err := x.Reconcile(e.ctx, nil); err != nil || got.Count != 12 || got.Repaired() != 0 {
		t.Fatalf("an index in order: %+v, error %v", got, err)
	}

	e.spoil(x, h)

	told := map[[2]int64]bool{}
	got, err := x.Reconcile(e.ctx, func(done, total int64) { told[[2]int64{done, total}] = true })
	if err != nil {
		t.Fatal(err)
	}
	want := ReconcileReport{Documents: Documents{Count: 9}, Missing: 2, Stale: 1, Orphans: 4, Ahead: 1}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ReconcileReport{}, "Checksum", "Took")); diff != "" {
		t.Errorf("first pass (-want +got):\n%s", diff)
	}
	if !told[[2]int64{10, 10}] {
		t.Errorf("the progress was %v", told)
	}
	again, err := x.Reconcile(e.ctx, nil)
	if err != nil || again.Count != 9 || again.Missing+again.Stale+again.Orphans+again.Ahead != 0 || again.Checksum != got.Checksum {
		t.Errorf("second pass: %+v, error %v; first %+v", again, err, got)
	}
	if problem := e.differs(h...); problem != "" {
		t.Error(problem)
	}
	e.retitle("and on", h[6]) // versions go on from where the library was set back to
	e.indexNow(x, h[6])
	if problem := e.differs(h[6]); problem != "" {
		t.Error(problem)
	}
}

// spoil makes documents differ from the rows in every way.
func (e *env) spoil(x *Indexer, h []library.AssetHash) {
	t := e.t
	t.Helper()
	// Missing: two documents vanish.
	for _, gone := range h[:2] {
		path := fmt.Sprintf("/%s/_doc/%s?routing=%s", x.names.Index(1), mappings.DocID(e.actor.Tenant, gone), e.actor.Tenant)
		if err := opensearch.Call(e.ctx, e.search, http.MethodDelete, path, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	// Stale: a change whose event was lost.
	e.retitle("changed", h[2])
	// Orphans: one asset purged, one in the trash, one whose row left no trace, and
	// one of a tenant nobody knows.
	e.purge(h[3])
	e.exec(`UPDATE assets SET trashed_at = now(), doc_version = doc_version + 1 WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(h[4]))
	e.exec(`DELETE FROM assets WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(h[5]))
	stranger := library.TenantID(uuid.NewString())
	e.plant(mappings.Document{TenantID: stranger, AssetH: h[0], DocVersion: 4, Title: "ghost"})
	// Ahead: the library was set back, as by restoring a backup.
	e.exec(`UPDATE assets SET doc_version = 1, title = 'restored' WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(h[6]))
}

// plant writes a document past every rule.
func (e *env) plant(d mappings.Document) {
	e.t.Helper()
	path := fmt.Sprintf("/%s/_doc/%s?routing=%s&version=%d&version_type=external", mappings.Names(e.cfg.Prefix).Index(1), mappings.DocID(d.TenantID, d.AssetH), d.TenantID, d.DocVersion)
	if err := opensearch.Call(e.ctx, e.search, http.MethodPut, path, appendDocument(nil, &d), nil); err != nil {
		e.t.Fatal(err)
	}
}

func TestReconcile_RestoresWhatALostTopicTookWithIt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.comparePage = 10
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	e.fillLibrary(21) // none of it was ever announced
	got, err := x.Reconcile(e.ctx, nil)
	if err != nil || got.Missing != 21 || got.Remaining != 0 || got.Count != 21 {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestReconcile_TombstonesArePurgedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	old, young, back := e.add(newAsset("old")).Hash, e.add(newAsset("young")).Hash, e.add(newAsset("back")).Hash
	for _, h := range []library.AssetHash{old, young, back} {
		e.purge(h)
	}
	e.indexNow(x, old, young, back)
	e.exec(`UPDATE asset_tombstones SET deleted_at = now() - interval '9 days' WHERE asset_h IN ($1, $2)`, string(old), string(back))
	e.add(newAsset("back"))
	e.indexNow(x, back)
	n, err := x.PurgeTombstones(e.ctx)
	if n != 1 || err != nil {
		t.Errorf("purged %d, error %v", n, err)
	}
	if e.get(e.alias(), old).Found || !e.get(e.alias(), young).Found || !e.get(e.alias(), back).Found {
		t.Errorf("left: old %v, young %v, back %v", e.get(e.alias(), old).Found, e.get(e.alias(), young).Found, e.get(e.alias(), back).Found)
	}
	e.add(newAsset("old")) // comes back right after the purge
	e.indexNow(x, old)
	if problem := e.differs(old, back); problem != "" {
		t.Error(problem)
	}
}

func TestReconcile_ASearchWaitsForItsCallersWrites(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	w := NewWaiter(e.search, e.located, NewMetrics())
	a := e.add(newAsset("a"))
	writes := []Write{{string(a.Hash), a.DocVersion}}
	if w.Await(e.ctx, e.actor.Tenant, writes, 200*time.Millisecond) {
		t.Error("it was seen before the write arrived")
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	type answer struct {
		seen bool
		n    int64
	}
	answers := make(chan answer)
	for range 8 {
		go func() {
			seen := w.Await(ctx, e.actor.Tenant, writes, time.Minute)
			n, _ := e.count()
			answers <- answer{seen, n}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	e.indexNow(x, a.Hash)
	for range 8 {
		// On a machine under load the two seconds may pass; then it must say so.
		if got := <-answers; got.seen && got.n != 1 {
			t.Errorf("after the write: %+v", got)
		}
	}
	e.eventually(time.Minute, func() string {
		if !w.Await(e.ctx, e.actor.Tenant, writes, MaxWait) {
			return "the write is not seen"
		}
		return ""
	})
}
