package indexstate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/store/internal/pg"
)

// Failures keeps the documents that the index refused.
type Failures struct{ db }

// Failure is a document the index refused.
type Failure struct {
	Index string
	DocumentVersion
	Reason  string // the index's words, at most a few hundred characters
	Partial bool   // true: the document is searchable, but without the refused parts
	At      time.Time
}

// Record keeps refused documents until they are resolved; a newer
// failure of the same document replaces the older.
func (fl *Failures) Record(ctx context.Context, failures []Failure) error {
	b := &pgx.Batch{}
	for _, f := range failures {
		b.Queue(`
			INSERT INTO index_failures (tenant_id, key, doc_version, reason, partial, index_name) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (index_name, tenant_id, key) DO UPDATE
			SET doc_version = excluded.doc_version, reason = excluded.reason, partial = excluded.partial, at = now()
			WHERE index_failures.doc_version <= excluded.doc_version`,
			string(f.Tenant), f.Key, f.Version, f.Reason, f.Partial, f.Index)
	}
	return pg.Unavailable(fl.pool.SendBatch(ctx, b).Close())
}

// Resolve forgets failures of documents that an index has taken
// whole since, at these versions or newer ones.
func (fl *Failures) Resolve(ctx context.Context, index string, resolved []DocumentVersion) error {
	b := &pgx.Batch{}
	for _, a := range resolved {
		b.Queue(`DELETE FROM index_failures WHERE tenant_id = $1 AND key = $2 AND doc_version <= $3 AND index_name = $4`,
			string(a.Tenant), a.Key, a.Version, index)
	}
	return pg.Unavailable(fl.pool.SendBatch(ctx, b).Close())
}

// List lists the failures of an index that follow after in order of tenant and key, at
// most limit of them.
func (fl *Failures) List(ctx context.Context, index string, after DocumentKey, limit int) ([]Failure, error) {
	if after.Tenant == "" {
		after.Tenant = "00000000-0000-0000-0000-000000000000"
	}
	return pg.Collect(ctx, fl.pool, `
		SELECT tenant_id::text, key, doc_version, reason, partial, at FROM index_failures
		WHERE (tenant_id, key) > ($1, $2) AND index_name = $4 ORDER BY tenant_id, key LIMIT $3`,
		func(row pgx.CollectableRow) (Failure, error) {
			f := Failure{Index: index}
			err := row.Scan(&f.Tenant, &f.Key, &f.Version, &f.Reason, &f.Partial, &f.At)
			return f, err
		}, string(after.Tenant), after.Key, limit, index)
}

// Count counts the documents that are not in their index at all and those that are
// there without some of their parts. index "" counts those of all.
func (fl *Failures) Count(ctx context.Context, index string) (missing, partial int64, err error) {
	err = fl.pool.QueryRow(ctx, `
		SELECT count(*) FILTER (WHERE NOT partial), count(*) FILTER (WHERE partial) FROM index_failures WHERE $1 IN ('', index_name)`, index).Scan(&missing, &partial)
	return missing, partial, pg.Unavailable(err)
}
