package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// TestDeadline_ALockedRowHoldsARequestForAStatedTimeOnly has one connection: the
// request that waits for the lock holds it, and the next one waits for it.
func TestDeadline_ALockedRowHoldsARequestForAStatedTimeOnly(t *testing.T) {
	t.Parallel()
	one := open(t)
	h := add(t, one, one.a, file("fox")).Asset.Hash
	s, err := store.Open(t.Context(), store.Config{URL: one.url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner := storetest.Owner(t, one.url)
	if _, err := owner.Exec(t.Context(), `BEGIN; SELECT FROM assets FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	type end struct {
		err  error
		took time.Duration
	}
	locked := make(chan end, 1)
	go func() {
		began := time.Now()
		_, err := s.Assets.Change(context.Background(), one.a, []library.AssetHash{h}, func(a *library.Asset) { a.Title = "late" })
		locked <- end{err, time.Since(began)}
	}()
	for { // until it has the connection
		var n int
		if err := one.Requests().QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	began := time.Now()
	_, err = s.Assets.Get(t.Context(), one.a, h)
	isUnavailable(t, "a request without a connection", err, time.Since(began), 10*time.Second)
	e := <-locked
	isUnavailable(t, "a request that waits for a lock", e.err, e.took, 30*time.Second)
	if _, err := owner.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Assets.Get(t.Context(), one.a, h); err != nil || d.Asset.Title != "" {
		t.Errorf("afterwards: %q, %v", d.Asset.Title, err)
	}
}

func isUnavailable(t *testing.T, what string, err error, took, limit time.Duration) {
	t.Helper()
	f := library.AsError(err)
	if err == nil || f.Kind != library.KindUnavailable || f.RetryAfter <= 0 || took > limit {
		t.Errorf("%s ended after %s with %v", what, took, err)
	}
}

// TestDeadline_AStatementThatIsOnlySlowIsWaitedFor sleeps longer than a server is
// given to answer the question whether it hangs.
func TestDeadline_AStatementThatIsOnlySlowIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := open(t)
	if _, err := s.Requests().Exec(t.Context(), `SELECT pg_sleep(5)`); err != nil {
		t.Error(err)
	}
}

// TestDeadline_AListenerIsNotDisturbed waits for a notification longer than a server
// is given.
func TestDeadline_AListenerIsNotDisturbed(t *testing.T) {
	t.Parallel()
	s := open(t)
	woken := make(chan struct{}, 10)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { ended <- s.Outbox.Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken
	select {
	case err := <-ended:
		t.Fatalf("the listener ended: %v", err)
	case <-time.After(6 * time.Second):
	}
	if _, err := storetest.Owner(t, s.url).Exec(t.Context(), `SELECT pg_notify('outbox', '')`, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	select {
	case <-woken:
	case err := <-ended:
		t.Fatalf("the listener ended: %v", err)
	case <-time.After(10 * time.Second):
		t.Fatal("the notification did not come")
	}
}
