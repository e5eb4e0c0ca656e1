package store

import (
	"encoding/json"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Lineage follows assets to what they were made from and to what was made of them.
type Lineage struct{ s *Store }

func batchLineage(b *pgx.Batch, tenant library.TenantID, n NewAsset, p encodedAsset) {
	b.Queue(`INSERT INTO lineage (tenant_id, asset_h, source, parser_version, tool, doc, workflow, report)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET source = excluded.source, parser_version = excluded.parser_version,
			tool = excluded.tool, doc = excluded.doc, workflow = excluded.workflow, report = excluded.report, extracted_at = now()`,
		tenant, n.Asset.Hash, p.source, n.ParserVersion, n.Lineage.Tool, p.doc, p.workflow, p.report)
	if p.chunks != nil {
		b.Queue(`INSERT INTO lineage_raw (tenant_id, asset_h, chunks) VALUES ($1, $2, $3)
			ON CONFLICT (tenant_id, asset_h) DO UPDATE SET chunks = excluded.chunks`, tenant, n.Asset.Hash, p.chunks)
	}
}

// batchModels fills the model library from what a file says was loaded, and
// records the use of each. A model is one type and name; the hashes that files
// give for it are collected. An embedding is called by its name, which is thereby
// its trigger word; of other types the files do not tell.
func (t *Tx) batchModels(b *pgx.Batch, hash library.AssetHash, models []library.ModelUse) {
	if len(models) == 0 {
		return
	}
	var (
		hashes       []library.ModelHash
		types, names []string
		display      []string
		base, sums   []string
		nodes        []string
		sequence     []int32
		weight, clip []*float64
	)
	for i, m := range models {
		name := strings.ReplaceAll(m.Name, "\x00", "")
		hashes = append(hashes, library.NewModelHash(m.Type, name))
		types = append(types, m.Type)
		names = append(names, name)
		display = append(display, displayName(name))
		base = append(base, m.BaseModel)
		sums = append(sums, m.Hash)
		nodes = append(nodes, m.NodeID)
		sequence = append(sequence, int32(i))
		weight = append(weight, m.Strength)
		clip = append(clip, m.ClipStrength)
	}
	// A model that is known and of which this file tells nothing new is left alone:
	// a row that is written stays locked until the commit, and most imports use the
	// same few models. Ordered by hash, so that two imports never lock the same
	// models crosswise.
	//
	// What is learned of a model stands in the documents of all assets that use it.
	// They are not changed by it, so they keep their versions, and none is locked.
	// There may be very many, hence the lateral joins: they make the planner start
	// at the learned models, of which most files bring none.
	b.Queue(`WITH learned AS (INSERT INTO models (tenant_id, model_hash, type, name, display_name, base_model, content_hashes, trigger_words)
		SELECT DISTINCT ON (h) $1::uuid, h, t, n, d, b, CASE WHEN s = '' THEN '{}'::text[] ELSE ARRAY[s] END,
			CASE WHEN t = 'embedding' THEN ARRAY[d] ELSE '{}'::text[] END
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS u(h, t, n, d, b, s)
		WHERE NOT EXISTS (SELECT FROM models WHERE models.tenant_id = $1::uuid AND models.model_hash = h
			AND (models.base_model <> '' OR b = '') AND (s = '' OR s = ANY(models.content_hashes)))
		ORDER BY h
		ON CONFLICT (tenant_id, model_hash) DO UPDATE SET
			base_model = CASE WHEN models.base_model = '' THEN excluded.base_model ELSE models.base_model END,
			content_hashes = models.content_hashes || excluded.content_hashes
		WHERE (models.base_model = '' AND excluded.base_model <> '') OR NOT excluded.content_hashes <@ models.content_hashes
		RETURNING model_hash, xmax = 0 AS detected
	), told AS (
		INSERT INTO outbox (tenant_id, topic, key, type, payload)
		SELECT $1::uuid, 'events', 'model/' || $8 || '/' || model_hash, $9, $10::jsonb || jsonb_build_object('model_hash', model_hash) FROM learned WHERE detected)
		INSERT INTO outbox (tenant_id, key, doc_version, reason)
		SELECT DISTINCT $1::uuid, a.asset_h, a.doc_version, 'model_updated' FROM learned
			CROSS JOIN LATERAL (SELECT u.asset_h FROM asset_models u WHERE u.tenant_id = $1::uuid AND u.model_hash = learned.model_hash OFFSET 0) used
			CROSS JOIN LATERAL (SELECT x.asset_h, x.doc_version FROM assets x
				WHERE x.tenant_id = $1::uuid AND x.asset_h = used.asset_h AND x.trashed_at IS NULL OFFSET 0) a
		WHERE a.asset_h <> $8`,
		t.tenant(), hashes, types, names, display, base, sums, hash, EventModelDetected, t.modelEvent(hash))
	b.Queue(`INSERT INTO asset_models (tenant_id, asset_h, sequence, model_hash, node_id, name, weight, clip_weight, content_hash, detection_source)
		SELECT $1::uuid, $2, q, h, nd, n, w, c, s, 'extracted'
		FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::text[]) AS u(q, h, nd, n, w, c, s)`,
		t.tenant(), hash, sequence, hashes, nodes, names, weight, clip, sums)
}

// modelEvent returns the payload of the event of a model that an asset names, without the
// model. The event's key begins with the asset: who does not see that does not see the event.
func (t *Tx) modelEvent(hash library.AssetHash) string {
	raw, _ := json.Marshal(library.ModelEvent{AssetH: hash, Cause: t.cause()}) // strings encode
	return string(raw)
}

// displayName is a model's file name without its folders and weight-file ending.
func displayName(name string) string {
	fold := library.FoldModelName(name)
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	if len(fold) <= len(base) {
		return strings.TrimSpace(base)[:len(fold)]
	}
	return base
}

func batchAssertion(b *pgx.Batch, actor library.Actor, hash library.AssetHash, assertion []byte) {
	if assertion == nil {
		return
	}
	b.Queue(`INSERT INTO lineage_assertions (tenant_id, asset_h, assertion_id, assertion, actor_id) VALUES ($1, $2, $3, $4, $5)`,
		actor.Tenant, hash, newID(), assertion, actor.ID)
}

// clean takes out what a text column cannot hold.
func clean(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD") }
