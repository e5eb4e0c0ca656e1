package indexer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/opensearch"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store"
)

// Indexer writes the indices: as a member of the consumer group in Run, and for
// the whole library in Rebuild, Reconcile and PurgeTombstones. Any number of
// processes may run one.
type Indexer struct {
	store             *store.Store
	search            *opensearch.Client
	cfg               Config
	definitions       []*Definition
	def               *Definition      // which index: that of assets; see of
	scope             library.TenantID // whose index: "" for the shared one; see of
	names             mappings.IndexNames
	shared            mappings.IndexNames
	kafka             *kafkaClient
	writer            *indexWriter
	vectors           *vectorStore // nil without an embedder
	embeddingBackfill *embeddingBackfill
	guard             *indexGuard
	deadLetters       *kafkaclient.Publisher
	metrics           *Metrics
	log               *slog.Logger
}

// New makes an indexer. It connects to Kafka only when it runs or has a dead
// letter to send. Close it after its last use.
func New(st *store.Store, search *opensearch.Client, cfg Config, m *Metrics) (*Indexer, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	definitions := append(Definitions(st), cfg.definitions...)
	names := definitions[0].Index.Names(cfg.Prefix)
	x := &Indexer{
		store: st, search: search, cfg: cfg, definitions: definitions, def: definitions[0], names: names, shared: names, kafka: newKafkaClient(cfg),
		metrics: m, log: cfg.Log.With("service", "indexer"),
	}
	x.deadLetters = x.kafka.Publisher(cfg.deadTopic())
	x.embeddingBackfill, x.guard = newEmbeddingBackfill(x), newIndexGuard(x)
	x.vectors = newVectors(st, cfg.Embedder, m, x.log, x.embeddingBackfill.enqueue)
	x.writer = &indexWriter{store: st, bulk: newBulkWriter(search, cfg, m), publishDeadLetters: x.publishDeadLetters, vectors: x.vectors, metrics: m, log: x.log}
	return x, nil
}

// Close ends the connections to Kafka. The store and the OpenSearch client
// belong to the caller.
func (x *Indexer) Close() {
	_ = x.deadLetters.Close()
	x.kafka.Close()
}

// Run consumes changes until ctx ends and then returns nil. It outlives any failure of
// PostgreSQL, Kafka and OpenSearch, the loss of the index included: events wait in
// their topic.
func (x *Indexer) Run(ctx context.Context) error {
	err := retry.UntilDone(ctx, func(ctx context.Context) error {
		if err := ensureTopics(ctx, x.store, x.kafka, x.cfg); err != nil {
			return err
		}
		return x.eachShared(ctx, func(x *Indexer) error {
			_, err := x.EnsureIndex(ctx)
			return err
		})
	}, func(err error) { x.log.Warn("the indexer cannot start yet; retrying", "error", err) })
	if err != nil {
		return nil
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { x.guard.run(ctx) })
	beside.Go(func() { x.ensureModel(ctx) })
	beside.Go(func() { x.keepStatistics(ctx) })
	beside.Go(func() { (&tenantMover{x: x, since: map[library.TenantID]time.Time{}}).run(ctx) })
	if x.vectors != nil {
		beside.Go(func() { x.embeddingBackfill.run(ctx) })
	}
	x.runConsumers(ctx)
	return nil
}

// runConsumers opens one reader after the other until ctx ends.
func (x *Indexer) runConsumers(ctx context.Context) {
	wait := retry.Outage()
	for ctx.Err() == nil {
		err := x.consume(ctx)
		if ctx.Err() != nil {
			return
		}
		var why *kafkaclient.Restart
		if !errors.As(err, &why) {
			why = &kafkaclient.Restart{Reason: "error", Err: err}
			_ = wait.Wait(ctx)
		}
		x.metrics.restarts.WithLabelValues(why.Reason).Inc()
		x.log.Warn("restarting the Kafka consumer", "reason", why.Reason, "error", err)
	}
}
