package indexstate

import (
	"context"
	"time"

	"vitrine/library"
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
		SELECT t.tenant_id::text, t.asset_h, t.doc_version, false FROM `+documentKeys+`
			JOIN asset_tombstones t USING (tenant_id, asset_h)
		WHERE t.deleted_at < $3 ORDER BY k.ord`, tenants, hashes, before)
}
