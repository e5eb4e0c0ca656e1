package indexer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"vitrine/embed"
	"vitrine/internal/panics"
	"vitrine/mappings"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// vectorStore sets the vectors of documents: those that are known when a batch is
// written, without ever holding it up, and new ones when it is asked to make them.
// A document whose vector is not known yet is written without one and without a
// word about it, which is how the backfill finds it.
type vectorStore struct {
	store    *store.Store
	embedder embed.Embedder
	metrics  *Metrics
	log      *slog.Logger
	enqueue  func(*Definition, []indexstate.DocumentKey) // called with documents that were written without
}

// newVectors returns nil without an embedder: then nothing here costs anything.
func newVectors(st *store.Store, e embed.Embedder, m *Metrics, log *slog.Logger, missing func(*Definition, []indexstate.DocumentKey)) *vectorStore {
	if e == nil {
		return nil
	}
	return &vectorStore{store: st, embedder: e, metrics: m, log: log, enqueue: missing}
}

// configuration names the embedding configuration that new indices are made for.
func (v *vectorStore) configuration() string {
	if v == nil {
		return ""
	}
	return v.embedder.ID()
}

// fields returns the vector fields of a new index.
func (v *vectorStore) fields() []mappings.Vector {
	if v == nil {
		return nil
	}
	return []mappings.Vector{{Config: v.embedder.ID(), Dims: v.embedder.Dimensions()}}
}

func hashText(text string) indexstate.TextHash { return sha256.Sum256([]byte(text)) }

// attach sets on the items of a batch, on their way into one index, the vectors
// that are known for that index. What it cannot find out stays open: a document
// without a vector is better than none.
func (v *vectorStore) attach(ctx context.Context, index string, b *batch, items []item) {
	if v == nil || len(items) == 0 {
		return
	}
	configuration, err := v.configurationOf(ctx, index)
	if err == nil && configuration == "" {
		return
	}
	var known map[indexstate.TextHash]indexstate.EmbeddingVector
	if err == nil {
		known, err = v.lookup(ctx, configuration, b, items)
	}
	if err != nil {
		v.log.Warn("reading vectors failed; they are backfilled later", "documents", len(items), "error", err)
	}
	var open []indexstate.DocumentKey
	for i := range items {
		if !b.attachVector(&items[i], configuration, known) && configuration == v.configuration() {
			open = append(open, items[i].row.DocumentKey)
		}
	}
	if len(open) > 0 {
		v.enqueue(b.def, open)
	}
}

// configurationOf reports which configuration an index has a field for.
func (v *vectorStore) configurationOf(ctx context.Context, index string) (string, error) {
	generations, err := v.store.Generations.List(ctx)
	if err != nil {
		return "", err
	}
	for _, g := range generations {
		if g.Name == index {
			return g.Embedding, nil
		}
	}
	return "", nil
}

// lookup returns what is known of the texts of some items.
func (v *vectorStore) lookup(ctx context.Context, configuration string, b *batch, items []item) (map[indexstate.TextHash]indexstate.EmbeddingVector, error) {
	if configuration == v.configuration() && b.complete {
		return b.vectors, nil
	}
	return v.store.Embeddings.Get(ctx, configuration, slices.Collect(distinct(items)))
}

// distinct returns the hash of each text once.
func distinct(items []item) func(yield func(indexstate.TextHash) bool) {
	return func(yield func(indexstate.TextHash) bool) {
		seen := make(map[indexstate.TextHash]bool, len(items))
		for i := range items {
			if items[i].text == "" {
				continue
			}
			if h := hashText(items[i].text); !seen[h] {
				seen[h] = true
				if !yield(h) {
					return
				}
			}
		}
	}
}

// attachVector writes an item's lines anew with what is known of its text, and reports
// whether that is anything. A tombstone has no text, and needs none.
func (b *batch) attachVector(it *item, configuration string, known map[indexstate.TextHash]indexstate.EmbeddingVector) bool {
	if it.tombstone {
		return true
	}
	said, vector := mappings.EmbeddedNothing, indexstate.EmbeddingVector(nil)
	if it.text != "" {
		var ok bool
		if vector, ok = known[hashText(it.text)]; !ok {
			return false
		}
		said = mappings.EmbeddedReady
		if !isIndexable(vector) {
			said, vector = mappings.EmbeddedRefused, nil
		}
	}
	old := it.line
	body := old.from + bytes.IndexByte(b.buffer[old.from:old.to], '\n') + 1
	it.line.from = len(b.buffer)
	b.buffer = appendAction(b.buffer, it)
	b.buffer = append(b.buffer, b.buffer[body:old.to-len("}\n")]...)
	b.buffer = append(b.buffer, `,"`+mappings.EmbeddedField+`":"`+said+`"`...)
	if vector != nil {
		b.buffer = appendVector(b.buffer, mappings.VectorField(configuration), vector)
	}
	b.buffer = append(b.buffer, "}\n"...)
	it.line.to = len(b.buffer)
	return true
}

