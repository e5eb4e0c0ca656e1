package indexer

import (
	"fmt"
	"testing"
	"time"

	"vitrine/internal/retry"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/mappings"
)

// setBackTo makes the database one that was restored: of two assets, one is as it was
// long ago, one does not exist, and both may be changed again under versions that the
// index knows. how is what gives the restore away, as SQL; it may be "".
func (e *env) setBackTo(how string, old, gone library.AssetHash) {
	e.t.Helper()
	e.exec(`UPDATE assets SET doc_version = 1, title = 'restored' WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(old))
	e.exec(`DELETE FROM assets WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(gone))
	if how != "" {
		e.exec(how)
	}
}

// TestEpoch_AnIndexThatIsAheadOfARestoredDatabaseIsReplaced restores an older database
// beside a running indexer, in ways that are noticed and in one that is not. Searches
// then show what the database holds, and what is written from then on.
func TestEpoch_AnIndexThatIsAheadOfARestoredDatabaseIsReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, how string
		noticed   bool
	}{
		{"the database lives elsewhere", `UPDATE index_state SET place = 'elsewhere'`, true},
		{"its server was set back", "", true}, // the index is made to know of a later server below
		{"nothing gives it away but a change", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.cfg.eventsOnly = false
			x := e.indexer()
			stop := e.run(e.relay(), x)
			var hashes []library.AssetHash
			for i := range 6 {
				hashes = append(hashes, e.add(typicalAsset(fmt.Sprint(i))).Hash)
			}
			old, equal, gone := hashes[0], hashes[1], hashes[2]
			for n := range 4 {
				e.retitle(fmt.Sprint("title ", n), old, equal)
			}
			e.eventually(time.Minute, func() string { return e.searchable(x, hashes...) })
			stop()
			before, err := x.liveIndex(e.ctx)
			if err != nil {
				t.Fatal(err)
			}
			e.setBackTo(c.how, old, gone)
			// Another past under the very version that the index has.
			e.exec(`UPDATE assets SET title = 'in another past' WHERE tenant_id = $1 AND asset_h = $2`, string(e.actor.Tenant), string(equal))
			if c.noticed && c.how == "" {
				e.knowLaterServer(x, before)
			}
			y := e.indexer()
			e.run(e.relay(), y)
			left := append([]library.AssetHash{old, equal}, hashes[3:]...)
			if !c.noticed {
				e.retitle("new", old)
			}
			e.eventually(2*time.Minute, func() string { return e.searchable(y, left...) })
			if now, err := y.liveIndex(e.ctx); now == before || err != nil {
				t.Errorf("the live index is still %s, error %v", now, err)
			}
			e.retitle("newer", left...)
			back := e.add(typicalAsset("2"))
			if back.Hash != gone {
				t.Fatal("the same bytes have another hash")
			}
			e.eventually(2*time.Minute, func() string { return e.searchable(y, append(left, gone)...) })
		})
	}
}

// knowLaterServer makes an index know of a later state of the database server.
func (e *env) knowLaterServer(x *Indexer, index string) {
	t := e.t
	t.Helper()
	now, err := e.store.IndexState.Epoch(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.setMeta(e.ctx, index, mappings.Meta{Epoch: now.ID, WAL: now.WAL + 1<<40}); err != nil {
		t.Fatal(err)
	}
}

// TestRollback_RefusesAnIndexOfAnEarlierTime: its versions say nothing.
func TestRollback_RefusesAnIndexOfAnEarlierTime(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	e.indexNow(x, e.add(newAsset("a")).Hash)
	if _, err := x.Rebuild(e.ctx, nil); err != nil {
		t.Fatal(err)
	}
	e.exec(`UPDATE index_state SET place = 'elsewhere'`)
	if _, err := x.Rollback(e.ctx, nil); library.AsError(err).Code != library.CodeConflict {
		t.Errorf("going back to an index of another epoch: %v", err)
	}
	if _, err := x.Rebuild(e.ctx, nil); err != nil {
		t.Errorf("rebuilding in the new epoch: %v", err)
	}
}

// TestLostTopic_IsFollowedByAComparison: what it held is not known, and nothing else
// would bring those assets into the index.
func TestLostTopic_IsFollowedByAComparison(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	x := e.indexer()
	stop := e.run(e.relay(), x)
	a := e.add(newAsset("a"))
	e.eventually(time.Minute, func() string { return e.searchable(x, a.Hash) })
	e.eventually(time.Minute, func() string {
		if seen, err := e.store.IndexState.StreamSeen(e.ctx); !seen || err != nil {
			return fmt.Sprintf("the topic was seen: %v, error %v", seen, err)
		}
		return ""
	})
	stop()
	b := e.add(newAsset("b"))
	e.exec(`DELETE FROM outbox`) // published, and then lost with the topic
	if err := testenv.DeleteTopic(e.ctx, e.cfg.Brokers, e.cfg.changesTopic()); err != nil {
		t.Fatal(err)
	}
	y := e.indexer()
	e.run(e.relay(), y)
	e.eventually(2*time.Minute, func() string { return e.searchable(y, a.Hash, b.Hash) })
}

// TestFirstTopic_OfALibraryThatStoresAtOnceIsNoLoss: the service that makes the topic
// is not the fastest to see it, and searches must not be called incomplete for that.
func TestFirstTopic_OfALibraryThatStoresAtOnceIsNoLoss(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	a := e.add(newAsset("a"))
	x := e.indexer()
	e.run(e.relay(), x)
	e.eventually(time.Minute, func() string { return e.searchable(x, a.Hash) })
	for range 3 {
		if err := retry.Sleep(e.ctx, 2*pollInterval); err != nil { // past the next look of relay and watchdog
			t.Fatal(err)
		}
		if w, err := e.store.IndexState.WantedComparison(e.ctx); !w.Since.IsZero() || err != nil {
			t.Fatalf("a comparison was wanted: %+v, error %v", w, err)
		}
	}
}
