package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Files records which bytes the blob store must have, and which of them were found damaged.
type Files struct{ s *Store }

// BlobStore returns the id of the blob folder that holds the library's files, or
// nothing while none is recorded.
func (fs *Files) BlobStore(ctx context.Context) (id string, err error) {
	err = fs.s.indexer.QueryRow(ctx, `SELECT store_id FROM blob_store`).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return id, unavailable(err)
}

// SetBlobStore records another blob folder in place of the one that was, and returns
// the id that is recorded now: another one than asked for when somebody else was
// faster. It is for start-up and the command line; no request may reach it.
func (fs *Files) SetBlobStore(ctx context.Context, actor library.Actor, from, to string) (now string, err error) {
	_, err = fs.s.indexer.Exec(ctx, `INSERT INTO blob_store (store_id, recorded_by) VALUES ($1, $2)
		ON CONFLICT (one) DO UPDATE SET store_id = excluded.store_id, previous = blob_store.store_id, recorded_at = now(), recorded_by = excluded.recorded_by
		WHERE blob_store.store_id = $3`, to, actor.ID, from)
	if err != nil {
		return "", unavailable(err)
	}
	return fs.BlobStore(ctx)
}

// StoredBytes is what the library promises of one asset's file.
type StoredBytes struct {
	library.AssetKey
	Size    int64
	SHA256  string
	InPlace bool // there is no file of the library's own: it is referenced in place
}

// List returns the files of all tenants, trashed assets included, in order of
// their keys: at most limit of those that follow after. It is for the command line
// and for background work; no request may reach it.
func (fs *Files) List(ctx context.Context, after library.AssetKey, limit int) ([]StoredBytes, error) {
	if after.Tenant == "" {
		after.Tenant = firstTenant
	}
	return collectIndexer(ctx, fs.s, `SELECT tenant_id::text, asset_h, size, sha256, in_place FROM assets
		WHERE (tenant_id, asset_h) > ($1, $2) ORDER BY tenant_id, asset_h LIMIT $3`, pgx.RowToStructByPos[StoredBytes], string(after.Tenant), string(after.Hash), limit)
}

// Sample returns files from everywhere among the tenants and the hashes,
// at most limit. It reads a few rows at each of 64 places of a tenant, however many
// there are.
func (fs *Files) Sample(ctx context.Context, limit int) ([]StoredBytes, error) {
	return collectIndexer(ctx, fs.s, `SELECT DISTINCT x.tenant_id, x.asset_h, x.size, x.sha256, false
		FROM (SELECT tenant_id FROM tenants ORDER BY created_at, tenant_id LIMIT 50) t
		CROSS JOIN generate_series(0, 252, 4) AS place
		CROSS JOIN LATERAL (SELECT a.tenant_id::text, a.asset_h, a.size, a.sha256 FROM assets a
			WHERE a.tenant_id = t.tenant_id AND NOT a.in_place AND a.asset_h >= lpad(to_hex(place), 2, '0') COLLATE "C"
			ORDER BY a.asset_h LIMIT 4) x
		LIMIT $1`, pgx.RowToStructByPos[StoredBytes], limit)
}

// firstTenant sorts before every tenant.
const firstTenant = library.TenantID("00000000-0000-0000-0000-000000000000")

// Count returns how many files List returns in all, and their bytes.
func (fs *Files) Count(ctx context.Context, after library.AssetKey) (files, bytes int64, err error) {
	if after.Tenant == "" {
		after.Tenant = firstTenant
	}
	err = fs.s.indexer.QueryRow(ctx, `SELECT count(*), coalesce(sum(size), 0)::bigint FROM assets WHERE (tenant_id, asset_h) > ($1, $2)`,
		string(after.Tenant), string(after.Hash)).Scan(&files, &bytes)
	return files, bytes, unavailable(err)
}

// Any reports whether the library holds any asset, the trash included.
func (as *Assets) Any(ctx context.Context) (has bool, err error) {
	err = as.s.indexer.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets)`).Scan(&has)
	return has, unavailable(err)
}
