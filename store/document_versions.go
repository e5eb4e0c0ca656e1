package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// AssetVersion is an asset and the version its document should have.
type AssetVersion struct {
	AssetKey
	Version int64
	Live    bool // false: in the trash, or gone
}

// VersionsAfter returns the assets of one tenant that follow after, in order of their
// hash, trashed ones included, at most limit of them. An empty after starts at
// the first.
func (ds *Documents) VersionsAfter(ctx context.Context, tenant library.TenantID, after library.AssetHash, limit int) ([]AssetVersion, error) {
	return collectIndexer(ctx, ds.s, `
		SELECT asset_h, doc_version, trashed_at IS NULL FROM assets
		WHERE tenant_id = $1 AND asset_h > $2 ORDER BY asset_h LIMIT $3`, func(row pgx.CollectableRow) (AssetVersion, error) {
		v := AssetVersion{AssetKey: AssetKey{Tenant: tenant}}
		err := row.Scan(&v.Hash, &v.Version, &v.Live)
		return v, err
	}, string(tenant), string(after), limit)
}

// TenantAssets is a tenant and how many assets it has, trashed ones included.
type TenantAssets struct {
	Tenant library.TenantID
	Assets int64
}

// Count counts the assets of every tenant that has some, in order of the tenant.
func (ds *Documents) Count(ctx context.Context) ([]TenantAssets, error) {
	return collectIndexer(ctx, ds.s, `SELECT tenant_id::text, count(*) FROM assets GROUP BY tenant_id ORDER BY tenant_id`, pgx.RowToStructByPos[TenantAssets])
}

// CountLive counts the assets of every tenant that has some, without those in the
// trash. It reads the whole table.
func (ds *Documents) CountLive(ctx context.Context) ([]TenantAssets, error) {
	return collectIndexer(ctx, ds.s, `SELECT tenant_id::text, count(*) FROM assets WHERE trashed_at IS NULL GROUP BY tenant_id ORDER BY tenant_id`, pgx.RowToStructByPos[TenantAssets])
}

// TombstonesBefore returns those of some assets whose tombstones were laid before
// a time.
func (ds *Documents) TombstonesBefore(ctx context.Context, before time.Time, keys []AssetKey) ([]AssetVersion, error) {
	tenants, hashes := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		tenants[i], hashes[i] = string(k.Tenant), string(k.Hash)
	}
	return collectIndexer(ctx, ds.s, `
		SELECT t.tenant_id::text, t.asset_h, t.doc_version FROM `+documentKeys+`
			JOIN asset_tombstones t USING (tenant_id, asset_h)
		WHERE t.deleted_at < $3 ORDER BY k.ord`, func(row pgx.CollectableRow) (AssetVersion, error) {
		var v AssetVersion
		err := row.Scan(&v.Tenant, &v.Hash, &v.Version)
		return v, err
	}, tenants, hashes, before)
}
