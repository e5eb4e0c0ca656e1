package store

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Lineage follows assets to what they were made from and to what was made of them.
type Lineage struct{ s *Store }

// lineageRow is an asset whose lineage is written, and its columns.
type lineageRow struct {
	asset   NewAsset
	encoded encodedAsset
}

// lineageSize bounds the bytes of lineage that one statement takes: the server holds its
// parameters in memory, and refuses more than a gigabyte.
const lineageSize = 8 << 20

// batchLineage writes the lineage of some assets, in a few statements however many they are.
func batchLineage(b *pgx.Batch, tenant library.TenantID, rows ...lineageRow) {
	for len(rows) > 0 {
		n, size := 0, 0
		for n < len(rows) && (n == 0 || size < lineageSize) {
			p := rows[n].encoded
			size += len(p.doc) + len(p.workflow) + len(p.report) + len(p.chunks)
			n++
		}
		queueLineage(b, tenant, rows[:n])
		rows = rows[n:]
	}
}

func queueLineage(b *pgx.Batch, tenant library.TenantID, rows []lineageRow) {
	b.Queue(`INSERT INTO lineage (tenant_id, asset_h, source, parser_version, tool, doc, workflow, report)
		SELECT $1::uuid, h, s, v, t, d::json, w, r::jsonb FROM unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::bytea[], $8::text[]) AS u(h, s, v, t, d, w, r)
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET source = excluded.source, parser_version = excluded.parser_version,
			tool = excluded.tool, doc = excluded.doc, workflow = excluded.workflow, report = excluded.report, extracted_at = now()`,
		tenant, column(rows, func(r lineageRow) library.AssetHash { return r.asset.Asset.Hash }),
		column(rows, func(r lineageRow) string { return string(r.encoded.source) }),
		column(rows, func(r lineageRow) int32 { return int32(r.asset.ParserVersion) }), //nolint:gosec // counts releases
		column(rows, func(r lineageRow) string { return r.asset.Lineage.Tool }),
		column(rows, func(r lineageRow) []byte { return r.encoded.doc }),
		column(rows, func(r lineageRow) []byte { return r.encoded.workflow }),
		column(rows, func(r lineageRow) []byte { return r.encoded.report }))
	rows = slices.DeleteFunc(slices.Clone(rows), func(r lineageRow) bool { return r.encoded.chunks == nil })
	if len(rows) == 0 {
		return
	}
	b.Queue(`INSERT INTO lineage_raw (tenant_id, asset_h, chunks) SELECT $1::uuid, h, c FROM unnest($2::text[], $3::bytea[]) AS u(h, c)
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET chunks = excluded.chunks`,
		tenant, column(rows, func(r lineageRow) library.AssetHash { return r.asset.Asset.Hash }),
		column(rows, func(r lineageRow) []byte { return r.encoded.chunks }))
}

// column returns one value of each row, as a parameter of unnest.
func column[Row, Value any](rows []Row, value func(Row) Value) []Value {
	out := make([]Value, len(rows))
	for i, r := range rows {
		out[i] = value(r)
	}
	return out
}

// modelRows are the models that some files say were loaded, one row per use.
type modelRows struct {
	assets        []library.AssetHash
	hashes        []library.ModelHash
	types, names  []string
	display       []string
	base, sums    []string
	nodes         []string
	sequence      []int32
	weights, clip []*float64
}

// add adds what the file of an asset says.
func (m *modelRows) add(asset library.AssetHash, models []library.ModelUse) {
	for i, u := range models {
		name := strings.ReplaceAll(u.Name, "\x00", "")
		m.assets = append(m.assets, asset)
		m.hashes = append(m.hashes, library.NewModelHash(u.Type, name))
		m.types = append(m.types, u.Type)
		m.names = append(m.names, name)
		m.display = append(m.display, displayName(name))
		m.base = append(m.base, u.BaseModel)
		m.sums = append(m.sums, u.Hash)
		m.nodes = append(m.nodes, u.NodeID)
		m.sequence = append(m.sequence, int32(i))
		m.weights = append(m.weights, u.Strength)
		m.clip = append(m.clip, u.ClipStrength)
	}
}

