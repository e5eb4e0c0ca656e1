package indexer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// Indexer writes the index: as a member of the consumer group in Run, and for
// the whole library in Rebuild, Reconcile and PurgeTombstones. Any number of
// processes may run one.
type Indexer struct {
	store   *store.Store
	search  *opensearch.Client
	cfg     Config
	scope   library.TenantID // whose index: "" for the shared one; see of
	names   mappings.IndexNames
	shared  mappings.IndexNames
	bus     *bus
	settler *settler
	vectors *vectors // nil without an embedder
	filler  *filler
	guard   *guard
	letters *publisher
	metrics *Metrics
	log     *slog.Logger
}

// New makes an indexer. It connects to Kafka only when it runs or has a dead
// letter to send. Close it after its last use.
func New(st *store.Store, search *opensearch.Client, cfg Config, m *Metrics) (*Indexer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	x := &Indexer{
		store: st, search: search, cfg: cfg, names: mappings.Names(cfg.Prefix), shared: mappings.Names(cfg.Prefix), bus: newBus(cfg.Brokers, cfg.dial),
		metrics: m, log: cfg.Log.With("service", "indexer"),
	}
	x.letters = x.bus.publisher(cfg.deadTopic())
	x.filler, x.guard = newFiller(x), newGuard(x)
	x.vectors = newVectors(st, cfg.Embedder, m, x.log, x.filler.missing)
	x.settler = &settler{store: st, bulk: newBulkWriter(search, cfg, m), dead: x.sendLetters, vectors: x.vectors, metrics: m, log: x.log}
	return x, nil
}

// Close ends the connections to Kafka. The store and the OpenSearch client
// belong to the caller.
func (x *Indexer) Close() {
	_ = x.letters.close()
	x.bus.close()
}

// Run consumes changes until ctx ends and then gives nil. It outlives any failure of
// PostgreSQL, Kafka and OpenSearch, the loss of the index included: events wait in
// their topic.
func (x *Indexer) Run(ctx context.Context) error {
	err := persist(ctx, func(ctx context.Context) error {
		if err := x.bus.ensureTopics(ctx, x.cfg.topics()); err != nil {
			return err
		}
		_, err := x.EnsureIndex(ctx)
		return err
	}, func(err error) { x.log.Warn("the indexer cannot start yet", "error", err) })
	if err != nil {
		return nil
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { x.guard.run(ctx) })
	beside.Go(func() { x.adopt(ctx) })
	beside.Go(func() { (&mover{x: x, since: map[library.TenantID]time.Time{}}).run(ctx) })
	if x.vectors != nil {
		beside.Go(func() { x.filler.run(ctx) })
	}
	x.consumeOn(ctx)
	return nil
}

// consumeOn opens one reader after the other until ctx ends.
func (x *Indexer) consumeOn(ctx context.Context) {
	wait := outage()
	for ctx.Err() == nil {
		err := x.consume(ctx)
		if ctx.Err() != nil {
			return
		}
		var why *restart
		if !errors.As(err, &why) {
			why = &restart{why: "error", err: err}
			_ = wait.wait(ctx)
		}
		x.metrics.restarts.WithLabelValues(why.why).Inc()
		x.log.Warn("opening the Kafka reader anew", "why", why.why, "error", err)
	}
}

// restart ends a consumer on purpose.
type restart struct {
	why string
	err error
}

func (r *restart) Error() string {
	if r.err != nil {
		return r.why + ": " + r.err.Error()
	}
	return r.why
}

func (r *restart) Unwrap() error { return r.err }
