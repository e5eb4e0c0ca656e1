package indexstate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// VersionsAfter returns the assets of one tenant that follow after, in order of their
// hash, trashed ones included, at most limit of them. An empty after starts at
// the first.
func (ds *Documents) VersionsAfter(ctx context.Context, tenant library.TenantID, after string, limit int) ([]DocumentVersion, error) {
	return ds.queryVersions(ctx, `
		SELECT tenant_id::text, asset_h, doc_version, trashed_at IS NULL FROM assets
		WHERE tenant_id = $1 AND asset_h > $2 ORDER BY asset_h LIMIT $3`, string(tenant), after, limit)
}

// Count counts the assets of every tenant that has some, trashed ones included, in order
// of the tenant.
func (ds *Documents) Count(ctx context.Context) ([]TenantDocuments, error) {
	return ds.countDocuments(ctx, `SELECT tenant_id::text, count(*) FROM assets GROUP BY tenant_id ORDER BY tenant_id`)
}

// OutgrownTenants returns the tenants that have more than most assets, trashed ones included, apart
// from some, in order. It looks at most+1 assets of each.
func (ds *Documents) OutgrownTenants(ctx context.Context, apart []library.TenantID, most int64) ([]library.TenantID, error) {
	return pg.Collect(ctx, ds.pool, `
		SELECT t.tenant_id::text FROM tenants t
		WHERE NOT t.tenant_id = ANY (coalesce($1::text[]::uuid[], '{}')) AND EXISTS (SELECT FROM assets a WHERE a.tenant_id = t.tenant_id OFFSET $2)
		ORDER BY t.tenant_id`, pgx.RowTo[library.TenantID], apart, most)
}

// CountLive counts the assets of every tenant that has some, without those in the
// trash. It reads the whole table.
func (ds *Documents) CountLive(ctx context.Context) ([]TenantDocuments, error) {
	return ds.countDocuments(ctx, `SELECT tenant_id::text, count(*) FROM assets WHERE trashed_at IS NULL GROUP BY tenant_id ORDER BY tenant_id`)
}

// TombstonesBefore returns those of some assets whose tombstones were laid before
// a time.
func (ds *Documents) TombstonesBefore(ctx context.Context, before time.Time, keys []DocumentKey) ([]DocumentVersion, error) {
	tenants, hashes := splitKeys(keys)
	return ds.queryVersions(ctx, `
		SELECT t.tenant_id::text, t.asset_h, t.doc_version, false FROM `+AssetKeysSQL+`
			JOIN asset_tombstones t USING (tenant_id, asset_h)
		WHERE t.deleted_at < $3 ORDER BY k.ord`, tenants, hashes, before)
}