// batchModels fills the model library from what files say was loaded, and records the use of
// each, in two statements for any number of files. A model is one type and name; the hashes
// that files give for it are collected. An embedding is called by its name, which is thereby
// its trigger word; of other types the files do not tell. Of several files that bring a new
// model the first is named in its event.
func (t *Tx) batchModels(b *pgx.Batch, m modelRows) {
	if len(m.hashes) == 0 {
		return
	}
	// A model that is known and of which these files tell nothing new is left alone:
	// a row that is written stays locked until the commit, and most imports use the
	// same few models. Ordered by hash, so that two imports never lock the same
	// models crosswise.
	//
	// What is learned of a model stands in the documents of all assets that use it.
	// They are not changed by it, so they keep their versions, and none is locked.
	// There may be very many, hence the lateral joins: they make the planner start
	// at the learned models, of which most files bring none.
	b.Queue(`WITH said AS (
		SELECT h, (array_agg(a ORDER BY i))[1] AS a, (array_agg(t ORDER BY i))[1] AS t, (array_agg(n ORDER BY i))[1] AS n, (array_agg(d ORDER BY i))[1] AS d,
			coalesce((array_agg(b ORDER BY i) FILTER (WHERE b <> ''))[1], '') AS b, coalesce(array_agg(DISTINCT s) FILTER (WHERE s <> ''), '{}') AS s
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) WITH ORDINALITY AS u(h, t, n, d, b, s, a, i) GROUP BY h
	), learned AS (INSERT INTO models (tenant_id, model_hash, type, name, display_name, base_model, content_hashes, trigger_words)
		SELECT $1::uuid, h, t, n, d, b, s, CASE WHEN t = 'embedding' THEN ARRAY[d] ELSE '{}'::text[] END
		FROM said
		WHERE NOT EXISTS (SELECT FROM models WHERE models.tenant_id = $1::uuid AND models.model_hash = h
			AND (models.base_model <> '' OR b = '') AND s <@ models.content_hashes)
		ORDER BY h
		ON CONFLICT (tenant_id, model_hash) DO UPDATE SET
			base_model = CASE WHEN models.base_model = '' THEN excluded.base_model ELSE models.base_model END,
			content_hashes = models.content_hashes || ARRAY(SELECT x FROM unnest(excluded.content_hashes) AS x WHERE x <> ALL(models.content_hashes) ORDER BY x)
		WHERE (models.base_model = '' AND excluded.base_model <> '') OR NOT excluded.content_hashes <@ models.content_hashes
		RETURNING model_hash, xmax = 0 AS detected
	), told AS (
		INSERT INTO outbox (tenant_id, topic, key, type, payload)
		SELECT $1::uuid, 'events', 'model/' || said.a || '/' || model_hash, $9, $10::jsonb || jsonb_build_object('asset_h', said.a, 'model_hash', model_hash)
		FROM learned JOIN said ON said.h = model_hash WHERE detected)
		INSERT INTO outbox (tenant_id, key, doc_version, reason)
		SELECT DISTINCT $1::uuid, a.asset_h, a.doc_version, 'model_updated' FROM learned
			CROSS JOIN LATERAL (SELECT u.asset_h FROM asset_models u WHERE u.tenant_id = $1::uuid AND u.model_hash = learned.model_hash OFFSET 0) used
			CROSS JOIN LATERAL (SELECT x.asset_h, x.doc_version FROM assets x
				WHERE x.tenant_id = $1::uuid AND x.asset_h = used.asset_h AND x.trashed_at IS NULL OFFSET 0) a
		WHERE a.asset_h <> ALL($8)`,
		t.tenant(), m.hashes, m.types, m.names, m.display, m.base, m.sums, m.assets, EventModelDetected, t.modelEvent())
	b.Queue(`INSERT INTO asset_models (tenant_id, asset_h, sequence, model_hash, node_id, name, weight, clip_weight, content_hash, detection_source)
		SELECT $1::uuid, a, q, h, nd, n, w, c, s, 'extracted'
		FROM unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::text[]) AS u(a, q, h, nd, n, w, c, s)`,
		t.tenant(), m.assets, m.sequence, m.hashes, m.nodes, m.names, m.weights, m.clip, m.sums)
}

// modelEvent returns the payload of the event of a model that an asset names, without the
// two. The event's key begins with the asset: who does not see that does not see the event.
func (t *Tx) modelEvent() string {
	raw, _ := json.Marshal(library.ModelEvent{Cause: t.cause()}) // strings encode
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
