package indexer

import (
	"context"
	"errors"
	"net/http"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// embeddingBackfill brings vectors to documents that were written without. The consumer
// beside it queues them, and it looks for all others in the index now and
// then: those of an outage, of a crash, of processes without an embedder. Nothing
// waits for it.
type embeddingBackfill struct {
	x     *Indexer
	queue chan embedTask

	failures int // in a row
}

// How many documents are embedded together when they are queued, and when they are
// looked for; how many groups may be queued; how often is looked.
const (
	queueBatch        = 64
	backfillBatchSize = 256
	queueLength       = 256
	backfillInterval  = 15 * time.Second
)

// embedTask are documents of one index that wait for their vectors.
type embedTask struct {
	def  *Definition
	keys []indexstate.DocumentKey
}

func newEmbeddingBackfill(x *Indexer) *embeddingBackfill {
	return &embeddingBackfill{x: x, queue: make(chan embedTask, queueLength)}
}

// enqueue queues documents without a vector. When too many wait already they
// are left to the next look at the index.
func (f *embeddingBackfill) enqueue(def *Definition, keys []indexstate.DocumentKey) {
	for len(keys) > 0 {
		n := min(queueBatch, len(keys))
		select {
		case f.queue <- embedTask{def, keys[:n:n]}:
		default:
			return
		}
		keys = keys[n:]
	}
}

// run fills until ctx ends. While the embedder is away it tries again with the
// next look.
func (f *embeddingBackfill) run(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case task := <-f.queue:
			err = panics.Try(func() error { return f.backfillQueued(ctx, task) })
		case <-next.C:
			err = panics.Try(func() error { return f.backfillLive(ctx) })
			next.Reset(f.x.cfg.backfillInterval)
		}
		if err != nil && ctx.Err() == nil {
			f.failures++
			f.x.log.Warn("embedding backfill failed; retrying", "error", err)
			next.Reset(f.retryDelay(err))
			f.clearQueue()
		} else {
			f.failures = 0
		}
	}
}

// backfillQueued fills some documents and those that wait behind them, up to a page.
func (f *embeddingBackfill) backfillQueued(ctx context.Context, task embedTask) error {
	waiting := map[*Definition][]indexstate.DocumentKey{task.def: task.keys}
	for n, more := len(task.keys), true; more && n < backfillBatchSize; {
		select {
		case t := <-f.queue:
			waiting[t.def] = append(waiting[t.def], t.keys...)
			n += len(t.keys)
		default:
			more = false
		}
	}
	for def, keys := range waiting {
		if err := f.backfillBatch(ctx, def, keys, ""); err != nil {
			return err
		}
	}
	return nil
}

// retryDelay is how long a failure is given: longer each time, and as long as the
// embedder rests when it says so.
func (f *embeddingBackfill) retryDelay(err error) time.Duration {
	pause := f.x.cfg.backfillInterval / 16 << min(f.failures, 6)
	return min(max(library.AsError(err).RetryAfter, pause), time.Minute)
}

// clearQueue drops what was queued: after a failure the index itself says what is open.
func (f *embeddingBackfill) clearQueue() {
	for {
		select {
		case <-f.queue:
		default:
			return
		}
	}
}

// backfillBatch makes the vectors of some documents and writes them: into one index, or
// into all that are written and have the field.
func (f *embeddingBackfill) backfillBatch(ctx context.Context, def *Definition, keys []indexstate.DocumentKey, index string) error {
	_, err := f.embedKeys(ctx, def, keys, index)
	return err
}

// embedKeys is backfillBatch that returns how many of the documents have a vector then.
func (f *embeddingBackfill) embedKeys(ctx context.Context, def *Definition, keys []indexstate.DocumentKey, index string) (embedded int64, err error) {
	rows, generations, err := def.Read(ctx, keys)
	if err != nil {
		return 0, err
	}
	targets := []string{index}
	if index == "" {
		targets = indicesWithVectors(def, generations, f.x.vectors.configuration())
	}
	if len(targets) == 0 {
		return 0, nil
	}
	b := newBatch(def, rows, nil, nil)
	defer b.release()
	b.setTargets(generations)
	b.targets = targets
	f.keepEmbeddable(b)
	if len(b.items) == 0 {
		return 0, nil
	}
	if err := f.x.vectors.embedBatch(ctx, b); err != nil {
		return 0, err
	}
	for _, it := range b.items {
		if it.text != "" && isIndexable(b.vectors[hashText(it.text)]) {
			embedded++
		}
	}
	err = f.x.writer.writeBatch(ctx, b)
	if errors.Is(err, errIndexGone) { // a rebuild has ended; what took its place has its own vectors
		return embedded, nil
	}
	return embedded, err
}

// ErrNoEmbedder means that no embedder is configured.
var ErrNoEmbedder = errors.New("no embedder is configured")

// Embed makes the vectors of some assets and writes them to the indices that have the
// embedder's, and returns how many assets have one then; the others have no text, or the embedder refuses it. It returns
// ErrNoEmbedder where there is none.
func (x *Indexer) Embed(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) (embedded int64, err error) {
	if x.vectors == nil {
		return 0, ErrNoEmbedder
	}
	keys := make([]indexstate.DocumentKey, len(assets))
	for i, h := range assets {
		keys[i] = indexstate.DocumentKey{Tenant: tenant, Key: string(h)}
	}
	return x.embeddingBackfill.embedKeys(ctx, x.definitionNamed(indexstate.AssetIndex), keys, "")
}

