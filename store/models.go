package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Models reads and annotates models and their links to assets.
type Models struct{ s *Store }

// NewModels returns the models of a store.
func NewModels(s *Store) *Models { return &Models{s} }

// modelColumns lists what scanModel reads, of models m joined with used u.
const modelColumns = `m.model_hash, m.type, m.name, m.display_name, m.description, m.base_model, m.content_hashes, m.trigger_words, m.created_at,
	coalesce(u.uses, 0), u.last_used,
	(SELECT count(*) FROM model_versions v WHERE v.tenant_id = m.tenant_id AND v.model_hash = m.model_hash AND v.deleted_at IS NULL)`

// modelUses counts for each model the assets outside the trash that use it and the
// caller sees.
func modelUses(caller string) string {
	return `SELECT am.model_hash, count(DISTINCT am.asset_h) AS uses, max(a.created_at) AS last_used
	FROM asset_models am JOIN assets a ON a.tenant_id = am.tenant_id AND a.asset_h = am.asset_h
	WHERE am.tenant_id = $1 AND a.trashed_at IS NULL AND ` + visibleTo("a", caller)
}

// visibleModel returns the condition under which a caller sees a model m: some asset
// that the caller sees uses it, or none does at all. Its name may come from a private
// file.
func visibleModel(caller string) string {
	uses := `SELECT FROM asset_models vu JOIN assets va ON va.tenant_id = vu.tenant_id AND va.asset_h = vu.asset_h
		WHERE vu.tenant_id = m.tenant_id AND vu.model_hash = m.model_hash`
	return `(` + caller + ` = '*' OR EXISTS (` + uses + ` AND ` + visibleTo("va", caller) + `) OR NOT EXISTS (` + uses + `))`
}

func modelFields(m *library.Model) []any {
	return []any{&m.Hash, &m.Type, &m.Name, &m.DisplayName, &m.Description, &m.BaseModel, &m.ContentHashes, &m.TriggerWords, &m.CreatedAt,
		&m.AssetCount, &m.LastUsed, &m.Versions}
}

// ModelFilter narrows a search of the model library. Empty fields do not.
type ModelFilter struct {
	Query     string // words that a model's name, display name or description must all contain, whatever the case and the separators
	Type      string
	BaseModel string
	Limit     int
	Offset    int
}

// normalizedName is how names are compared: "Detail-Tweaker XL" is detail_tweaker_xl, and
// SDXL\dream is sdxl/dream.
const normalizedName = `translate(lower(%), '\_- ', '/')`

func normalizedNameSQL(expr string) string { return strings.ReplaceAll(normalizedName, "%", expr) }

// matchingModelsSQL are the models m that a ModelFilter ($2 to $4) leaves and a caller
// ($5) sees.
var matchingModelsSQL = `FROM models m WHERE m.tenant_id = $1 AND ($2 = '' OR ` + normalizedNameSQL(`m.type`) + ` = ` + normalizedNameSQL(`$2`) + `) AND ($3 = '' OR ` + normalizedNameSQL(`m.base_model`) + ` = ` + normalizedNameSQL(`$3`) + `)
	AND NOT EXISTS (SELECT FROM unnest($4::text[]) AS word
		WHERE strpos(` + normalizedNameSQL(`m.name || E'\n' || m.display_name || E'\n' || m.description`) + `, ` + normalizedNameSQL(`word`) + `) = 0)
	AND ` + visibleModel("$5")

// Search returns the models that a filter leaves, the most used first, and
// how many there are in all. Every model of the tenant is looked at: there are
// thousands at most, and row level security would keep a text index from serving.
func (ms *Models) Search(ctx context.Context, actor library.Actor, f ModelFilter) ([]library.Model, int, error) {
	var list []library.Model
	var total int
	args := []any{actor.Tenant, f.Type, f.BaseModel, strings.Fields(f.Query), viewer(actor)}
	err := ms.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT count(*) `+matchingModelsSQL, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `WITH found AS MATERIALIZED (SELECT m.* `+matchingModelsSQL+`),
				used AS (`+modelUses("$5")+` AND am.model_hash IN (SELECT model_hash FROM found) GROUP BY am.model_hash)
			SELECT `+modelColumns+` FROM found m LEFT JOIN used u USING (model_hash)
			ORDER BY coalesce(u.uses, 0) DESC, lower(m.display_name), m.model_hash LIMIT $6 OFFSET $7`, append(args, f.Limit, f.Offset)...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m library.Model, err error) {
			err = row.Scan(modelFields(&m)...)
			return m, err
		})
		return err
	})
	return list, total, err
}

// ModelDetail is one model with its versions and the newest assets that used it.
type ModelDetail struct {
	library.Model
	VersionList []library.ModelVersion
	ImageCount  int                 // assets among its uses of which there can be a picture
	Previews    []library.AssetHash // of them, approved ones first, then the newest
}

// Get returns one model that the actor sees, or a not-found error, with at most
// previews pictures.
func (ms *Models) Get(ctx context.Context, actor library.Actor, hash library.ModelHash, previews int) (ModelDetail, error) {
	var d ModelDetail
	tenant := actor.Tenant
	err := ms.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `WITH used AS (`+modelUses("$3")+` AND am.model_hash = $2 GROUP BY am.model_hash)
			SELECT `+modelColumns+` FROM models m LEFT JOIN used u USING (model_hash) WHERE m.tenant_id = $1 AND m.model_hash = $2 AND `+visibleModel("$3"),
			tenant, hash, viewer(actor)).Scan(modelFields(&d.Model)...)
		if errors.Is(err, pgx.ErrNoRows) {
			return library.NotFound("model")
		}
		if err != nil {
			return err
		}
		if d.VersionList, err = modelVersions(ctx, tx, tenant, hash, false); err != nil {
			return err
		}
		return d.readPreviews(ctx, tx, actor, previews)
	})
	return d, err
}

func (d *ModelDetail) readPreviews(ctx context.Context, tx pgx.Tx, actor library.Actor, limit int) error {
	rows, err := tx.Query(ctx, `SELECT a.asset_h, count(*) OVER () FROM assets a
		WHERE a.tenant_id = $1 AND a.trashed_at IS NULL AND a.mime_type LIKE 'image/%' AND `+visibleTo("a", "$4")+`
			AND a.asset_h IN (SELECT asset_h FROM asset_models WHERE tenant_id = $1 AND model_hash = $2)
		ORDER BY a.status = 'Approved' DESC, a.created_at DESC, a.asset_h LIMIT $3`, actor.Tenant, d.Hash, limit, viewer(actor))
	if err != nil {
		return err
	}
	d.Previews = []library.AssetHash{}
	var h library.AssetHash
	_, err = pgx.ForEachRow(rows, []any{&h, &d.ImageCount}, func() error {
		d.Previews = append(d.Previews, h)
		return nil
	})
	return err
}

// OfAsset returns the models of an asset, those of its file first. An asset
// that the tenant does not hold, that is in the trash or not the actor's to see, has
// none.
func (ms *Models) OfAsset(ctx context.Context, actor library.Actor, hash library.AssetHash) ([]AssetModel, error) {
	list := []AssetModel{}
	err := ms.s.readTenant(ctx, actor.Tenant, assetModelsSQL+` AND EXISTS (
			SELECT FROM assets a WHERE tenant_id = $1 AND asset_h = $2 AND trashed_at IS NULL AND `+visibleTo("a", "$3")+`)`+assetModelsOrder,
		[]any{actor.Tenant, hash, viewer(actor)}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[AssetModel])
			return err
		})
	return list, err
}
