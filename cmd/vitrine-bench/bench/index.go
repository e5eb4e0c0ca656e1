package bench

import (
	"context"

	"vitrine/indexer"
)

// rawBulkBytes is the size that raw bulk requests aim for: within the 2 to 4 MB
// at which OpenSearch takes documents fastest.
const rawBulkBytes = 3 << 20

// measureIndexer lets raw bulk requests of documents that lie ready in memory and
// the whole way from outbox rows to the index take turns over all assets. The
// service's own relay, indexer and workers stand still meanwhile; it is the last
// measure, because it empties the index each time.
func (e *env) measureIndexer(ctx context.Context) ([]Figure, error) {
	if err := e.streams.end(); err != nil {
		return nil, err
	}
	if err := e.others.end(); err != nil {
		return nil, err
	}
	e.Step("Indexing: warming up")
	usual := e.cfg.Kafka()
	stream, err := indexer.New(e.Store, e.OpenSearch, usual, indexer.NewMetrics())
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	sizes, err := stream.MeasureRaw(ctx, e.Count)
	if err != nil {
		return nil, err
	}
	large := usual
	large.BatchEvents = int(max(1, rawBulkBytes/max(1, sizes.Bytes/max(1, sizes.Documents))))
	raw, err := indexer.New(e.Store, e.OpenSearch, large, indexer.NewMetrics())
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	var ours, floor, ratios []float64
	for i := range e.Rounds {
		e.Step("Indexing, round %d of %d: %d documents of %d bytes", i+1, e.Rounds, sizes.Documents, sizes.Bytes/max(1, sizes.Documents))
		bare, err := raw.MeasureRaw(ctx, e.Count)
		if err != nil {
			return nil, err
		}
		relay, err := indexer.NewRelay(e.Store, usual, indexer.NewMetrics())
		if err != nil {
			return nil, err
		}
		with, err := stream.MeasureStream(ctx, relay, e.Count)
		if err != nil {
			return nil, err
		}
		ours, floor, ratios = append(ours, with.PerSecond()), append(floor, bare.PerSecond()), append(ratios, with.PerSecond()/bare.PerSecond())
	}
	row := Row{Name: "outbox to index", Unit: "documents/s", Ours: summarize(ours, true), Floor: summarize(floor, true), Ratio: summarize(ratios, true).P50}
	return []Figure{{Key: KeyIndexer, Value: row.Ratio, Repeats: e.Rounds, Rows: []Row{row}}}, nil
}
