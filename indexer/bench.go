package indexer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/retry"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Throughput is how many documents went into an index in which time.
type Throughput struct {
	Documents int64
	Bytes     int64 // of the bulk requests; 0 where it was not counted
	Took      time.Duration
}

// PerSecond returns documents per second.
func (t Throughput) PerSecond() float64 { return float64(t.Documents) / max(t.Took.Seconds(), 1e-9) }

// MeasureRaw writes the documents of up to most assets, prepared beforehand and
// held in memory, into an index of its own by bulk requests alone, as many at
// once as the indexer sends. It is the floor that the indexer is measured
// against: the same documents, the same request size, the same index settings.
func (x *Indexer) MeasureRaw(ctx context.Context, most int) (Throughput, error) {
	index := x.cfg.Prefix + "raw"
	if err := x.deleteIndex(ctx, index); err != nil {
		return Throughput{}, err
	}
	batches, err := x.prepareAll(ctx, most, index)
	if err != nil {
		return Throughput{}, err
	}
	if err := x.createIndex(ctx, index, mappings.Meta{}); err != nil {
		return Throughput{}, err
	}
	var out Throughput
	todo := make(chan *batch, len(batches))
	for _, b := range batches {
		out.Documents += int64(len(b.items))
		out.Bytes += int64(len(b.buffer))
		todo <- b
	}
	close(todo)
	began := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	for range maxInFlight {
		g.Go(func() error {
			for b := range todo {
				if err := x.sendRaw(gctx, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	out.Took = time.Since(began)
	return out, errors.Join(err, x.deleteIndex(ctx, index))
}

func (x *Indexer) sendRaw(ctx context.Context, b *batch) error {
	items := make([]*item, len(b.items))
	for i := range items {
		items[i] = &b.items[i]
	}
	results, err := x.writer.bulk.send(ctx, b.targets[0], b, items)
	if err != nil {
		return err
	}
	for _, v := range results {
		if !v.accepted() {
			return fmt.Errorf("raw bulk: a document was answered with %d %s", v.status, v.kind)
		}
	}
	return nil
}

// prepareAll makes batches of up to most live assets for an index.
func (x *Indexer) prepareAll(ctx context.Context, most int, index string) ([]*batch, error) {
	var out []*batch
	err := x.eachPage(ctx, most, func(page []indexstate.DocumentVersion) error {
		b, err := (&backfill{x: x, index: index}).documents(ctx, live(page))
		out = append(out, b)
		return err
	})
	return out, err
}

// eachPage walks up to most assets in pages of a batch.
func (x *Indexer) eachPage(ctx context.Context, most int, fn func([]indexstate.DocumentVersion) error) error {
	tenants, err := x.def.Count(ctx)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		after := ""
		for most > 0 {
			page, err := x.def.VersionsAfter(ctx, t.Tenant, after, min(x.cfg.BatchEvents, most))
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			most -= len(page)
			after = page[len(page)-1].Key
			if err := fn(page); err != nil {
				return err
			}
		}
	}
	return nil
}

// MeasureStream empties the live index, puts up to most assets into the outbox
// and measures how fast relay and indexer bring them back. It is meant for a
// library of its own: searches find nothing meanwhile. Neither may be running.
func (x *Indexer) MeasureStream(ctx context.Context, relay *Relay, most int) (Throughput, error) {
	ctx, cancel := context.WithCancel(ctx)
	var services sync.WaitGroup
	defer services.Wait()
	defer cancel()
	if err := x.emptyIndex(ctx); err != nil {
		return Throughput{}, err
	}
	services.Go(func() { _ = x.Run(ctx) })
	if err := x.joined(ctx); err != nil {
		return Throughput{}, err
	}
	before := x.writer.accepted.Load()
	var n int64
	err := x.eachPage(ctx, most, func(page []indexstate.DocumentVersion) error {
		n += int64(len(page))
		return x.store.Outbox.EnqueueReindex(ctx, x.def.name(), "bench", page)
	})
	if err != nil {
		return Throughput{}, err
	}
	began := time.Now()
	services.Go(func() { _ = relay.Run(ctx) })
	for x.writer.accepted.Load()-before < n {
		if err := retry.Sleep(ctx, 2*time.Millisecond); err != nil {
			return Throughput{}, err
		}
	}
	return Throughput{Documents: n, Took: time.Since(began)}, nil
}

// emptyIndex replaces the live index by an empty one.
func (x *Indexer) emptyIndex(ctx context.Context) error {
	generations, err := x.store.Generations.List(ctx)
	if err != nil {
		return err
	}
	for _, g := range generations {
		if err := x.discard(ctx, g.Name); err != nil {
			return err
		}
	}
	_, err = x.EnsureIndex(ctx)
	return err
}

// joined waits until the consumer group has an offset for an event sent now, so
// that joining the group is not measured.
func (x *Indexer) joined(ctx context.Context) error {
	if err := ensureTopics(ctx, x.store, x.kafka, x.cfg); err != nil {
		return err
	}
	p := x.kafka.Publisher(x.cfg.changesTopic())
	defer func() { _ = p.Close() }() // its one message is acknowledged
	nobody := store.OutboxRow{Index: indexstate.AssetIndex, DocumentKey: indexstate.DocumentKey{Tenant: "00000000-0000-0000-0000-000000000000", Key: "0000000000000000000000000000000000000000"}}
	m, err := newMessage(&nobody)
	if err != nil {
		return err
	}
	if err := p.Publish(ctx, []kafkaclient.Message{m}); err != nil {
		return err
	}
	for {
		list, err := x.kafka.Offsets(ctx, x.cfg.changesTopic(), x.cfg.group())
		if err == nil {
			var lag int64
			for _, part := range list {
				lag += part.Lag()
			}
			if lag == 0 {
				return nil
			}
		}
		if err := retry.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
