package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/store"
)

// TestLineageLocks_ChainsChangeAtOnceWithoutDeadlock: children are stored while their parent goes
// to the trash, comes back and is read again. Everybody takes the locks in the same
// order, so the database never has to end one of them to let the others go on.
func TestLineageLocks_ChainsChangeAtOnceWithoutDeadlock(t *testing.T) {
	t.Parallel()
	s := open(t)
	own := func(n store.NewAsset, i int) store.NewAsset {
		n.Asset.BLAKE3 = fmt.Sprintf("%064x", i) // else all would wait for one lock
		return n
	}
	hub := own(file("hub"), 0)
	last := add(t, s, s.a, hub).OperationID
	for i := range 20 {
		add(t, s, s.a, own(from(fmt.Sprint("early", i), "hub"), 1+i))
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 15 {
				n := own(from(fmt.Sprintf("late%d_%d", worker, i), "hub"), 100+20*worker+i)
				if _, err := s.Assets.Add(t.Context(), s.a, n); err != nil {
					t.Errorf("storing a child: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 15 {
			again := hub
			again.Lineage.ToolVersion = fmt.Sprint(i)
			if _, err := s.Extraction.Replace(t.Context(), s.a, again); err != nil {
				t.Errorf("reading the parent again: %v", err)
			}
		}
	})
	wg.Go(func() {
		for range 10 {
			u, err := s.Operations.Undo(t.Context(), s.a, last, anyone)
			if err != nil {
				t.Errorf("moving the parent: %v", err)
				return
			}
			last = u.OperationID
		}
	})
	wg.Wait()
	if _, err := s.Assets.Add(t.Context(), s.a, hub); err != nil { // in case an error left it in the trash
		t.Error(err)
	}
	c := s.chain(t, hub, false, true, 1, 500)
	if len(c.Nodes) != 1+20+60 {
		t.Errorf("the parent has %d children, not 80", len(c.Nodes)-1)
	}
	if n := s.deadlocks(t); n != 0 {
		t.Errorf("the database ended %d deadlocks", n)
	}
}

// deadlocks closes the store and tells how many deadlocks its database has seen:
// a connection's counts are sure to be written when it ends.
func (s bench) deadlocks(t *testing.T) (n int) {
	t.Helper()
	s.Close()
	conn, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
