package store

import (
	"context"

	"vitrine/library"
)

// PreviewFailures keeps which files no preview can be made of.
type PreviewFailures struct{ s *Store }

// PreviewFailure is why no preview can be made of a file.
type PreviewFailure struct {
	Code   string // one of the constants below; "" where one can be made, or was not tried yet
	Reason string // a sentence
}

// Codes of PreviewFailure.
const (
	PreviewDamaged    = "damaged"     // the file cannot be decoded
	PreviewTooLarge   = "too_large"   // decoding it takes more memory or time than is allowed
	PreviewNoFFmpeg   = "no_ffmpeg"   // a video, and there is no ffmpeg to read it with
	PreviewNoVips     = "no_libvips"  // AVIF, HEIC or JPEG XL, and there is no libvips to read it with
	PreviewNoRenderer = "no_renderer" // a 3D model without a poster
)

// Record notes why no preview can be made of an asset's file. Of an asset that is gone
// nothing is noted.
func (pf *PreviewFailures) Record(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f PreviewFailure) error {
	return pf.s.execTenant(ctx, tenant, `INSERT INTO preview_failures (tenant_id, asset_h, code, reason)
		SELECT tenant_id, asset_h, $3, $4 FROM assets WHERE tenant_id = $1 AND asset_h = $2
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET code = excluded.code, reason = excluded.reason, found_at = now()`, tenant, hash, f.Code, f.Reason)
}
