package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// RecordDamage notes that a file is not what was stored, and reports whether the asset
// is still there. A problem that is known already keeps the time it was found at.
func (fs *Files) RecordDamage(ctx context.Context, key library.AssetKey, problem library.FileProblem) (bool, error) {
	tag, err := fs.s.indexer.Exec(ctx, `INSERT INTO damaged_files (tenant_id, asset_h, problem)
		SELECT tenant_id, asset_h, $3 FROM assets WHERE tenant_id = $1 AND asset_h = $2
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET problem = excluded.problem`, string(key.Tenant), string(key.Hash), string(problem))
	return tag.RowsAffected() == 1, unavailable(err)
}

// ForgetDamage takes back what RecordDamage noted of a file.
func (fs *Files) ForgetDamage(ctx context.Context, key library.AssetKey) error {
	_, err := fs.s.indexer.Exec(ctx, `DELETE FROM damaged_files WHERE tenant_id = $1 AND asset_h = $2`, string(key.Tenant), string(key.Hash))
	return unavailable(err)
}

// Damaged returns the damaged files of all tenants in order of their keys: those
// that follow after, up to and with through, and at most limit.
func (fs *Files) Damaged(ctx context.Context, after, through library.AssetKey, limit int) ([]library.DamagedFile, error) {
	if after.Tenant == "" {
		after.Tenant = firstTenant
	}
	return collectIndexer(ctx, fs.s, `SELECT tenant_id::text, asset_h, problem, found_at FROM damaged_files
		WHERE (tenant_id, asset_h) > ($1, $2) AND (tenant_id, asset_h) <= ($3, $4) ORDER BY tenant_id, asset_h LIMIT $5`, pgx.RowToStructByPos[library.DamagedFile], string(after.Tenant), string(after.Hash), string(through.Tenant), string(through.Hash), limit)
}

// CountDamaged counts the damaged files of all tenants by their problem.
func (fs *Files) CountDamaged(ctx context.Context) (map[library.FileProblem]int64, error) {
	rows, err := fs.s.indexer.Query(ctx, `SELECT problem, count(*) FROM damaged_files GROUP BY problem`)
	if err != nil {
		return nil, unavailable(err)
	}
	counts := map[library.FileProblem]int64{}
	var problem library.FileProblem
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&problem, &n}, func() error {
		counts[problem] = n
		return nil
	})
	return counts, unavailable(err)
}

// DamagedAmong returns which of these assets of a tenant have a file that is known to
// be damaged.
func (fs *Files) DamagedAmong(ctx context.Context, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	damaged := map[library.AssetHash]bool{}
	err := fs.s.readTenant(ctx, tenant, `SELECT asset_h FROM damaged_files WHERE tenant_id = $1 AND asset_h = ANY($2)`,
		[]any{tenant, hashes}, func(rows pgx.Rows) error {
			var h library.AssetHash
			_, err := pgx.ForEachRow(rows, []any{&h}, func() error {
				damaged[h] = true
				return nil
			})
			return err
		})
	return damaged, err
}

// Get returns what the library promises of one asset's file, the trash
// included, and whether there is such an asset.
func (fs *Files) Get(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (f StoredBytes, there bool, err error) {
	err = fs.s.readTenant(ctx, tenant, `SELECT size, sha256, in_place FROM assets WHERE tenant_id = $1 AND asset_h = $2`, []any{tenant, hash}, func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&f.Size, &f.SHA256, &f.InPlace}, func() error { there = true; return nil })
		return err
	})
	f.AssetKey = library.AssetKey{Tenant: tenant, Hash: hash}
	return f, there, err
}

// Scrub is how far the background check of files is.
type Scrub struct {
	After   library.AssetKey // the last file that was checked in this pass
	BeganAt time.Time        // of the pass
	EndedAt *time.Time       // nil while the pass is under way
}

// ClaimScrub lets a holder go on with the check of files until it calls SaveScrub, or
// the time is over. It returns false while another one holds it, and until the last
// pass that ended is older than every; then it begins another pass.
func (fs *Files) ClaimScrub(ctx context.Context, holder string, hold, every time.Duration) (out Scrub, claimed bool, err error) {
	err = fs.s.indexer.QueryRow(ctx, `INSERT INTO scrub AS s (holder, held_until) VALUES ($1, now() + make_interval(secs => $2))
		ON CONFLICT (one) DO UPDATE SET holder = $1, held_until = now() + make_interval(secs => $2),
			at_tenant = CASE WHEN s.ended_at IS NULL THEN s.at_tenant ELSE '' END, at_asset = CASE WHEN s.ended_at IS NULL THEN s.at_asset ELSE '' END,
			began_at = CASE WHEN s.ended_at IS NULL THEN s.began_at ELSE now() END, ended_at = NULL
		WHERE (s.held_until <= now() OR s.holder = $1) AND (s.ended_at IS NULL OR s.began_at <= now() - make_interval(secs => $3))
		RETURNING at_tenant, at_asset, began_at`, holder, hold.Seconds(), every.Seconds()).Scan(&out.After.Tenant, &out.After.Hash, &out.BeganAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return out, false, nil
	}
	return out, err == nil, unavailable(err)
}

// SaveScrub notes how far the holder came, and lets others go on. ended ends the pass.
func (fs *Files) SaveScrub(ctx context.Context, holder string, last library.AssetKey, ended bool) error {
	_, err := fs.s.indexer.Exec(ctx, `UPDATE scrub SET at_tenant = $2, at_asset = $3, ended_at = CASE WHEN $4 THEN now() END, held_until = now()
		WHERE holder = $1`, holder, string(last.Tenant), string(last.Hash), ended)
	return unavailable(err)
}

// LastScrub returns how far the background check of files is; the zero value when there
// was none yet.
func (fs *Files) LastScrub(ctx context.Context) (out Scrub, err error) {
	err = fs.s.indexer.QueryRow(ctx, `SELECT at_tenant, at_asset, began_at, ended_at FROM scrub`).Scan(&out.After.Tenant, &out.After.Hash, &out.BeganAt, &out.EndedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return Scrub{}, nil
	}
	return out, unavailable(err)
}
