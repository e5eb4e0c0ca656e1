package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/media/gltf"
	"vitrine/store/internal/pg"
)

// Assets reads and changes assets. It is a field of Store, as all nouns are.
type Assets struct{ s *Store }

// assetColumns lists what assetFields takes, in its order.
const assetColumns = `tenant_id, asset_h, sha256, blake3, title, description, filename, source_path, mime_type, claimed_type,
	size, width, height, duration_ms, status, tags, coalesce(parent_asset_h, ''), metadata, created_at, stored_at, updated_at,
	created_by, owner, visibility, rating, favorite, in_place, trashed_at IS NOT NULL, doc_version`

func scanAsset(row pgx.CollectableRow) (library.Asset, error) {
	var a library.Asset
	err := row.Scan(assetFields(&a)...)
	return a, err
}

func assetFields(a *library.Asset) []any {
	return []any{&a.Tenant, &a.Hash, &a.SHA256, &a.BLAKE3, &a.Title, &a.Description, &a.Filename, &a.SourcePath, &a.MIMEType,
		&a.ClaimedType, &a.Size, &a.Width, &a.Height, &a.DurationMS, &a.Status, &a.Tags, &a.Parent, (*pg.ExactObject)(&a.Metadata),
		&a.CreatedAt, &a.StoredAt, &a.UpdatedAt, &a.CreatedBy, &a.Owner, &a.Visibility, &a.Rating, &a.Favorite, &a.InPlace, &a.Trashed, &a.DocVersion}
}

// AssetDetail is one asset with all that is known of its making.
type AssetDetail struct {
	Asset       library.Asset
	Lineage     library.Lineage // without its workflow graphs
	Source      library.LineageSource
	Models      []AssetModel
	Parents     []AssetParent
	Assertion   json.RawMessage // the newest uploader's claim, or nil
	Report      json.RawMessage // how much generation metadata the file has (extract.Report), or nil
	Collections []string        // paths, in order
	Prompts     []AssetPrompt   // versions of the prompt library that its prompt is a render of
	NoPreview   PreviewFailure
	Video       *VideoFacts // nil: it is none, or was not looked at yet
	Model       *gltf.Facts // the same of a 3D model
	Placeholder []byte      // ThumbHash of its preview; nil where there is none yet
}

// AssetModel is one model that an asset used.
type AssetModel struct {
	Sequence        int
	Hash            library.ModelHash
	Type            string
	Name            string // as the asset's file names it
	DisplayName     string
	BaseModel       string
	NodeID          string
	Weight          *float64
	ClipWeight      *float64
	ContentHash     string
	DetectionSource string
}

// assetModelsSQL reads the AssetModels of asset $2; assetModelsOrder puts those
// that its file records before those that people added.
const (
	assetModelsSQL = `SELECT am.sequence, am.model_hash, m.type, am.name, m.display_name, m.base_model, am.node_id, am.weight,
			am.clip_weight, am.content_hash, am.detection_source
		FROM asset_models am JOIN models m ON m.tenant_id = am.tenant_id AND m.model_hash = am.model_hash
		WHERE am.tenant_id = $1 AND am.asset_h = $2`
	assetModelsOrder = ` ORDER BY am.detection_source <> 'extracted', am.detection_source, am.sequence`
)

// AssetParent is one file an asset was made from. Asset is empty while no asset
// of the tenant is known to be that file.
type AssetParent struct {
	library.Parent
	Asset library.AssetHash
}

// Get returns one asset that is not in the trash and that the actor sees, or a
// not-found error. Parents that the actor does not see are as those that no asset is.
// It takes one round trip.
func (as *Assets) Get(ctx context.Context, actor library.Actor, hash library.AssetHash) (AssetDetail, error) {
	var d AssetDetail
	conn, release, err := as.s.acquire(ctx) // before the claim, which a new connection may renew
	if err != nil {
		return d, err
	}
	defer release()
	b := &pgx.Batch{}
	b.Queue(setTenant, as.s.claims.of(actor.Tenant))
	d.queueAsset(b, actor, hash)
	d.queueLineage(b, actor, hash)
	d.queueOthers(b, actor, hash)
	err = conn.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return d, library.NotFound("asset")
	}
	return d, unavailable(err)
}