// keepEmbeddable leaves in a batch what should be written again: live documents that the
// index does not refuse. The index has these versions already.
func (f *embeddingBackfill) keepEmbeddable(b *batch) {
	n := 0
	for _, it := range b.items {
		if it.tombstone || it.row.HasIndexFailure {
			continue
		}
		it.rewrite = true
		b.items[n] = it
		n++
	}
	b.items = b.items[:n]
}

// indicesWithVectors lists the written indices of a definition that have vectors of a configuration.
func indicesWithVectors(def *Definition, generations []indexstate.Generation, configuration string) []string {
	var list []string
	for _, g := range generations {
		if g.Index == def.name() && g.State != indexstate.GenerationRetired && g.Embedding == configuration {
			list = append(list, g.Name)
		}
	}
	return list
}

// backfillLive fills what was left behind in the live indices, unless another process does.
func (f *embeddingBackfill) backfillLive(ctx context.Context) error {
	err := f.x.store.Embeddings.LockBackfill(ctx, func() error {
		generations, err := f.x.store.Generations.List(ctx)
		if err != nil {
			return err
		}
		for _, g := range generations {
			def := f.x.definitionNamed(g.Index)
			if def != nil && g.State == indexstate.GenerationLive && g.Embedding == f.x.vectors.configuration() {
				if err := f.backfillIndex(ctx, def, g.Name, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if errors.Is(err, indexstate.ErrEmbeddingBackfillBusy) {
		return nil
	}
	return err
}

// backfillIndex fills every document of an index that waits for its vector, in one pass
// over them. done is called with how many of how many; it may be nil.
func (f *embeddingBackfill) backfillIndex(ctx context.Context, def *Definition, index string, done func(done, total int64)) error {
	var filled, total int64
	var after []any
	for {
		keys, open, last, err := f.findUnembedded(ctx, def, index, after)
		if err != nil {
			return err
		}
		if after == nil {
			total = open
		}
		f.x.metrics.unembedded.Set(float64(max(0, total-filled)))
		if len(keys) == 0 {
			return nil
		}
		if err := f.backfillBatch(ctx, def, keys, index); err != nil {
			return err
		}
		filled, after = filled+int64(len(keys)), last
		if done != nil {
			done(filled, max(total, filled))
		}
		if err := f.drainQueue(ctx); err != nil {
			return err
		}
	}
}

// drainQueue fills a few of the documents that arrive during a long walk, so that
// people who add one do not wait for its end.
func (f *embeddingBackfill) drainQueue(ctx context.Context) error {
	select {
	case task := <-f.queue:
		return f.backfillQueued(ctx, task)
	default:
		return nil
	}
}

// findUnembedded returns the next documents that wait, in order of their key, and how
// many wait from there on.
func (f *embeddingBackfill) findUnembedded(ctx context.Context, def *Definition, index string, after []any) (keys []indexstate.DocumentKey, open int64, last []any, err error) {
	body := map[string]any{
		"size": backfillBatchSize, "track_total_hits": true, "_source": false, "stored_fields": "_none_",
		"sort": []string{def.Index.Key, "tenant_id"},
		"query": map[string]any{"bool": map[string]any{
			"filter":   []any{map[string]any{"term": map[string]any{"deleted": false}}},
			"must_not": []any{map[string]any{"exists": map[string]any{"field": mappings.EmbeddedField}}},
		}},
	}
	if after != nil {
		body["search_after"] = after
	}
	var found struct {
		Hits struct {
			Total struct {
				Value int64 `json:"value"`
			} `json:"total"`
			Hits []struct {
				Sort []any `json:"sort"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := opensearch.Call(ctx, f.x.search, http.MethodPost, "/"+index+"/_search", body, &found); err != nil {
		return nil, 0, nil, err
	}
	for _, h := range found.Hits.Hits {
		key, _ := h.Sort[0].(string)
		tenant, _ := h.Sort[1].(string)
		keys = append(keys, indexstate.DocumentKey{Tenant: library.TenantID(tenant), Key: key})
		last = h.Sort
	}
	return keys, found.Hits.Total.Value, last, nil
}

// Unembedded counts the documents of the live indices that wait for their vector. It
// is an error of kind unavailable that the index has no vectors of the configured
// embedder yet. Without an embedder nothing waits.
func (x *Indexer) Unembedded(ctx context.Context) (int64, error) {
	if x.vectors == nil {
		return 0, nil
	}
	ours := true
	err := x.eachShared(ctx, func(x *Indexer) error {
		has, err := x.hasModelVectors(ctx)
		ours = ours && has
		return err
	})
	if err == nil && !ours {
		err = &library.Error{Kind: library.KindUnavailable, Code: library.CodeIndexUnavailable, Cause: errOtherModel,
			Detail: "The index has no vectors of the configured embedding model yet. The indexer rebuilds it when it starts."}
	}
	if err != nil {
		return 0, err
	}
	generations, err := x.store.Generations.List(ctx)
	if err != nil {
		return 0, err
	}
	var all int64
	for _, g := range generations {
		def := x.definitionNamed(g.Index)
		if def == nil || g.State != indexstate.GenerationLive {
			continue
		}
		_, waiting, _, err := x.embeddingBackfill.findUnembedded(ctx, def, g.Name, nil)
		if err != nil {
			return all, lost(err, g.Name)
		}
		all += waiting
	}
	return all, nil
}
