package store

import (
	"context"

	"vitrine/library"
)

// PreviewFailures keeps which files no preview can be made of.
type PreviewFailures struct{ s *Store }

// Record notes why no preview can be made of an asset's file. Of an asset that is gone
// nothing is noted.
func (pf *PreviewFailures) Record(ctx context.Context, tenant library.TenantID, hash library.AssetHash, reason string) error {
	return pf.s.execTenant(ctx, tenant, `INSERT INTO preview_failures (tenant_id, asset_h, reason)
		SELECT tenant_id, asset_h, $3 FROM assets WHERE tenant_id = $1 AND asset_h = $2
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET reason = excluded.reason, found_at = now()`, tenant, hash, reason)
}
