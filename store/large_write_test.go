package store_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// heapPeak reports how much the heap grows at most while fn runs, in bytes.
func heapPeak(fn func()) int64 {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak.Store(max(peak.Load(), int64(now.HeapInuse)-int64(before.HeapInuse)))
			}
		}
	}()
	fn()
	close(stop)
	<-stopped
	return peak.Load()
}

// TestWrite_ChangesOfAHundredThousandAssetsTakeTheMemoryOfAPage changes 100,000 assets in
// one operation and undoes it.
func TestWrite_ChangesOfAHundredThousandAssetsTakeTheMemoryOfAPage(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	db := storetest.Owner(t, s.url)
	const n, page, most = 100_000, 1000, 64 << 20
	if _, err := db.Exec(ctx, `INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT $1, lpad(to_hex(i), 40, '0'), '', '', i || '.png', 'image/png', 1, now(), 'test', 1 FROM generate_series(1, $2) i`, string(s.a.Tenant), n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `ANALYZE assets`); err != nil { // as autovacuum does
		t.Fatal(err)
	}
	start := time.Now()
	var operation string
	peak := heapPeak(func() {
		operation = tagPages(t, s, n, page)
	})
	t.Logf("changing %d assets took %d MB more heap, %v", n, peak>>20, time.Since(start))
	if peak > most {
		t.Errorf("changing %d assets took %d MB of memory", n, peak>>20)
	}
	counts := func() (tagged, journal, audit, outbox, documents int, summary string) {
		if err := db.QueryRow(ctx, `SELECT (SELECT count(*) FROM assets WHERE tags = '{many}'), (SELECT count(*) FROM journal), (SELECT count(*) FROM audit WHERE action LIKE 'asset.%'),
			(SELECT count(*) FROM outbox WHERE topic = 'documents'), (SELECT count(*) FROM operation_documents), (SELECT string_agg(summary::text, ' ' ORDER BY operation_id) FROM operations)`).
			Scan(&tagged, &journal, &audit, &outbox, &documents, &summary); err != nil {
			t.Fatal(err)
		}
		return
	}
	if tagged, journal, audit, outbox, documents, summary := counts(); tagged != n || journal != n || audit != n || outbox != n || documents != n || summary != `{"asset": 100000}` {
		t.Errorf("%d tagged, %d in the journal, %d in the audit trail, %d in the outbox, %d documents, counted as %s", tagged, journal, audit, outbox, documents, summary)
	}
	var undone store.UndoResult
	peak = heapPeak(func() {
		var err error
		if undone, err = s.Operations.Undo(ctx, s.a, operation, anyone); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("undoing it took %d MB more heap", peak>>20)
	if peak > most || undone.Counts[library.OutcomeReverted] != n || len(undone.Outcomes) != store.MaxOutcomes {
		t.Errorf("undoing it took %d MB, with %v and %d outcomes listed", peak>>20, undone.Counts, len(undone.Outcomes))
	}
	if tagged, journal, _, _, _, summary := counts(); tagged != 0 || journal != 2*n || summary != `{"asset": 100000} {"asset": 100000}` {
		t.Errorf("%d tagged after the undo, %d in the journal, counted as %s", tagged, journal, summary)
	}
}

// tagPages tags n assets in one operation, a page at a time, and returns the operation.
func tagPages(t *testing.T, s bench, n, page int) string {
	t.Helper()
	ctx := t.Context()
	operation, err := s.Write(ctx, s.a, func(tx *store.Tx) error {
		for first := 1; first <= n; first += page {
			hashes := make([]library.AssetHash, page)
			for i := range hashes {
				hashes[i] = library.AssetHash(fmt.Sprintf("%040x", first+i))
			}
			if _, err := tx.ChangeAssets(ctx, hashes, func(a *library.Asset) { a.Tags = []string{"many"} }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return operation
}
