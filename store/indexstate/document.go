package indexstate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/media/gltf"
	"vitrine/store/internal/pg"
)

// Documents reads what the documents of the index are made of.
type Documents struct{ db }

// DocumentRow is everything the index wants to know about one asset, from one
// snapshot. Of an asset that is not live only the key, the state and the version
// are set.
type DocumentRow struct {
	library.AssetKey
	State           DocumentState
	Version         int64 // of the asset or of its tombstone; 0 when the database knows neither
	HasIndexFailure bool  // index_failures has a row about it

	library.Asset // what people and the file system say; its Tenant and Hash repeat the key

	// Document has those fields of the document that the database holds as the index does: they are read
	// straight into it. Package indexer fills in the others.
	Document mappings.Document

	LineageSource library.LineageSource
	Lineage       []byte // JSON of library.Lineage without graphs; nil when none was read
	Assertion     []byte // an uploader's latest claim about its making, as JSON; nil for none

	Models      []DocumentModel
	Collections []DocumentCollection
	Prompts     []DocumentPrompt
	Annotations []DocumentAnnotation
	Parents     []DocumentParent
	Children    int
	Original    library.OriginalState // of a file that is referenced in place; empty for others
	Root        library.AssetHash     // the first ancestor of its chain; itself when it has no parent
	Model       *gltf.Facts           // what the file of a 3D model says of it; nil: not known
	Color       string                // the dominant one of its picture, as #rrggbb; empty: not known
}

// DocumentModel is one use of a model by an asset.
type DocumentModel struct {
	*KnownModel
	Name        string // as this file names it
	ContentHash string // as this file gives it
	NodeID      string
	Weight      *float64
}

// DocumentCollection is a collection that an asset is in, or one above that.
type DocumentCollection struct {
	Hash, Path string
	Rank       string // of the asset in it; empty where it is only in one below
	Experiment bool   // the asset is a run of it
}

// DocumentPrompt is a version of a prompt that an asset's prompt is a render of.
type DocumentPrompt struct {
	Prompt  library.PromptHash
	Version library.PromptVersionHash
}

// DocumentAnnotation is the text of an annotation on an asset, its nodes or its runs.
type DocumentAnnotation struct {
	Content   string
	PrivateTo string // its author, where only the author sees it
}

// KnownModel is what the library knows about a model. The uses of one batch share it.
type KnownModel struct {
	Hash          library.ModelHash
	Type          string
	DisplayName   string
	BaseModel     string
	ContentHashes []string
	TriggerWords  []string
}

// DocumentParent is one file an asset was made from.
type DocumentParent struct {
	Kind, Name, Hash string
	JobID            string
	Asset            library.AssetHash // empty while the library does not hold that file
}

// documentBatch is a batch of documents while it is read.
type documentBatch struct {
	docs   []DocumentRow
	models knownModels
}

// documentPart is a statement and what each of its rows adds to the batch.
type documentPart struct {
	sql  string
	scan func(pgx.Rows, *documentBatch) error
}

// AddDocumentPart has what a domain's tables say of assets read into their documents: its store code calls
// it from init. The statement selects from AssetKeysSQL, the first column is k.ord; fields returns where the
// other columns of a row go, and add puts what was read into the row of its asset. Assets that are not live are
// left out.
func AddDocumentPart[T any](sql string, fields func(*T) []any, add func(*DocumentRow, T)) {
	documentParts = append(documentParts, documentPart{sql, scanLive(fields, add)})
}

// scanLive scans rows of one value each of a live asset; see AddDocumentPart.
func scanLive[T any](fields func(*T) []any, add func(*DocumentRow, T)) func(pgx.Rows, *documentBatch) error {
	return func(r pgx.Rows, b *documentBatch) error {
		var ord int
		var v T
		if err := r.Scan(append([]any{&ord}, fields(&v)...)...); err != nil {
			return err
		}
		if d := &b.docs[ord-1]; d.State == DocumentLive {
			add(d, v)
		}
		return nil
	}
}

