package events

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/failpoint"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/retry"
	"vitrine/store"
)

const (
	// relayBatch is how many events are moved or published at once.
	relayBatch = 1000
	// pollInterval is how long an event waits at most when its wake-up is lost.
	pollInterval = time.Second
	// publishTimeout ends an attempt to publish; the events stay in the log.
	publishTimeout = 10 * time.Second
	// forgetEvery is how often old events are deleted.
	forgetEvery = 10 * time.Minute
)

// Relay moves events from the outbox to the log, and publishes the log to Kafka.
// Several may run.
type Relay struct {
	store   *store.Store
	cfg     Config
	metrics *Metrics
	log     *slog.Logger
}

// NewRelay returns a relay. It connects to Kafka when it runs.
func NewRelay(st *store.Store, cfg Config, m *Metrics) *Relay {
	cfg = cfg.withDefaults()
	return &Relay{store: st, cfg: cfg, metrics: m, log: cfg.Log.With("service", "events")}
}

// Run relays until ctx ends and then returns nil. It outlives any failure of
// PostgreSQL and Kafka. Events are logged while Kafka is away.
func (r *Relay) Run(ctx context.Context) error {
	var g errgroup.Group
	written, logged := make(chan struct{}, 1), make(chan struct{}, 1)
	g.Go(func() error { listen(ctx, r.log, r.store.Outbox.Listen, written); return nil })
	g.Go(func() error {
		loop(ctx, r.log, "logging events failed; retrying", written, func(ctx context.Context) (int, error) {
			n, err := r.store.Events.Log(ctx, relayBatch)
			if n > 0 {
				wake(logged)
			}
			r.metrics.logged.Add(float64(n))
			return n, err
		})
		return nil
	})
	g.Go(func() error { r.publish(ctx, logged); return nil })
	g.Go(func() error { r.forget(ctx); return nil })
	return g.Wait()
}

func (r *Relay) publish(ctx context.Context, logged <-chan struct{}) {
	kafka := r.cfg.client()
	defer kafka.Close()
	out := kafka.Publisher(r.cfg.Topic())
	defer func() { _ = out.Close() }() // nothing is left in it: each message is acknowledged or sent again
	ready := false
	loop(ctx, r.log, "publishing events failed; retrying", logged, func(ctx context.Context) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, publishTimeout)
		defer cancel()
		if !ready {
			if _, err := kafka.EnsureTopics(ctx, r.cfg.topics()); err != nil {
				return 0, err
			}
		}
		n, err := r.publishOnce(ctx, out)
		ready = err == nil // somebody may have deleted the topic
		r.metrics.published.Add(float64(n))
		return n, err
	})
}

func (r *Relay) publishOnce(ctx context.Context, out *kafkaclient.Publisher) (int, error) {
	epoch, err := r.store.IndexState.Epoch(ctx)
	if err != nil {
		return 0, err
	}
	return r.store.Events.Publish(ctx, relayBatch, func(list []store.LoggedEvent) error {
		messages := make([]kafkaclient.Message, len(list))
		for i, e := range list {
			var err error
			if messages[i], err = encode(epoch.ID, e); err != nil {
				return err
			}
		}
		if err := failpoint.Inject("events.before_publish"); err != nil {
			return err
		}
		if err := out.Publish(ctx, messages); err != nil {
			return err
		}
		return failpoint.Inject("events.after_publish")
	})
}

// forget deletes old events.
func (r *Relay) forget(ctx context.Context) {
	for ctx.Err() == nil {
		n, err := r.store.Events.Forget(ctx, 10*relayBatch)
		if err != nil && ctx.Err() == nil {
			r.log.Warn("deleting old events failed; retrying", "error", err)
		}
		if n < 10*relayBatch {
			_ = retry.Sleep(ctx, forgetEvery)
		}
	}
}

// loop does a round whenever it is woken, at least every pollInterval, and again at
// once while a round was full.
func loop(ctx context.Context, log *slog.Logger, failed string, woken <-chan struct{}, round func(context.Context) (int, error)) {
	b := retry.Outage()
	for ctx.Err() == nil {
		n, err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Warn(failed, "error", err)
			_ = b.Wait(ctx)
			continue
		}
		b.Reset()
		if n < relayBatch {
			idle(ctx, woken)
		}
	}
}

func idle(ctx context.Context, woken <-chan struct{}) {
	t := time.NewTimer(pollInterval)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-woken:
	case <-t.C:
	}
}

func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// listen passes wake-ups of the database on, and listens again when its connection breaks.
func listen(ctx context.Context, log *slog.Logger, listen func(context.Context, func()) error, ch chan<- struct{}) {
	b := retry.Outage()
	for ctx.Err() == nil {
		err := listen(ctx, func() { b.Reset(); wake(ch) })
		if ctx.Err() == nil {
			log.Warn("the LISTEN connection to PostgreSQL was lost; polling instead", "error", err)
			_ = b.Wait(ctx)
		}
	}
}
