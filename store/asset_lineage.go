package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// AssetWithLineage is an asset with that part of its lineage which lists of related
// assets show.
type AssetWithLineage struct {
	library.Asset
	Tool      string  // empty when the file does not say
	Prompt    *string // nil when the file does not say
	Negative  *string
	ImageTool *library.ImageTool // nil unless the image tool made it
}

// FromImagetool reports whether the image-generation tool made the asset.
func (m AssetWithLineage) FromImagetool() bool { return m.ImageTool != nil }

// JobID is the image tool's job that made the asset, or nothing.
func (m AssetWithLineage) JobID() string {
	if m.ImageTool == nil {
		return ""
	}
	return m.ImageTool.JobID
}

// assetLineageColumns lists what scanAssetWithLineage reads; assetLineageFrom is where they come from.
const (
	assetLineageColumns = assetColumns + `, coalesce(tool, ''), doc ->> 'positive', doc ->> 'negative', doc -> 'image_tool'`
	assetLineageFrom    = ` FROM assets LEFT JOIN lineage USING (tenant_id, asset_h) WHERE tenant_id = $1 AND trashed_at IS NULL `
)

func scanAssetWithLineage(row pgx.CollectableRow) (AssetWithLineage, error) {
	var m AssetWithLineage
	err := row.Scan(append(assetFields(&m.Asset), &m.Tool, &m.Prompt, &m.Negative, &m.ImageTool)...)
	return m, err
}

// queryAssetsWithLineage reads assets that are not in the trash, in order of their making.
// The condition says who sees them; what it leaves out, the caller has to hide.
func queryAssetsWithLineage(ctx context.Context, tx pgx.Tx, tenant library.TenantID, condition string, args ...any) ([]AssetWithLineage, error) {
	rows, err := tx.Query(ctx, `SELECT `+assetLineageColumns+assetLineageFrom+condition+` ORDER BY created_at, asset_h`, append([]any{tenant}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanAssetWithLineage)
}

// Get returns one asset that is not in the trash and that the actor sees, or
// a not-found error.
func (ln *Lineage) Get(ctx context.Context, actor library.Actor, hash library.AssetHash) (AssetWithLineage, error) {
	var m AssetWithLineage
	err := ln.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		m, err = getAssetWithLineage(ctx, tx, actor, hash)
		return err
	})
	return m, err
}

func getAssetWithLineage(ctx context.Context, tx pgx.Tx, actor library.Actor, hash library.AssetHash) (AssetWithLineage, error) {
	list, err := queryAssetsWithLineage(ctx, tx, actor.Tenant, `AND asset_h = $2 AND `+visibleTo("assets", "$3"), hash, viewer(actor))
	if err != nil {
		return AssetWithLineage{}, err
	}
	if len(list) == 0 {
		return AssetWithLineage{}, library.NotFound("asset")
	}
	return list[0], nil
}

// SameWorkflowAndSeed returns the assets whose file records the same workflow graph and the
// same seed as this one's, at most limit of those that the actor sees: repeats of one
// run with other texts or inputs. There are none where the file records no graph or no
// seed.
func (ln *Lineage) SameWorkflowAndSeed(ctx context.Context, actor library.Actor, hash library.AssetHash, limit int) ([]AssetWithLineage, error) {
	var list []AssetWithLineage
	err := ln.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		list, err = queryAssetsWithLineage(ctx, tx, actor.Tenant, `AND asset_h IN (
			SELECT o.asset_h FROM lineage l JOIN lineage o ON o.tenant_id = l.tenant_id AND o.workflow_hash = l.workflow_hash AND o.seed = l.seed
				JOIN assets a ON a.tenant_id = o.tenant_id AND a.asset_h = o.asset_h
			WHERE l.tenant_id = $1 AND l.asset_h = $2 AND l.workflow_hash <> '' AND o.asset_h <> l.asset_h AND a.trashed_at IS NULL
				AND `+visibleTo("a", "$4")+` ORDER BY o.asset_h LIMIT $3)`, hash, limit, viewer(actor))
		return err
	})
	return list, err
}

// CreatedAround returns the assets that the same program made around one of its own,
// in order of their making: at most each older ones not made before from, the
// asset itself, and at most each younger ones not made after to, of those that the
// actor sees.
func (ln *Lineage) CreatedAround(ctx context.Context, actor library.Actor, a AssetWithLineage, from, to time.Time, each int) ([]AssetWithLineage, error) {
	var list []AssetWithLineage
	// The tool is looked up asset by asset, so that the walk along the index of
	// times can stop at the limit.
	near := `AND asset_h IN (SELECT a.asset_h FROM assets a WHERE a.tenant_id = $1 AND a.trashed_at IS NULL AND ` + visibleTo("a", "$7") + ` AND $2 =
		coalesce((SELECT l.tool FROM lineage l WHERE l.tenant_id = a.tenant_id AND l.asset_h = a.asset_h), '') AND `
	err := ln.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		older, err := queryAssetsWithLineage(ctx, tx, actor.Tenant, near+`created_at BETWEEN $3 AND $4 AND (created_at, asset_h) <= ($4, $5)
			ORDER BY created_at DESC, asset_h DESC LIMIT $6)`, a.Tool, from, a.CreatedAt, a.Hash, each+1, viewer(actor))
		if err != nil {
			return err
		}
		younger, err := queryAssetsWithLineage(ctx, tx, actor.Tenant, near+`created_at BETWEEN $3 AND $4 AND (created_at, asset_h) > ($3, $5)
			ORDER BY created_at, asset_h LIMIT $6)`, a.Tool, a.CreatedAt, to, a.Hash, each, viewer(actor))
		list = append(older, younger...)
		return err
	})
	return list, err
}
