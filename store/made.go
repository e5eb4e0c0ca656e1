package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// MadeAsset is an asset with that part of its lineage which lists of related
// assets show.
type MadeAsset struct {
	library.Asset
	Tool      string  // empty when the file does not say
	Prompt    *string // nil when the file does not say
	Negative  *string
	ImageTool *library.ImageTool // nil unless the image tool made it
}

// ByImageTool reports whether the image-generation tool made the asset.
func (m MadeAsset) ByImageTool() bool { return m.ImageTool != nil }

// JobID is the image tool's job that made the asset, or nothing.
func (m MadeAsset) JobID() string {
	if m.ImageTool == nil {
		return ""
	}
	return m.ImageTool.JobID
}

// madeColumns lists what scanMade reads; madeFrom is where they come from.
const (
	madeColumns = assetColumns + `, coalesce(tool, ''), doc ->> 'positive', doc ->> 'negative', doc -> 'image_tool'`
	madeFrom    = ` FROM assets LEFT JOIN lineage USING (tenant_id, asset_h) WHERE tenant_id = $1 AND trashed_at IS NULL `
)

func scanMade(row pgx.CollectableRow) (MadeAsset, error) {
	var m MadeAsset
	err := row.Scan(append(assetFields(&m.Asset), &m.Tool, &m.Prompt, &m.Negative, &m.ImageTool)...)
	return m, err
}

// made reads assets that are not in the trash, in order of their making.
func made(ctx context.Context, tx pgx.Tx, tenant library.TenantID, condition string, args ...any) ([]MadeAsset, error) {
	rows, err := tx.Query(ctx, `SELECT `+madeColumns+madeFrom+condition+` ORDER BY created_at, asset_h`, append([]any{tenant}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanMade)
}

// MadeAsset gives one asset that is not in the trash, or a not-found error.
func (s *Store) MadeAsset(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (MadeAsset, error) {
	var m MadeAsset
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		m, err = madeOne(ctx, tx, tenant, hash)
		return err
	})
	return m, err
}

func madeOne(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hash library.AssetHash) (MadeAsset, error) {
	list, err := made(ctx, tx, tenant, `AND asset_h = $2`, hash)
	if err != nil {
		return MadeAsset{}, err
	}
	if len(list) == 0 {
		return MadeAsset{}, library.NotFound("asset")
	}
	return list[0], nil
}

// SameRecipe gives the assets whose file tells of the same workflow graph and the
// same seed as this one's, at most limit of them: repeats of one run with other
// texts or inputs. There are none where the file tells of no graph or no seed.
func (s *Store) SameRecipe(ctx context.Context, tenant library.TenantID, hash library.AssetHash, limit int) ([]MadeAsset, error) {
	var list []MadeAsset
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		list, err = made(ctx, tx, tenant, `AND asset_h IN (
			SELECT o.asset_h FROM lineage l JOIN lineage o ON o.tenant_id = l.tenant_id AND o.workflow_hash = l.workflow_hash AND o.seed = l.seed
				JOIN assets a ON a.tenant_id = o.tenant_id AND a.asset_h = o.asset_h
			WHERE l.tenant_id = $1 AND l.asset_h = $2 AND l.workflow_hash <> '' AND o.asset_h <> l.asset_h AND a.trashed_at IS NULL
			ORDER BY o.asset_h LIMIT $3)`, hash, limit)
		return err
	})
	return list, err
}

// MadeAround gives the assets that the same program made around one of its own,
// in order of their making: at most each older ones not made before from, the
// asset itself, and at most each younger ones not made after to.
func (s *Store) MadeAround(ctx context.Context, tenant library.TenantID, a MadeAsset, from, to time.Time, each int) ([]MadeAsset, error) {
	var list []MadeAsset
	// The tool is looked up asset by asset, so that the walk along the index of
	// times can stop at the limit.
	const near = `AND asset_h IN (SELECT a.asset_h FROM assets a WHERE a.tenant_id = $1 AND a.trashed_at IS NULL AND $2 =
		coalesce((SELECT l.tool FROM lineage l WHERE l.tenant_id = a.tenant_id AND l.asset_h = a.asset_h), '') AND `
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		older, err := made(ctx, tx, tenant, near+`created_at BETWEEN $3 AND $4 AND (created_at, asset_h) <= ($4, $5)
			ORDER BY created_at DESC, asset_h DESC LIMIT $6)`, a.Tool, from, a.CreatedAt, a.Hash, each+1)
		if err != nil {
			return err
		}
		younger, err := made(ctx, tx, tenant, near+`created_at BETWEEN $3 AND $4 AND (created_at, asset_h) > ($3, $5)
			ORDER BY created_at, asset_h LIMIT $6)`, a.Tool, a.CreatedAt, to, a.Hash, each)
		list = append(older, younger...)
		return err
	})
	return list, err
}
