package bench

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/google/uuid"

	"vitrine/library"
)

// streamed is how many assets the last stage of the stream tags at most.
const streamed = 10_000

// measureStream sends a tenth of the rows and then all of them through where, sort, limit and
// set_tag, and tells the memory that each took. Nothing else runs in the process by then.
func (p *piping) measureStream(ctx context.Context, rows int) (Figure, error) {
	f := Figure{Key: KeyStream, Repeats: 1}
	for _, n := range []int{rows / 10, rows} {
		p.Step("Sending %d rows through stages", n)
		actor := p.actor
		actor.Tenant = library.TenantID(uuid.NewString())
		if err := p.fillStream(ctx, actor, n); err != nil {
			return f, err
		}
		runtime.GC()
		heap := watchHeap()
		began := time.Now()
		err := p.pipe(ctx, p.Pipelines, actor, fmt.Sprintf("collection stream | where size > 0 | sort filename desc | limit %d | set_tag streamed", streamed), false, min(streamed, n))
		took, peak := time.Since(began), heap.stop()
		if err != nil {
			return f, err
		}
		f.Rows = append(f.Rows,
			Row{Name: fmt.Sprintf("%d assets", n), Unit: "MB", Ours: summarize([]float64{float64(peak) / (1 << 20)}, false)},
			Row{Name: fmt.Sprintf("%d assets, time", n), Unit: "s", Ours: summarize([]float64{took.Seconds()}, false)})
	}
	f.Value = f.Rows[2].Ours.P50
	return f, nil
}

// fillStream makes rows of a tenant of their own, all in one collection. They have no files and
// no documents.
func (p *piping) fillStream(ctx context.Context, actor library.Actor, n int) error {
	hash := fmt.Sprintf("%040x", n)
	statements := []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'stream')`, []any{string(actor.Tenant)}},
		{`INSERT INTO collections (tenant_id, collection_h, name, path, created_by) VALUES ($1, $2, 'stream', 'stream', 'bench')`, []any{string(actor.Tenant), hash}},
		{`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
			SELECT $1, lpad(to_hex(n), 40, '0'), '', '', 'file-' || n || '.png', 'image/png', n, now() - n * interval '1 second', 'bench', 1 FROM generate_series(1, $2::int) n`, []any{string(actor.Tenant), n}},
		{`INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, added_by)
			SELECT tenant_id, $2, asset_h, asset_h, right(asset_h, 11) || 'z', 'bench' FROM assets WHERE tenant_id = $1`, []any{string(actor.Tenant), hash}},
		{`ANALYZE assets, collection_items`, nil},
	}
	return unforced(ctx, p.conn, []string{"assets", "collections", "collection_items"}, func() error {
		for _, s := range statements {
			if _, err := p.conn.Exec(ctx, s.sql, s.args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// heapWatch samples the memory that objects of the process take, garbage included.
type heapWatch struct {
	before, peak uint64
	end, done    chan struct{}
}

func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func watchHeap() *heapWatch {
	h := &heapWatch{before: heapBytes(), end: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		for {
			h.peak = max(h.peak, heapBytes())
			select {
			case <-h.end:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return h
}

// stop returns how much more than at the beginning there was at most.
func (h *heapWatch) stop() uint64 {
	close(h.end)
	<-h.done
	return max(h.peak, h.before+1) - h.before
}
