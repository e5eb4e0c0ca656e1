package indexer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/panics"
	"vitrine/internal/retry"
)

// Subscribe reads every change for another purpose than the index, such as making
// previews, as its own consumer group. handle is called for one event at a time
// in each of workers goroutines, at least once per event; what it fails to do is
// its own to log. A panic of it is logged and ends nothing. Subscribe outlives any failure of Kafka and returns nil when ctx ends.
func Subscribe(ctx context.Context, cfg Config, group string, workers int, handle func(context.Context, Event)) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	b := newKafkaClient(cfg)
	defer b.Close()
	log := cfg.Log.With("service", group)
	for ctx.Err() == nil {
		err := retry.UntilDone(ctx, func(ctx context.Context) error {
			// Relay and indexer make it, and note that what an older one held is lost.
			if _, err := b.Partitions(ctx, cfg.changesTopic()); err != nil {
				return err
			}
			return subscribe(ctx, b, cfg, cfg.Prefix+group, workers, handle)
		}, func(err error) { log.Warn("Kafka fetch failed", "error", err) })
		if err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("restarting the Kafka consumer", "error", err)
		}
	}
	return nil
}

// subscribeBatch and subscribeWait bound how many events are handled again after a crash.
const (
	subscribeBatch = 64
	subscribeWait  = 500 * time.Millisecond
)

// subscribe reads with one reader until ctx ends, something breaks, or the watchdog
// asks for a fresh reader.
func subscribe(ctx context.Context, b *kafkaClient, cfg Config, group string, workers int, handle func(context.Context, Event)) error {
	sub := b.Subscribe(cfg.changesTopic(), group, workers)
	defer sub.Close()
	dog := newWatchdog(b, cfg, group, sub)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return dog.Watch(ctx) })
	g.Go(func() error {
		for {
			if err := handleBatch(ctx, sub, dog, cfg.Log, workers, handle); err != nil {
				return err
			}
		}
	})
	return g.Wait()
}

// handleBatch handles messages from the moment they come, and commits them when
// they are subscribeBatch or subscribeWait has passed since the first.
func handleBatch(ctx context.Context, sub *kafkaclient.Subscription, dog *kafkaclient.Watchdog, log *slog.Logger, workers int, handle func(context.Context, Event)) error {
	m, err := sub.Fetch(ctx)
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, subscribeWait)
	defer cancel()
	dog.InFlight.Add(1)
	var batch []kafkaclient.Message
	var g errgroup.Group
	g.SetLimit(workers)
	for err == nil { // a message that comes at the moment time runs out is taken
		dog.Fetched()
		batch = append(batch, m)
		if e, bad := parseEvent(m.Value); bad == nil {
			g.Go(func() error {
				if err := panics.Try(func() error { handle(ctx, e); return nil }); err != nil {
					log.Error("handling an event failed; it is skipped", "tenant", e.Tenant, "asset_h", e.Hash, "error", err)
				}
				return nil
			})
		}
		if len(batch) == subscribeBatch {
			break
		}
		m, err = sub.Fetch(soon)
	}
	_ = g.Wait() // handle gives no errors
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && soon.Err() == nil {
		return err // what was handled comes again from the next reader
	}
	if err := sub.Commit(ctx, batch); err != nil {
		return err
	}
	dog.InFlight.Add(-1)
	return nil
}