// documentParts read one batch, and those that domains added after these. All see one snapshot, so a version always
// belongs to the state beside it, and to the index generations beside both. $1
// and $2 are the keys; ord is a key's place in them, from 1. They are read
// in this order: bytes that came back have both an asset and a tombstone, and the asset's
// counts; the uses of models point at models that are filled in afterwards.
var documentParts = []documentPart{
	{`SELECT k.ord, a.doc_version, a.trashed_at IS NOT NULL, a.sha256, a.blake3, a.title, a.description, a.filename,
		a.source_path, a.mime_type, a.size, a.width, a.height, a.duration_ms, a.status, a.tags, a.owner, a.visibility, a.rating, a.favorite, a.metadata,
		coalesce((` + liveAssetSQL("a.tenant_id", "a.parent_asset_h") + `), ''), a.created_at, a.stored_at, a.updated_at,
		coalesce(l.source, ''), coalesce(l.tool, ''), l.doc, coalesce(p.duplicate, false), coalesce(p.color, ''), CASE WHEN v.facts #>> '{model,version}' <> '' THEN v.facts -> 'model' END, CASE WHEN a.in_place THEN ` + pg.OriginalStateSQL + ` ELSE '' END
	FROM ` + AssetKeysSQL + ` JOIN assets a USING (tenant_id, asset_h) LEFT JOIN lineage l USING (tenant_id, asset_h)
		LEFT JOIN asset_fingerprints p USING (tenant_id, asset_h) LEFT JOIN asset_previews v USING (tenant_id, asset_h)`, scanDocumentAsset},

	{`SELECT k.ord, t.doc_version FROM ` + AssetKeysSQL + ` JOIN asset_tombstones t USING (tenant_id, asset_h)`, scanDocumentTombstone},

	{`SELECT k.ord, u.model_hash, u.name, u.content_hash, u.node_id, u.weight
	FROM ` + AssetKeysSQL + ` JOIN asset_models u USING (tenant_id, asset_h)
	ORDER BY k.ord, u.detection_source <> 'extracted', u.detection_source, u.sequence`, scanDocumentModel},

	// A batch uses few models and uses each often: what is known of a model is sent once.
	{`SELECT tenant_id::text, model_hash, type, display_name, base_model, content_hashes, trigger_words FROM models
	WHERE (tenant_id, model_hash) IN (
		SELECT k.tenant_id, u.model_hash FROM ` + AssetKeysSQL + ` JOIN asset_models u USING (tenant_id, asset_h))`, scanKnownModel},

	{`SELECT k.ord, p.kind, p.name, p.hash, p.job_id, coalesce((` + liveAssetSQL("p.tenant_id", "p.parent_asset_h") + `), '')
	FROM ` + AssetKeysSQL + ` JOIN asset_parents p USING (tenant_id, asset_h) ORDER BY k.ord, p.position`, scanLive(
		func(p *DocumentParent) []any { return []any{&p.Kind, &p.Name, &p.Hash, &p.JobID, &p.Asset} },
		func(d *DocumentRow, p DocumentParent) { d.Parents = append(d.Parents, p) })},

	// OFFSET 0: each key is looked up in the two indexes, which hold the few assets that have a
	// parent. Joined otherwise, all assets were read for every batch while an import filled the library.
	{`SELECT k.ord, count(DISTINCT c.asset_h)
	FROM ` + AssetKeysSQL + ` CROSS JOIN LATERAL (
		(SELECT p.asset_h FROM asset_parents p WHERE p.tenant_id = k.tenant_id AND p.parent_asset_h = k.asset_h OFFSET 0)
		UNION ALL (SELECT a.asset_h FROM assets a WHERE a.tenant_id = k.tenant_id AND a.parent_asset_h = k.asset_h OFFSET 0)) c
	WHERE EXISTS (` + liveAssetSQL("k.tenant_id", "c.asset_h") + `)
	GROUP BY k.ord`, scanLive(func(n *int) []any { return []any{n} }, func(d *DocumentRow, n int) { d.Children = n })},

	// The root is found by the first parent of each file, what files say before what
	// uploaders say. Files may claim to descend from each other: mark is the asset
	// that the walk met after since steps, renewed whenever their number has doubled,
	// and who meets it again has gone round. What was met since then is the whole
	// cycle, and the smallest of it is the root of all that come from there.
	{`WITH RECURSIVE up(ord, tenant_id, asset_h, depth, mark, since) AS (
		SELECT k.ord, k.tenant_id, k.asset_h COLLATE "C", 0, ''::text COLLATE "C", 0 FROM ` + AssetKeysSQL + `
		UNION ALL
		SELECT up.ord, up.tenant_id, p.parent, up.depth + 1,
			CASE WHEN up.depth >= 2 * up.since THEN up.asset_h ELSE up.mark END,
			CASE WHEN up.depth >= 2 * up.since THEN up.depth ELSE up.since END
		FROM up CROSS JOIN LATERAL (
			SELECT coalesce(
				(SELECT x.parent_asset_h FROM asset_parents x
				WHERE x.tenant_id = up.tenant_id AND x.asset_h = up.asset_h AND EXISTS (` + liveAssetSQL("x.tenant_id", "x.parent_asset_h") + `)
				ORDER BY x.position LIMIT 1),
				(SELECT a.parent_asset_h FROM assets a WHERE a.tenant_id = up.tenant_id AND a.asset_h = up.asset_h
				AND EXISTS (` + liveAssetSQL("a.tenant_id", "a.parent_asset_h") + `))) AS parent) p
		WHERE up.depth < ` + maxLineageDepth + ` AND p.parent IS NOT NULL AND up.asset_h <> up.mark),
	top AS (SELECT DISTINCT ON (ord) ord, asset_h, mark, since FROM up WHERE depth > 0 ORDER BY ord, depth DESC)
	SELECT ord, CASE WHEN asset_h <> mark THEN asset_h ELSE
		(SELECT min(up.asset_h) FROM up WHERE up.ord = top.ord AND up.depth > top.since) END FROM top`, scanLive(
		func(root *library.AssetHash) []any { return []any{root} }, func(d *DocumentRow, root library.AssetHash) { d.Root = root })},

	{`SELECT DISTINCT ON (k.ord) k.ord, c.assertion FROM ` + AssetKeysSQL + ` JOIN lineage_assertions c USING (tenant_id, asset_h)
	ORDER BY k.ord, c.assertion_id DESC`, scanDocumentAssertion},

	{`SELECT k.ord FROM ` + AssetKeysSQL + ` JOIN index_failures f ON f.index_name = '` + AssetIndex + `' AND f.tenant_id = k.tenant_id AND f.key = k.asset_h`, scanDocumentFailure},
}

