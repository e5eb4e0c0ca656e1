package indexer

import (
	"context"
	"time"

	"vitrine/internal/retry"
)

// How often PostgreSQL's statistics are looked at, and how many documents the index must have
// taken meanwhile to make that worth it.
const (
	statisticsEvery = time.Second
	statisticsAfter = 100
)

// keepStatistics has tables that grew much analyzed while documents are written, until ctx
// ends, so that PostgreSQL plans statements for the library as it is.
func (x *Indexer) keepStatistics(ctx context.Context) {
	var seen int64
	for retry.Sleep(ctx, statisticsEvery) == nil {
		now := x.writer.accepted.Load()
		if now-seen < statisticsAfter {
			continue
		}
		seen = now
		if _, err := x.store.IndexState.AnalyzeGrownTables(ctx); err != nil && ctx.Err() == nil {
			x.log.Warn("PostgreSQL's statistics could not be renewed; statements may be slow until it does so by itself", "error", err)
		}
	}
}