// queueAsset adds the query for the row of an asset that an actor sees.
func (d *AssetDetail) queueAsset(b *pgx.Batch, actor library.Actor, hash library.AssetHash) {
	b.Queue(`SELECT `+assetColumns+`, coalesce((`+visibleParent("assets", "$3")+`), '') FROM assets
		WHERE tenant_id = $1 AND asset_h = $2 AND trashed_at IS NULL AND `+visibleTo("assets", "$3"), actor.Tenant, hash, viewer(actor)).
		Query(func(rows pgx.Rows) (err error) {
			d.Asset, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (a library.Asset, err error) {
				var parent library.AssetHash
				err = row.Scan(append(assetFields(&a), &parent)...)
				a.Parent = parent
				return a, err
			})
			return err
		})
}

// queueLineage adds the queries for what the file and its uploader say of its making.
func (d *AssetDetail) queueLineage(b *pgx.Batch, actor library.Actor, hash library.AssetHash) {
	b.Queue(`SELECT source, doc, report FROM lineage WHERE tenant_id = $1 AND asset_h = $2`, actor.Tenant, hash).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := rows.Scan(&d.Source, &d.Lineage, &d.Report); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	b.Queue(`SELECT assertion FROM lineage_assertions WHERE tenant_id = $1 AND asset_h = $2
		ORDER BY assertion_id DESC LIMIT 1`, actor.Tenant, hash).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := rows.Scan(&d.Assertion); err != nil {
					return err
				}
			}
			return rows.Err()
		})
}

// queueOthers adds the queries for the models, parents and collections of an asset, and for its preview.
func (d *AssetDetail) queueOthers(b *pgx.Batch, actor library.Actor, hash library.AssetHash) {
	b.Queue(assetModelsSQL+assetModelsOrder, actor.Tenant, hash).
		Query(func(rows pgx.Rows) (err error) {
			d.Models, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AssetModel])
			return err
		})
	b.Queue(`SELECT kind, name, hash, job_id, node_id, coalesce((`+visibleParent("p", "$3")+`), '') FROM asset_parents p
		WHERE tenant_id = $1 AND asset_h = $2 ORDER BY position`, actor.Tenant, hash, viewer(actor)).
		Query(func(rows pgx.Rows) (err error) {
			d.Parents, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p AssetParent, err error) {
				err = row.Scan(&p.Kind, &p.Name, &p.Hash, &p.JobID, &p.NodeID, &p.Asset)
				return p, err
			})
			return err
		})
	b.Queue(`SELECT coalesce(f.code, ''), coalesce(f.reason, ''), p.placeholder, CASE WHEN NOT p.facts ? 'model' THEN p.facts END, CASE WHEN p.facts #>> '{model,version}' <> '' THEN p.facts -> 'model' END
		FROM (SELECT $1::uuid AS tenant_id, $2::text AS asset_h) a LEFT JOIN preview_failures f USING (tenant_id, asset_h) LEFT JOIN asset_previews p USING (tenant_id, asset_h)`, actor.Tenant, hash).
		QueryRow(func(row pgx.Row) error {
			return row.Scan(&d.NoPreview.Code, &d.NoPreview.Reason, &d.Placeholder, &d.Video, &d.Model)
		})
	b.Queue(pathsOfAsset, actor.Tenant, hash).
		Query(func(rows pgx.Rows) (err error) {
			d.Collections, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
	b.Queue(promptsOfAsset, actor.Tenant, hash).
		Query(func(rows pgx.Rows) (err error) {
			d.Prompts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AssetPrompt])
			return err
		})
}

// List returns those of these assets that the tenant holds outside the trash and the
// actor sees.
func (as *Assets) List(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]library.Asset, error) {
	list := make(map[library.AssetHash]library.Asset, len(hashes))
	err := as.s.readTenant(ctx, actor.Tenant, `SELECT `+assetColumns+` FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL AND `+visibleTo("assets", "$3"),
		[]any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, scanAsset)
			for _, a := range found {
				list[a.Hash] = a
			}
			return err
		})
	return list, err
}

// Existing reports which of these assets the tenant holds outside the trash, as far as
// the actor sees them.
func (as *Assets) Existing(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	var known map[library.AssetHash]bool
	err := as.s.readTenant(ctx, actor.Tenant, existingAssets, []any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) (err error) {
		known, err = hashSet(rows)
		return err
	})
	return known, err
}

// Versions returns how many assets a tenant has outside the trash, and the sum of their document versions.
func (as *Assets) Versions(ctx context.Context, tenant library.TenantID) (assets, sum int64, err error) {
	err = as.s.readTenant(ctx, tenant, `SELECT count(*), coalesce(sum(doc_version), 0)::bigint FROM assets WHERE tenant_id = $1 AND trashed_at IS NULL`, []any{tenant}, func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&assets, &sum); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return assets, sum, err
}