// maxLineageDepth bounds the walk to a root, in steps. It is as far as the news of a new
// root travels at once (maxReindexedDescendants).
const maxLineageDepth = "1000"

// liveAssetSQL finds an asset outside the trash. Parents and children that are in the
// trash, or that the library never held, are no part of a chain.
func liveAssetSQL(tenant, hash string) string {
	return `SELECT here.asset_h FROM assets here WHERE here.tenant_id = ` + tenant + ` AND here.asset_h = ` + hash + ` AND here.trashed_at IS NULL`
}

// AssetKeysSQL is the keys of a batch of documents of assets as a table, for AddDocumentPart.
const AssetKeysSQL = `unnest($1::text[]::uuid[], $2::text[]) WITH ORDINALITY AS k(tenant_id, asset_h, ord)`

// Read reads what the index should hold of some assets, one row per key in
// the order of the keys, and which index generations there are; see readSnapshot.
func (ds *Documents) Read(ctx context.Context, keys []DocumentKey) ([]DocumentRow, []Generation, error) {
	docs := make([]DocumentRow, len(keys))
	for i, k := range keys {
		docs[i].AssetKey = library.AssetKey{Tenant: k.Tenant, Hash: library.AssetHash(k.Key)}
	}
	b := &documentBatch{docs, knownModels{}}
	parts := make([]DocumentPart, len(documentParts))
	for i, part := range documentParts {
		parts[i] = DocumentPart{part.sql, func(r pgx.Rows) error { return part.scan(r, b) }}
	}
	generations, err := ds.readSnapshot(ctx, keys, parts)
	return docs, generations, err
}

