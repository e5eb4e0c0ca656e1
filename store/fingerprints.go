package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Fingerprints keeps by what assets that are alike are found: the perceptual hash of their
// picture, their prompt and their workflow.
type Fingerprints struct{ s *Store }

// Renew keeps the perceptual hash of an asset; nil: its file has none; and unless it is empty its dominant
// color, as #rrggbb. It reports which of the two changed; a new color goes to the index.
func (f *Fingerprints) Renew(ctx context.Context, actor library.Actor, hash library.AssetHash, phash *uint64, color string) (newHash, newColor bool, err error) {
	_, err = f.s.Write(ctx, actor, func(t *Tx) error {
		var bits *int64
		if phash != nil {
			n := int64(*phash) //nolint:gosec // the same 64 bits
			bits = &n
		}
		err := t.QueryRow(ctx, `SELECT p.phash IS DISTINCT FROM $3, $4 <> '' AND p.color IS DISTINCT FROM $4 FROM assets a LEFT JOIN asset_fingerprints p USING (tenant_id, asset_h)
			WHERE a.tenant_id = $1 AND a.asset_h = $2 FOR UPDATE OF a`, t.tenant(), hash, bits, color).Scan(&newHash, &newColor)
		if errors.Is(err, pgx.ErrNoRows) { // it is gone
			return nil
		}
		if err != nil || !newHash && !newColor {
			return err
		}
		if newColor {
			if err := t.reindexAssets(ctx, "enriched", []string{string(hash)}); err != nil {
				return err
			}
		}
		_, err = t.Exec(ctx, `INSERT INTO asset_fingerprints AS p (tenant_id, asset_h, phash, color) VALUES ($1, $2, $3, nullif($4, ''))
			ON CONFLICT (tenant_id, asset_h) DO UPDATE SET phash = excluded.phash, color = coalesce(excluded.color, p.color), made_at = now()`, t.tenant(), hash, bits, color)
		return err
	})
	return newHash, newColor, err
}

// Missing lists assets of all tenants of whose pictures something was not made yet: the
// perceptual hash, the placeholder, or the facts of a video or a 3D model; at most limit of them that follow after. Kinds are
// patterns of MIME types, and except those that are passed over.
func (f *Fingerprints) Missing(ctx context.Context, kinds, except []string, after library.AssetKey, limit int) ([]library.AssetKey, error) {
	return collectIndexer(ctx, f.s, `SELECT a.tenant_id::text, a.asset_h FROM assets a
		WHERE a.mime_type LIKE ANY($1) AND a.mime_type <> ALL($5) AND a.trashed_at IS NULL AND ($2 = '' OR (a.tenant_id, a.asset_h) > (nullif($2, '')::uuid, $3::text COLLATE "C"))
			AND NOT (EXISTS (SELECT FROM asset_fingerprints p WHERE p.tenant_id = a.tenant_id AND p.asset_h = a.asset_h)
				AND EXISTS (SELECT FROM asset_previews v WHERE v.tenant_id = a.tenant_id AND v.asset_h = a.asset_h AND (a.mime_type NOT LIKE 'video/%' AND a.mime_type <> 'model/gltf-binary' OR v.facts IS NOT NULL)))
			AND NOT EXISTS (SELECT FROM preview_failures x WHERE x.tenant_id = a.tenant_id AND x.asset_h = a.asset_h)
		ORDER BY a.tenant_id, a.asset_h LIMIT $4`, func(row pgx.CollectableRow) (k library.AssetKey, err error) {
		err = row.Scan(&k.Tenant, &k.Hash)
		return k, err
	}, kinds, after.Tenant, after.Hash, limit, except)
}

// Fingerprint is the perceptual hash of an asset.
type Fingerprint struct {
	Hash  library.AssetHash
	PHash uint64
}

// List returns the perceptual hashes of a tenant's assets that the actor sees, in order of
// the assets' hashes; of those among some assets, where among is not nil.
func (f *Fingerprints) List(ctx context.Context, actor library.Actor, among []library.AssetHash) (list []Fingerprint, err error) {
	err = f.s.readTenant(ctx, actor.Tenant, `SELECT p.asset_h, p.phash FROM asset_fingerprints p JOIN assets a USING (tenant_id, asset_h)
		WHERE p.tenant_id = $1 AND p.phash IS NOT NULL AND a.trashed_at IS NULL AND ($3::text[] IS NULL OR p.asset_h = ANY($3)) AND `+visibleTo("a", "$2")+` ORDER BY p.asset_h`,
		[]any{actor.Tenant, viewer(actor), among}, func(rows pgx.Rows) error {
			var x Fingerprint
			var bits int64
			_, err := pgx.ForEachRow(rows, []any{&x.Hash, &bits}, func() error {
				x.PHash = uint64(bits) //nolint:gosec // the same 64 bits
				list = append(list, x)
				return nil
			})
			return err
		})
	return list, err
}

// Sharing is what assets have in common.
type Sharing string

// What assets can have in common.
const (
	SamePrompt   Sharing = "prompt"   // the words of the prompt, whatever their case and blanks
	SameWorkflow Sharing = "workflow" // the nodes of the workflow and how they are linked
)

// sharedKey is what assets are compared by.
var sharedKey = map[Sharing]string{
	SamePrompt:   `md5(nullif(lower(btrim(regexp_replace(l.doc ->> 'positive', '\s+', ' ', 'g'))), ''))`,
	SameWorkflow: `nullif(l.workflow_hash, '')`,
}

// Sharing returns the groups of assets that have something in common, the largest first;
// among some assets, where among is not nil, and those with one asset, where it is not
// empty.
func (f *Fingerprints) Sharing(ctx context.Context, actor library.Actor, what Sharing, with library.AssetHash, among []library.AssetHash) (groups [][]library.AssetHash, err error) {
	key := sharedKey[what]
	err = f.s.readTenant(ctx, actor.Tenant, `SELECT array_agg(l.asset_h ORDER BY l.asset_h) FROM lineage l JOIN assets a USING (tenant_id, asset_h)
		WHERE l.tenant_id = $1 AND a.trashed_at IS NULL AND `+key+` IS NOT NULL AND ($3::text[] IS NULL OR l.asset_h = ANY($3)) AND `+visibleTo("a", "$2")+`
			AND ($4 = '' OR `+key+` = (SELECT `+key+` FROM lineage l WHERE l.tenant_id = $1 AND l.asset_h = $4))
		GROUP BY `+key+` HAVING count(*) > 1 ORDER BY count(*) DESC, min(l.asset_h)`,
		[]any{actor.Tenant, viewer(actor), among, with}, func(rows pgx.Rows) (err error) {
			groups, err = pgx.CollectRows(rows, pgx.RowTo[[]library.AssetHash])
			return err
		})
	return groups, err
}
