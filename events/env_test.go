package events_test

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/events"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// env is a library with a relay of events.
type env struct {
	*testing.T
	store *store.Store
	url   string
	owner *pgx.Conn
	cfg   events.Config
	actor library.Actor
}

func newEnv(t *testing.T) *env {
	t.Helper()
	st, url := storetest.Open(t)
	brokers, prefix := testenv.Kafka(t)
	e := &env{T: t, store: st, url: url, owner: storetest.Owner(t, url),
		cfg: events.Config{Prefix: prefix, Brokers: brokers, Log: slog.New(slog.NewTextHandler(testLog{t}, nil))}}
	e.actor = library.Actor{Kind: library.ActorSystem, ID: "test", Tenant: library.TenantID(uuid.NewString())}
	e.exec(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'test')`, string(e.actor.Tenant))
	return e
}

type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Logf("%s", b[:len(b)-1])
	}
	return len(b), nil
}

func (e *env) exec(sql string, args ...any) {
	e.Helper()
	if _, err := e.owner.Exec(e.Context(), sql, args...); err != nil {
		e.Fatal(err)
	}
}

// run runs something until the returned function or the end of the test stops it.
func (e *env) run(f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(e.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := f(ctx); err != nil {
			e.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	e.Cleanup(stop)
	return stop
}

func (e *env) relay() (stop func()) {
	return e.run(events.NewRelay(e.store, e.cfg, events.NewMetrics(prometheus.NewRegistry())).Run)
}

func (e *env) subscribe(s events.Subscriber) (stop func()) {
	return e.run(func(ctx context.Context) error {
		return events.Run(ctx, e.store, e.cfg, events.NewMetrics(prometheus.NewRegistry()), s)
	})
}

// add stores an asset and returns its hash.
func (e *env) add(seed string) library.AssetHash {
	e.Helper()
	h, h2 := sha1.Sum([]byte(seed)), sha256.Sum256([]byte(seed))
	a := library.Asset{Hash: library.AssetHash(hex.EncodeToString(h[:])), SHA256: hex.EncodeToString(h2[:]), Filename: seed + ".png", MIMEType: "image/png", Size: 1, CreatedAt: time.Now()}
	if _, err := e.store.Assets.Add(e.Context(), e.actor, store.NewAsset{Asset: a}); err != nil {
		e.Fatal(err)
	}
	return a.Hash
}

// retitle changes an asset.
func (e *env) retitle(h library.AssetHash, title string) string {
	e.Helper()
	res, err := e.store.Assets.Change(e.Context(), e.actor, []library.AssetHash{h}, func(a *library.Asset) { a.Title = title })
	if err != nil {
		e.Fatal(err)
	}
	return res.OperationID
}

// logged returns the whole log of the tenant.
func (e *env) logged() []events.Event {
	e.Helper()
	list, err := e.store.Events.After(e.Context(), e.actor, 0, nil, 100000)
	if err != nil {
		e.Fatal(err)
	}
	return list
}

func (e *env) eventually(limit time.Duration, wrong func() string) {
	e.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		w := wrong()
		if w == "" {
			return
		}
		if time.Now().After(end) {
			e.Fatalf("after %s still: %s", limit, w)
		}
	}
}

// seen is what a subscriber was given, by position.
type seen struct {
	mu    sync.Mutex
	order map[string][]int64 // positions by key, in the order they came, each once
	times map[int64]int
}

func newSeen() *seen { return &seen{order: map[string][]int64{}, times: map[int64]int{}} }

func (s *seen) handle(_ context.Context, e events.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times[e.Position]++; s.times[e.Position] == 1 {
		s.order[e.Key] = append(s.order[e.Key], e.Position)
	}
	return nil
}

func (s *seen) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.times)
}

// wrong reports what of a log was not handled, or not in the order of its keys.
func (s *seen) wrong(log []events.Event) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range log {
		if s.times[e.Position] == 0 {
			return fmt.Sprintf("%s at %d was not handled (%d of %d were)", e.Type, e.Position, len(s.times), len(log))
		}
	}
	for key, positions := range s.order {
		if !slices.IsSorted(positions) {
			return fmt.Sprintf("the events of %s came as %v", key, positions)
		}
	}
	return ""
}