func scanDocumentAsset(r pgx.Rows, b *documentBatch) error {
	var ord int
	var d DocumentRow
	var trashed bool
	a := &d.Asset
	if err := r.Scan(&ord, &d.Version, &trashed, &a.SHA256, &a.BLAKE3, &a.Title, &a.Description, &a.Filename,
		&a.SourcePath, &a.MIMEType, &a.Size, &a.Width, &a.Height, &a.DurationMS, &a.Status, &a.Tags, &a.Owner, &a.Visibility, &a.Rating, &a.Favorite, (*pg.ExactObject)(&a.Metadata),
		&a.Parent, &a.CreatedAt, &a.StoredAt, &a.UpdatedAt, &d.LineageSource, &d.Document.Tool, &d.Lineage, &d.Document.Duplicate, &d.Color, &d.Model, &d.Original); err != nil {
		return err
	}
	d.AssetKey = b.docs[ord-1].AssetKey
	if trashed {
		b.docs[ord-1] = DocumentRow{AssetKey: d.AssetKey, State: DocumentTrashed, Version: d.Version}
		return nil
	}
	d.State, d.Root = DocumentLive, d.AssetKey.Hash
	a.Tenant, a.Hash, a.DocVersion = d.AssetKey.Tenant, d.AssetKey.Hash, d.Version
	b.docs[ord-1] = d
	return nil
}

// scanDocumentTombstone comes after the assets: bytes that came back have both
// rows, and the asset's counts.
func scanDocumentTombstone(r pgx.Rows, b *documentBatch) error {
	var ord int
	var version int64
	if err := r.Scan(&ord, &version); err != nil {
		return err
	}
	if d := &b.docs[ord-1]; d.State == DocumentGone {
		d.Version = version
	}
	return nil
}

// knownModels holds the models of a batch by tenant and hash. The uses are read
// first and point at models that are filled in afterwards.
type knownModels map[modelKey]*KnownModel

type modelKey struct {
	tenant library.TenantID
	hash   library.ModelHash
}

func scanDocumentModel(r pgx.Rows, b *documentBatch) error {
	var ord int
	var m DocumentModel
	var hash library.ModelHash
	if err := r.Scan(&ord, &hash, &m.Name, &m.ContentHash, &m.NodeID, &m.Weight); err != nil {
		return err
	}
	d := &b.docs[ord-1]
	if d.State != DocumentLive {
		return nil
	}
	k := modelKey{d.AssetKey.Tenant, hash}
	if b.models[k] == nil {
		b.models[k] = &KnownModel{Hash: hash}
	}
	m.KnownModel = b.models[k]
	d.Models = append(d.Models, m)
	return nil
}

func scanKnownModel(r pgx.Rows, b *documentBatch) error {
	var k modelKey
	var m KnownModel
	if err := r.Scan(&k.tenant, &m.Hash, &m.Type, &m.DisplayName, &m.BaseModel, &m.ContentHashes, &m.TriggerWords); err != nil {
		return err
	}
	k.hash = m.Hash
	if known := b.models[k]; known != nil {
		*known = m
	}
	return nil
}

func scanDocumentAssertion(r pgx.Rows, b *documentBatch) error {
	var ord int
	var claim []byte
	if err := r.Scan(&ord, &claim); err != nil {
		return err
	}
	b.docs[ord-1].Assertion = claim
	return nil
}

func scanDocumentFailure(r pgx.Rows, b *documentBatch) error {
	var ord int
	if err := r.Scan(&ord); err != nil {
		return err
	}
	b.docs[ord-1].HasIndexFailure = true
	return nil
}