// isIndexable reports whether the index takes a vector: it refuses a document whose
// vector is zero or holds what is no number.
func isIndexable(vector []float32) bool {
	var sum float64
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	return sum > 0 && !math.IsInf(sum, 0)
}

func appendVector(dst []byte, field string, vector []float32) []byte {
	dst = append(dst, `,"`+field+`":[`...)
	for i, x := range vector {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	}
	return append(dst, ']')
}

// embedBatchSize is how many texts one call of the embedder gets: enough for a
// provider's request, little enough to keep what was made when one call fails.
const embedBatchSize = 64

// embedBatch embeds the texts of a batch that are not known yet, keeps the vectors, and
// leaves with the batch all that is known then. An error says that some are still
// open.
func (v *vectorStore) embedBatch(ctx context.Context, b *batch) error {
	texts := map[indexstate.TextHash]string{}
	for i := range b.items {
		if text := b.items[i].text; text != "" {
			texts[hashText(text)] = text
		}
	}
	known, err := v.store.Embeddings.Get(ctx, v.configuration(), slices.Collect(distinct(b.items)))
	if err != nil {
		return err
	}
	v.metrics.embedded.WithLabelValues(embeddingCached).Add(float64(len(known)))
	var hashes []indexstate.TextHash
	for h := range texts {
		if _, ok := known[h]; !ok {
			hashes = append(hashes, h)
		}
	}
	if err := v.embedAll(ctx, hashes, texts, known); err != nil {
		return err
	}
	b.vectors, b.complete = known, true
	return nil
}

// maxProviderCalls is how many requests a provider gets at a time; most of each is
// waiting. A model in this process has its own way of using the processors.
const maxProviderCalls = 4

// embedAll embeds texts part by part and adds their vectors to known.
func (v *vectorStore) embedAll(ctx context.Context, hashes []indexstate.TextHash, texts map[indexstate.TextHash]string, known map[indexstate.TextHash]indexstate.EmbeddingVector) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(1)
	if v.embedder.Info().Driver == embed.OpenAI {
		g.SetLimit(maxProviderCalls)
	}
	var mu sync.Mutex
	for part := range slices.Chunk(hashes, embedBatchSize) {
		g.Go(func() error {
			made, err := v.embed(ctx, part, texts)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(known, made)
			return err
		})
	}
	return g.Wait()
}

// embedForIndex makes the vectors of a batch for an index that is filled, where it can.
func (v *vectorStore) embedForIndex(ctx context.Context, index string, b *batch) {
	if v == nil {
		return
	}
	configuration, err := v.configurationOf(ctx, index)
	if err == nil && configuration == v.configuration() {
		err = v.embedBatch(ctx, b)
	}
	if err != nil && ctx.Err() == nil {
		v.log.Warn("some documents of the new index have no vector yet", "error", err)
	}
}

// embed makes the vectors of some texts and keeps them.
func (v *vectorStore) embed(ctx context.Context, hashes []indexstate.TextHash, texts map[indexstate.TextHash]string) (map[indexstate.TextHash]indexstate.EmbeddingVector, error) {
	list := make([]string, len(hashes))
	for i, h := range hashes {
		list[i] = texts[h]
	}
	var got [][]float32
	err := panics.Try(func() (err error) {
		got, err = v.embedder.Embed(embed.Background(ctx), list)
		return err
	})
	if err != nil {
		v.metrics.embedded.WithLabelValues(embeddingFailed).Add(float64(len(list)))
		return nil, err
	}
	made := make(map[indexstate.TextHash]indexstate.EmbeddingVector, len(hashes))
	for i, h := range hashes {
		outcome := embeddingComputed
		if !isIndexable(got[i]) || len(got[i]) != v.embedder.Dimensions() {
			outcome, got[i] = embeddingRefused, nil
		}
		v.metrics.embedded.WithLabelValues(outcome).Inc()
		made[h] = got[i]
	}
	return made, v.store.Embeddings.Save(ctx, v.configuration(), made)
}
