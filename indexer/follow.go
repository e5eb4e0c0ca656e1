package indexer

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// Follow reads every change for another purpose than the index, such as making
// previews, as its own consumer group. handle is called for one event at a time
// in each of workers goroutines, at least once per event; what it fails to do is
// its own to log. Follow outlives any failure of Kafka and gives nil when ctx ends.
func Follow(ctx context.Context, cfg Config, group string, workers int, handle func(context.Context, Event)) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	b := newBus(cfg.Brokers, cfg.dial)
	defer b.close()
	log := cfg.Log.With("service", group)
	for ctx.Err() == nil {
		err := persist(ctx, func(ctx context.Context) error {
			if err := b.ensureTopics(ctx, cfg.topics()); err != nil {
				return err
			}
			return follow(ctx, b, cfg, cfg.Prefix+group, workers, handle)
		}, func(err error) { log.Warn("Kafka gives no messages", "error", err) })
		if err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("opening the Kafka reader anew", "error", err)
		}
	}
	return nil
}

// followBatch and followWait bound how many events are handled again after a crash.
const (
	followBatch = 64
	followWait  = 500 * time.Millisecond
)

// follow reads with one reader until ctx ends, something breaks, or the watchdog
// asks for a fresh reader.
func follow(ctx context.Context, b *bus, cfg Config, group string, workers int, handle func(context.Context, Event)) error {
	sub := b.subscribe(cfg.changesTopic(), group, workers)
	defer sub.close()
	dog := newWatchdog(b, cfg, group, sub)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return dog.watch(ctx) })
	g.Go(func() error {
		for {
			batch, err := fetchSome(ctx, sub)
			if err != nil {
				return err
			}
			dog.fetched()
			dog.open.Add(1)
			if err := handleAll(ctx, sub, batch, workers, handle); err != nil {
				return err
			}
			dog.open.Add(-1)
		}
	})
	return g.Wait()
}

// handleAll handles a batch of events and commits it once all of it is done.
func handleAll(ctx context.Context, sub *subscription, batch []message, workers int, handle func(context.Context, Event)) error {
	var g errgroup.Group
	g.SetLimit(workers)
	for _, m := range batch {
		if e, err := parseEvent(m.value); err == nil {
			g.Go(func() error { handle(ctx, e); return nil })
		}
	}
	_ = g.Wait() // handle gives no errors
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return sub.commit(ctx, batch)
}

// fetchSome waits for a message and takes those that come right after it.
func fetchSome(ctx context.Context, sub *subscription) ([]message, error) {
	m, err := sub.fetch(ctx)
	if err != nil {
		return nil, err
	}
	batch := []message{m}
	soon, cancel := context.WithTimeout(ctx, followWait)
	defer cancel()
	for len(batch) < followBatch {
		m, err := sub.fetch(soon)
		switch {
		case err == nil: // also when time ran out at the same moment: the message is taken
			batch = append(batch, m)
		case soon.Err() != nil && ctx.Err() == nil:
			return batch, nil
		default:
			return nil, err
		}
	}
	return batch, nil
}
