package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// AssetFile is what a link to an asset's file needs of its row.
type AssetFile struct {
	Hash     library.AssetHash
	Filename string
	MIMEType string
	Size     int64
}

// Files returns the files of those of these assets that the tenant holds outside
// the trash and the actor sees.
func (as *Assets) Files(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]AssetFile, error) {
	files := make(map[library.AssetHash]AssetFile, len(hashes))
	err := as.s.readTenant(ctx, actor.Tenant, `SELECT asset_h, filename, mime_type, size FROM assets
		WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL AND `+visibleTo("assets", "$3"),
		[]any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) error {
			var f AssetFile
			_, err := pgx.ForEachRow(rows, []any{&f.Hash, &f.Filename, &f.MIMEType, &f.Size}, func() error {
				files[f.Hash] = f
				return nil
			})
			return err
		})
	return files, err
}

// ExistingOrTrashed reports which of these assets have a row, the trash and what is private
// included: their bytes are promised.
func (as *Assets) ExistingOrTrashed(ctx context.Context, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	var have map[library.AssetHash]bool
	err := as.s.readTenant(ctx, tenant, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2)`, []any{tenant, hashes}, func(rows pgx.Rows) (err error) {
		have, err = hashSet(rows)
		return err
	})
	return have, err
}
