package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// RowsFor tells which of these assets have a row, the trash included: their
// bytes are promised.
func (s *Store) RowsFor(ctx context.Context, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	have := make(map[library.AssetHash]bool, len(hashes))
	err := s.readTenant(ctx, tenant, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2)`,
		[]any{tenant, hashes}, func(rows pgx.Rows) error {
			var h library.AssetHash
			_, err := pgx.ForEachRow(rows, []any{&h}, func() error {
				have[h] = true
				return nil
			})
			return err
		})
	return have, err
}
