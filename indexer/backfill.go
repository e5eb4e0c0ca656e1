package indexer

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"vitrine/library"
	"vitrine/store"
)

// backfillPage is how many assets the backfill reads at once.
const backfillPage = 500

// backfill writes the documents of all assets into one index. Writes of others may
// go on: the versions settle which of two stays.
type backfill struct {
	x      *Indexer
	index  string
	embed  bool // make the vectors that are not known yet on the way; else they follow later
	report func(done, total int64)
}

func (f *backfill) run(ctx context.Context) error {
	tenants, err := f.x.countAssets(ctx)
	if err != nil {
		return err
	}
	var total int64
	var done atomic.Int64
	for _, t := range tenants {
		total += t.Assets
	}
	batches := make(chan *batch)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(batches)
		return f.readAll(gctx, tenants, batches)
	})
	for range maxInFlight {
		g.Go(func() error { return f.writeAll(gctx, batches, total, &done) })
	}
	return g.Wait()
}

// readAll makes batches of all live assets. What is in the trash or gone has
// nothing to be found by: its absence says as much as a tombstone.
func (f *backfill) readAll(ctx context.Context, tenants []store.TenantAssets, out chan<- *batch) error {
	for _, t := range tenants {
		var after library.AssetHash
		for {
			page, err := f.x.store.Documents.VersionsAfter(ctx, t.Tenant, after, backfillPage)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Hash
			b, err := f.documents(ctx, live(page))
			if err != nil {
				return err
			}
			select {
			case out <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

func live(list []store.AssetVersion) []store.AssetKey {
	keys := make([]store.AssetKey, 0, len(list))
	for _, a := range list {
		if a.Live {
			keys = append(keys, a.AssetKey)
		}
	}
	return keys
}

// documents makes the batch of some assets.
func (f *backfill) documents(ctx context.Context, keys []store.AssetKey) (*batch, error) {
	if len(keys) == 0 {
		return newBatch(nil, nil, nil), nil
	}
	rows, _, err := f.x.store.Documents.Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	b := newBatch(rows, nil, []string{f.index})
	if f.embed {
		f.x.vectors.embedForIndex(ctx, f.index, b)
	}
	return b, nil
}

func (f *backfill) writeAll(ctx context.Context, batches <-chan *batch, total int64, done *atomic.Int64) error {
	for b := range batches {
		if err := f.x.writer.writeBatch(ctx, b); err != nil {
			return err
		}
		b.release()
		n := done.Add(int64(len(b.items)))
		f.x.metrics.rebuild.WithLabelValues("done").Set(float64(n))
		f.x.metrics.rebuild.WithLabelValues("total").Set(float64(total))
		f.report(n, total)
	}
	return nil
}
