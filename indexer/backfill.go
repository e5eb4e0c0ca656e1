package indexer

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"vitrine/store/indexstate"
)

// backfillPage is how many documents the backfill reads at once.
const backfillPage = 500

// backfill writes all documents of the scope into one index. Writes of others may
// go on: the versions decide which of two stays.
type backfill struct {
	x      *Indexer
	index  string
	embed  bool // make the vectors that are not known yet on the way; else they follow later
	report func(done, total int64)
}

func (f *backfill) run(ctx context.Context) error {
	tenants, err := f.x.countRows(ctx)
	if err != nil {
		return err
	}
	var total int64
	var done atomic.Int64
	for _, t := range tenants {
		total += t.Documents
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

// readAll makes batches of all live documents. What is in the trash or gone has
// nothing to be found by: its absence says as much as a tombstone.
func (f *backfill) readAll(ctx context.Context, tenants []indexstate.TenantDocuments, out chan<- *batch) error {
	for _, t := range tenants {
		after := ""
		for {
			page, err := f.x.def.VersionsAfter(ctx, t.Tenant, after, backfillPage)
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			after = page[len(page)-1].Key
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

func live(list []indexstate.DocumentVersion) []indexstate.DocumentKey {
	keys := make([]indexstate.DocumentKey, 0, len(list))
	for _, a := range list {
		if a.Live {
			keys = append(keys, a.DocumentKey)
		}
	}
	return keys
}

// documents makes the batch of some documents.
func (f *backfill) documents(ctx context.Context, keys []indexstate.DocumentKey) (*batch, error) {
	if len(keys) == 0 {
		return newBatch(f.x.def, nil, nil, nil), nil
	}
	rows, _, err := f.x.def.Read(ctx, keys)
	if err != nil {
		return nil, err
	}
	b := newBatch(f.x.def, rows, nil, []string{f.index})
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