// existingAssets selects those of the assets $2 that are outside the trash and that
// caller $3 sees.
var existingAssets = `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL AND ` + visibleTo("assets", "$3")

// hashSet collects the hashes of rows.
func hashSet(rows pgx.Rows) (map[library.AssetHash]bool, error) {
	set := map[library.AssetHash]bool{}
	var h library.AssetHash
	_, err := pgx.ForEachRow(rows, []any{&h}, func() error {
		set[h] = true
		return nil
	})
	return set, err
}

// Usage is what a tenant stores.
type Usage struct {
	Assets     int64
	Bytes      int64
	ByType     []TypeUsage
	TrashBytes int64
	OutboxRows int64 // changes not yet handed to the indexer
}

// TypeUsage is the share of one MIME type.
type TypeUsage struct {
	MIMEType string
	Assets   int64
	Bytes    int64
}

// Usage sums up the storage of a tenant's assets that the actor sees.
func (as *Assets) Usage(ctx context.Context, actor library.Actor) (Usage, error) {
	u := Usage{ByType: []TypeUsage{}}
	err := as.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT mime_type, count(*) FILTER (WHERE trashed_at IS NULL),
				coalesce(sum(size) FILTER (WHERE trashed_at IS NULL), 0)::bigint,
				coalesce(sum(size) FILTER (WHERE trashed_at IS NOT NULL), 0)::bigint
			FROM assets WHERE tenant_id = $1 AND `+visibleTo("assets", "$2")+` GROUP BY mime_type ORDER BY 3 DESC, 1`, actor.Tenant, viewer(actor))
		if err != nil {
			return err
		}
		var t TypeUsage
		var trash int64
		if _, err = pgx.ForEachRow(rows, []any{&t.MIMEType, &t.Assets, &t.Bytes, &trash}, func() error {
			u.Assets += t.Assets
			u.Bytes += t.Bytes
			u.TrashBytes += trash
			if t.Assets > 0 {
				u.ByType = append(u.ByType, t)
			}
			return nil
		}); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT count(*) FROM outbox WHERE tenant_id = $1 AND topic = 'documents'`, actor.Tenant).Scan(&u.OutboxRows)
	})
	return u, err
}

// Workflow returns the graphs an asset carries, as the file has them; both are nil
// when it has none. They are texts: a file's graph may be not quite JSON. An asset
// that is not there, in the trash, or not the actor's to see, is a not-found error.
func (as *Assets) Workflow(ctx context.Context, actor library.Actor, hash library.AssetHash) (editor, executed []byte, err error) {
	var packed []byte
	found := false
	err = as.s.readTenant(ctx, actor.Tenant, `SELECT l.workflow FROM lineage l JOIN assets a USING (tenant_id, asset_h)
		WHERE l.tenant_id = $1 AND l.asset_h = $2 AND a.trashed_at IS NULL AND `+visibleTo("a", "$3"),
		[]any{actor.Tenant, hash, viewer(actor)}, func(rows pgx.Rows) error {
			for rows.Next() {
				found = true
				if err := rows.Scan(&packed); err != nil {
					return err
				}
			}
			return nil
		})
	if err == nil && !found {
		err = library.NotFound("asset")
	}
	if err != nil || packed == nil {
		return nil, nil, err
	}
	var g workflowTexts
	if err := unpack(packed, &g); err != nil {
		return nil, nil, err
	}
	return []byte(g.Editor), []byte(g.Executed), nil
}

// RawChunks unpacks into v the metadata chunks kept of an asset's file; v stays
// untouched when there are none, or the actor does not see the asset.
func (as *Assets) RawChunks(ctx context.Context, actor library.Actor, hash library.AssetHash, v any) error {
	return as.s.readTenant(ctx, actor.Tenant, `SELECT r.chunks FROM lineage_raw r JOIN assets a USING (tenant_id, asset_h)
		WHERE r.tenant_id = $1 AND r.asset_h = $2 AND `+visibleTo("a", "$3"),
		[]any{actor.Tenant, hash, viewer(actor)}, func(rows pgx.Rows) error {
			if !rows.Next() {
				return nil
			}
			var packed []byte
			if err := rows.Scan(&packed); err != nil {
				return err
			}
			return unpack(packed, v)
		})
}
