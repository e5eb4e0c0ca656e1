package indexer

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"vitrine/internal/failpoint"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/retry"
	"vitrine/store"
)

// pollInterval is how long an outbox row waits at most when its wake-up is lost.
const pollInterval = time.Second

// relayInterval is the least time between two rounds of the relay. A change after a
// quiet time goes at once; a stream of them goes in rounds, because all that
// follows, down to the index, costs by the round more than by the change. It is
// short beside the second in which the index shows what it has.
const relayInterval = 100 * time.Millisecond

// publishTimeout ends an attempt to publish; the rows stay in the outbox.
const publishTimeout = 10 * time.Second

// Relay carries outbox rows to Kafka. Several may run: each row is published by
// at least one of them.
type Relay struct {
	store   *store.Store
	cfg     Config
	kafka   *kafkaClient
	metrics *Metrics
	log     *slog.Logger
}

// NewRelay makes a relay. It connects to Kafka only when it runs.
func NewRelay(st *store.Store, cfg Config, m *Metrics) (*Relay, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Relay{store: st, cfg: cfg, kafka: newKafkaClient(cfg), metrics: m, log: cfg.Log.With("service", "relay")}, nil
}

// Run relays until ctx ends and then returns nil. It outlives any failure of
// PostgreSQL and Kafka: rows wait in the outbox meanwhile.
func (r *Relay) Run(ctx context.Context) error {
	defer r.kafka.Close()
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() { r.listen(ctx, wake) })
	wg.Go(func() { r.measure(ctx) })
	r.relay(ctx, wake)
	wg.Wait()
	return nil
}

// listen passes wake-ups on, and asks again whenever its connection breaks.
func (r *Relay) listen(ctx context.Context, wake chan<- struct{}) {
	b := retry.Outage()
	for ctx.Err() == nil {
		err := r.store.Outbox.Listen(ctx, func() {
			b.Reset()
			select {
			case wake <- struct{}{}:
			default:
			}
		})
		if ctx.Err() == nil {
			r.log.Warn("the LISTEN connection to PostgreSQL was lost; polling instead", "error", err)
			_ = b.Wait(ctx)
		}
	}
}

func (r *Relay) relay(ctx context.Context, wake <-chan struct{}) {
	if retry.UntilDone(ctx, func(ctx context.Context) error { return ensureTopics(ctx, r.store, r.kafka, r.cfg) }, r.failed) != nil {
		return
	}
	out := r.kafka.Publisher(r.cfg.changesTopic())
	defer func() { _ = out.Close() }() // nothing is left in it: each message is acknowledged or tried again
	b := retry.Outage()
	for ctx.Err() == nil {
		began := time.Now()
		n, err := r.runOnce(ctx, out)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			r.failed(err)
			r.recreateTopics(ctx)
			_ = b.Wait(ctx)
			continue
		}
		b.Reset()
		if n < r.cfg.RelayBatch {
			r.idle(ctx, wake)
		}
		if n > 0 && n < r.cfg.RelayBatch {
			_ = retry.Sleep(ctx, relayInterval-time.Since(began))
		}
	}
}

// recreateTopics makes the topics again in case somebody deleted them; the broker
// does not do so by itself.
func (r *Relay) recreateTopics(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_ = ensureTopics(short, r.store, r.kafka, r.cfg)
}

func (r *Relay) idle(ctx context.Context, wake <-chan struct{}) {
	t := time.NewTimer(pollInterval)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-t.C:
	}
}

// runOnce publishes one claim and reports how many rows it had.
func (r *Relay) runOnce(ctx context.Context, out *kafkaclient.Publisher) (int, error) {
	n, err := r.store.Outbox.Claim(ctx, r.cfg.RelayBatch, func(rows []store.OutboxRow) error {
		list := make([]kafkaclient.Message, len(rows))
		for i := range rows {
			var err error
			if list[i], err = newMessage(&rows[i]); err != nil {
				return err
			}
		}
		if err := failpoint.Inject("relay.before_publish"); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, publishTimeout)
		defer cancel()
		if err := out.Publish(ctx, list); err != nil {
			return err
		}
		return failpoint.Inject("relay.after_publish")
	})
	r.metrics.relayed.Add(float64(n))
	return n, err
}

func (r *Relay) failed(err error) {
	r.metrics.relayFailures.Inc()
	r.log.Warn("publishing outbox rows failed; retrying", "error", err)
}

// measure keeps the gauges of the outbox.
func (r *Relay) measure(ctx context.Context) {
	for {
		if rows, oldest, err := r.store.Outbox.Backlog(ctx); err == nil {
			r.metrics.outboxRows.Set(float64(rows))
			r.metrics.outboxAge.Set(oldest.Seconds())
		}
		if err := noteLostTopic(ctx, r.store, r.kafka); err != nil && ctx.Err() == nil {
			r.log.Warn("requesting a comparison after the loss of the Kafka topic failed; retrying", "error", err)
		}
		if retry.Sleep(ctx, 2*pollInterval) != nil {
			return
		}
	}
}
