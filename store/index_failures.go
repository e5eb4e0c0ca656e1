package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// IndexFailures keeps the documents that the index refused.
type IndexFailures struct{ s *Store }

// IndexFailure is a document the index refused.
type IndexFailure struct {
	AssetVersion
	Reason  string // the index's words, at most a few hundred characters
	Partial bool   // true: the asset is searchable, but without the refused parts
	At      time.Time
}

// Record keeps refused documents until they are settled; a newer
// failure of the same asset replaces the older.
func (fl *IndexFailures) Record(ctx context.Context, failures []IndexFailure) error {
	b := &pgx.Batch{}
	for _, f := range failures {
		b.Queue(`
			INSERT INTO index_failures (tenant_id, asset_h, doc_version, reason, partial) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (tenant_id, asset_h) DO UPDATE
			SET doc_version = excluded.doc_version, reason = excluded.reason, partial = excluded.partial, at = now()
			WHERE index_failures.doc_version <= excluded.doc_version`,
			string(f.Tenant), string(f.Hash), f.Version, f.Reason, f.Partial)
	}
	return unavailable(fl.s.indexer.SendBatch(ctx, b).Close())
}

// Resolve forgets failures of documents that the index has taken
// whole since, at these versions or newer ones.
func (fl *IndexFailures) Resolve(ctx context.Context, settled []AssetVersion) error {
	b := &pgx.Batch{}
	for _, a := range settled {
		b.Queue(`DELETE FROM index_failures WHERE tenant_id = $1 AND asset_h = $2 AND doc_version <= $3`,
			string(a.Tenant), string(a.Hash), a.Version)
	}
	return unavailable(fl.s.indexer.SendBatch(ctx, b).Close())
}

// List lists failures that follow after in order of tenant and hash, at
// most limit of them.
func (fl *IndexFailures) List(ctx context.Context, after AssetKey, limit int) ([]IndexFailure, error) {
	if after.Tenant == "" {
		after.Tenant = "00000000-0000-0000-0000-000000000000"
	}
	return collectIndexer(ctx, fl.s, `
		SELECT tenant_id::text, asset_h, doc_version, reason, partial, at FROM index_failures
		WHERE (tenant_id, asset_h) > ($1, $2) ORDER BY tenant_id, asset_h LIMIT $3`, func(row pgx.CollectableRow) (IndexFailure, error) {
		var f IndexFailure
		err := row.Scan(&f.Tenant, &f.Hash, &f.Version, &f.Reason, &f.Partial, &f.At)
		return f, err
	}, string(after.Tenant), string(after.Hash), limit)
}

// Count counts the assets that are not in the index at all and
// those that are there without some of their parts.
func (fl *IndexFailures) Count(ctx context.Context) (missing, partial int64, err error) {
	err = fl.s.indexer.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE NOT partial), count(*) FILTER (WHERE partial) FROM index_failures`).Scan(&missing, &partial)
	return missing, partial, unavailable(err)
}
