package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/events"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// witness is a subscriber of events beside the indexer, in the process of the test. What
// happens to servers and processes may bring it an event again, and nothing else.
type witness struct {
	t   *testing.T
	cfg service.Config

	mu     sync.Mutex
	last   map[string]int64 // by key: the highest position that came
	came   map[int64]int    // by position: how often
	faults []string
}

// newWitness subscribes to every event of a library from the first.
func newWitness(t *testing.T, cfg service.Config) *witness {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{URL: cfg.PostgresURL})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{t: t, cfg: cfg, last: map[string]int64{}, came: map[int64]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- events.Run(ctx, st, events.Config{Prefix: cfg.Prefix, Brokers: cfg.Brokers, Log: slog.New(slog.DiscardHandler)}, events.NewMetrics(prometheus.NewRegistry()),
			events.Subscriber{Name: "witness", FromStart: true, Handle: w.handle})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the subscriber ended with %v", err)
		}
		st.Close()
	})
	return w
}

func (w *witness) handle(_ context.Context, e events.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := fmt.Sprint(e.Tenant, " ", e.Key)
	if w.came[e.Position] == 0 && e.Position < w.last[key] {
		w.faults = append(w.faults, fmt.Sprintf("event %d of %s came after event %d", e.Position, e.Key, w.last[key]))
	}
	w.came[e.Position]++
	w.last[key] = max(w.last[key], e.Position)
	return nil
}

// sawAll waits until the subscriber has had each event of the log and nothing else, those of
// one key in their order.
func (w *witness) sawAll(when string) {
	w.t.Helper()
	servicetest.Eventually(w.t, "the subscriber has every event: "+when, func() error {
		logged, err := w.logged()
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, position := range logged {
			if w.came[position] == 0 {
				return fmt.Errorf("event %d of %d did not come", position, len(logged))
			}
		}
		if len(w.came) != len(logged) || len(logged) == 0 {
			return fmt.Errorf("%d events came, the log has %d", len(w.came), len(logged))
		}
		return nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	again := 0
	for _, n := range w.came {
		again += n - 1
	}
	for _, f := range w.faults {
		w.t.Error(f)
	}
	w.faults = nil
	w.t.Logf("%s: %d events, %d came again", when, len(w.came), again)
}

// logged lists the positions of the log; it is an error that something became a dead letter,
// or is not in the log yet.
func (w *witness) logged() (positions []int64, err error) {
	ctx := w.t.Context()
	c, err := pgx.Connect(ctx, w.cfg.PostgresURL)
	if err != nil {
		return nil, err
	}
	defer c.Close(context.Background())
	var waiting, dead int
	err = c.QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox WHERE topic = 'events'), (SELECT count(*) FROM dead_letters)`).Scan(&waiting, &dead)
	if err == nil && waiting+dead > 0 {
		err = fmt.Errorf("%d events wait in the outbox, %d became dead letters", waiting, dead)
	}
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, `SELECT position FROM events ORDER BY position`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
