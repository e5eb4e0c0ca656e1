package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/media/gltf"
)

// Previews keeps what was learned of the assets' pictures when their previews were made.
// The pictures themselves are derived files beside the originals.
type Previews struct{ s *Store }

// Set keeps the ThumbHash and the perceptual hash of an asset's preview, and forgets that there
// was none; nil: its file has none. It returns the asset's MIME type. Of an asset that is gone
// nothing is kept, and stored is false.
func (ps *Previews) Set(ctx context.Context, tenant library.TenantID, hash library.AssetHash, placeholder []byte, phash *uint64) (mime string, stored bool, err error) {
	var bits *int64
	if phash != nil {
		n := int64(*phash) //nolint:gosec // the same 64 bits
		bits = &n
	}
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `WITH asset AS (SELECT tenant_id, asset_h, mime_type FROM assets WHERE tenant_id = $1 AND asset_h = $2),
		made AS (DELETE FROM preview_failures WHERE tenant_id = $1 AND asset_h = $2),
		fingerprint AS (INSERT INTO asset_fingerprints (tenant_id, asset_h, phash) SELECT tenant_id, asset_h, $4 FROM asset
			ON CONFLICT (tenant_id, asset_h) DO UPDATE SET phash = excluded.phash, made_at = now()),
		preview AS (INSERT INTO asset_previews (tenant_id, asset_h, placeholder) SELECT tenant_id, asset_h, $3 FROM asset
			ON CONFLICT (tenant_id, asset_h) DO UPDATE SET placeholder = excluded.placeholder, made_at = now())
		SELECT mime_type FROM asset`, tenant, hash, placeholder, bits).Scan(&mime)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return mime, err == nil, err
}

// Placeholders returns the ThumbHashes of those of these assets that have one. The caller
// has found the assets, so whether the actor sees them is not asked again.
func (ps *Previews) Placeholders(ctx context.Context, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash][]byte, error) {
	found := make(map[library.AssetHash][]byte, len(hashes))
	err := ps.s.readTenant(ctx, tenant, `SELECT asset_h, placeholder FROM asset_previews
		WHERE tenant_id = $1 AND asset_h = ANY($2) AND placeholder IS NOT NULL`, []any{tenant, hashes}, func(rows pgx.Rows) error {
		var hash library.AssetHash
		var placeholder []byte
		_, err := pgx.ForEachRow(rows, []any{&hash, &placeholder}, func() error {
			found[hash] = placeholder
			return nil
		})
		return err
	})
	return found, err
}

// VideoFacts is what a video's file says of how it is coded; what it does not say is zero.
type VideoFacts struct {
	FPS        float64 `json:"fps,omitempty" doc:"Frames per second."`
	Frames     int     `json:"frames,omitempty"`
	Codec      string  `json:"codec,omitempty" doc:"As the file names it, for example avc1 or V_VP9."`
	AudioCodec string  `json:"audio_codec,omitempty" doc:"Of the first sound track; absent where there is none."`
	Storyboard bool    `json:"storyboard" doc:"Whether there is a picture with frames of it: GET /api/v1/assets/{asset_h}/storyboard."`
}

// SetModel keeps the facts of a 3D model, and has the index look at it again where they are news.
// Of an asset that is gone nothing is kept.
func (ps *Previews) SetModel(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f gltf.Facts) error {
	_, err := ps.s.Write(ctx, library.Actor{Kind: library.ActorSystem, ID: "previews", Tenant: tenant}, func(t *Tx) error {
		tag, err := t.Exec(ctx, `INSERT INTO asset_previews AS p (tenant_id, asset_h, facts)
			SELECT tenant_id, asset_h, jsonb_build_object('model', $3::jsonb) FROM assets WHERE tenant_id = $1 AND asset_h = $2
			ON CONFLICT (tenant_id, asset_h) DO UPDATE SET facts = excluded.facts WHERE p.facts IS DISTINCT FROM excluded.facts`, tenant, hash, f)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return t.reindexAssets(ctx, "enriched", []string{string(hash)})
	})
	return err
}

// SetVideo keeps the facts of a video. Of an asset that is gone nothing is kept.
func (ps *Previews) SetVideo(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f VideoFacts) error {
	return ps.s.execTenant(ctx, tenant, `INSERT INTO asset_previews (tenant_id, asset_h, facts)
		SELECT tenant_id, asset_h, $3 FROM assets WHERE tenant_id = $1 AND asset_h = $2
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET facts = excluded.facts`, tenant, hash, f)
}
