//go:build failpoint

package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	opensearchgo "github.com/opensearch-project/opensearch-go/v4"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/events"
	"vitrine/library"
	"vitrine/store"
)

// childEnv hands the place of an env to a child process.
const childEnv = "VITRINE_TEST_INDEXER"

// TestMain runs relay and indexer, and no test, in the child processes of the
// kill test.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		runChild()
		return
	}
	os.Exit(m.Run())
}

type childConfig struct {
	URL, SearchURL, Prefix string
	Brokers                []string
}

func runChild() {
	var c childConfig
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &c); err != nil {
		panic(err)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, store.Config{URL: c.URL})
	if err != nil {
		panic(err)
	}
	client, err := opensearchgo.NewClient(opensearchgo.Config{Addresses: []string{c.SearchURL}, DisableRetry: true})
	if err != nil {
		panic(err)
	}
	cfg := Config{Prefix: c.Prefix, Brokers: c.Brokers, Partitions: 3, RelayBatch: 10, BatchEvents: 10}
	relay, err := NewRelay(st, cfg, NewMetrics())
	if err != nil {
		panic(err)
	}
	x, err := New(st, client, cfg, NewMetrics())
	if err != nil {
		panic(err)
	}
	go relay.Run(ctx)
	go func() { _ = runSubscriber(ctx, st, c.URL, cfg) }()
	_ = x.Run(ctx)
}

// runSubscriber runs a second subscriber, and the relay of events. Its effect is a row per
// event, which it makes after the point where a test kills it and once however often it is told.
func runSubscriber(ctx context.Context, st *store.Store, url string, cfg Config) error {
	db, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	c := events.Config{Prefix: cfg.Prefix, Brokers: cfg.Brokers, Log: slog.New(slog.DiscardHandler), CatchUpAfter: time.Second}
	m := events.NewMetrics(prometheus.NewRegistry())
	go func() { _ = events.NewRelay(st, c, m).Run(ctx) }()
	return events.Run(ctx, st, c, m, events.Subscriber{Name: "effects", FromStart: true, Handle: func(ctx context.Context, e events.Event) error {
		_, err := db.Exec(ctx, `INSERT INTO effects (position, tenant, key) VALUES ($1, $2, $3) ON CONFLICT (position) DO UPDATE SET times = effects.times + 1`, e.Position, string(e.Tenant), e.Key)
		return err
	}})
}

// effectsMissing compares the effects of the second subscriber with the log.
func (e *env) effectsMissing() string {
	var events, effects, waiting, dead, disordered int
	err := e.owner.QueryRow(e.ctx, `SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM effects JOIN events USING (position)),
		(SELECT count(*) FROM outbox), (SELECT count(*) FROM dead_letters),
		(SELECT count(*) FROM effects a JOIN effects b ON a.tenant = b.tenant AND a.key = b.key AND a.position < b.position AND a.seq > b.seq)`).
		Scan(&events, &effects, &waiting, &dead, &disordered)
	if err != nil || events == 0 || effects != events || waiting+dead+disordered > 0 {
		return fmt.Sprintf("%d effects of %d events, %d in the outbox, %d dead letters, %d out of order, error %v", effects, events, waiting, dead, disordered, err)
	}
	return ""
}

// TestKill_AtAnyPointLosesNothing kills the process that relays, indexes and serves another
// subscriber at every place of its work, and once more after it has got going; whoever
// comes next must end with the rows, and with one effect of each event.
func TestKill_AtAnyPointLosesNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.exec(`CREATE TABLE effects (seq bigint GENERATED ALWAYS AS IDENTITY, position bigint PRIMARY KEY, tenant text, key text, times int NOT NULL DEFAULT 1)`)
	var hashes []library.AssetHash
	for round, place := range []string{"relay.before_publish", "relay.after_publish", "indexer.before_bulk", "indexer.after_bulk",
		"indexer.before_commit", "indexer.after_commit", "indexer.before_bulk:3", "relay.after_publish:2", "events.before_publish", "events.after_publish", "events.after_publish:2"} {
		for i := range 5 {
			hashes = append(hashes, e.add(newAsset(fmt.Sprint(round, " ", i))).Hash)
		}
		e.retitle(fmt.Sprint("round ", round), hashes...)
		ctx, cancel := context.WithTimeout(e.ctx, time.Minute)
		cmd := exec.CommandContext(ctx, os.Args[0])
		config, err := json.Marshal(childConfig{URL: e.url, SearchURL: e.searchURL, Prefix: e.cfg.Prefix, Brokers: e.cfg.Brokers})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), childEnv+"="+string(config), "VITRINE_FAILPOINTS="+place)
		done := make(chan struct{})
		go func() { // work for the later passes of a place
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				case <-time.After(200 * time.Millisecond):
					e.retitle(fmt.Sprint("while it runs ", i), hashes[0])
				}
			}
		}()
		out, err := cmd.CombinedOutput()
		close(done)
		cancel()
		name, _, _ := strings.Cut(place, ":")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 137 || !strings.Contains(string(out), "failpoint: hit "+name) {
			t.Fatalf("%s: the process ended with %v\n%s", place, err, out)
		}
	}
	e.cfg.Log = slog.New(slog.DiscardHandler)
	e.run(e.relay(), e.indexer())
	e.eventually(2*time.Minute, func() string { return e.differs(hashes...) })
	e.eventually(time.Minute, func() string { return noneBut(e.backlog(), 0) })
	e.run(serviceFunc(func(ctx context.Context) error { return runSubscriber(ctx, e.store, e.url, e.cfg) }))
	e.eventually(time.Minute, e.effectsMissing)
}
