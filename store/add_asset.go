package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"vitrine/library"
)

// NewAsset is all that one stored file brings with it.
type NewAsset struct {
	Asset         library.Asset
	Lineage       library.Lineage
	ParserVersion int
	Report        any    // why the file records no more, JSON-encodable
	Chunks        any    // the file's metadata chunks, JSON-encodable; nil when it has none
	Assertion     any    // the uploader's claim (prompt_metadata), JSON-encodable; nil when there is none
	Collection    string // path or collection_h of a collection that gets the asset, behind all others; empty: none
	// KeepAbsent refuses bytes that are in the trash or were purged; otherwise storing them
	// brings the asset back.
	KeepAbsent bool
	// HasFile reports whether the bytes are still in their place. It is asked of an asset
	// that was purged before, whose file the purge may have removed only now; nil: they are.
	HasFile func(context.Context) (bool, error)
}

// AddResult is what became of a NewAsset.
type AddResult struct {
	Asset       library.Asset
	Created     bool   // false: the tenant held these bytes already
	Restored    bool   // it was in the trash and is back
	Healed      bool   // its file was known to be damaged
	OperationID string // empty when nothing changed
	Collection  string // path of the collection that has it now; empty: none was asked for
}

// Add stores an asset's rows. The bytes must be durable under the asset's
// hash before: the row is the promise that they are there. The same bytes again
// are no second asset; tags and the claim that come with them are added to the
// one that is there, unless it is another's private asset: then they are refused. So are
// bytes that share the SHA-1 but not the SHA-256. A collection that is not there, or whose
// items cannot be changed, refuses the asset.
func (as *Assets) Add(ctx context.Context, actor library.Actor, n NewAsset) (AddResult, error) {
	var out AddResult
	prepared, err := encodeAsset(n)
	if err != nil {
		return out, err
	}
	id, err := as.s.Write(ctx, actor, func(t *Tx) error {
		if n.Collection != "" { // locked before assets, as by all that changes its items
			if _, err := t.editable(ctx, n.Collection); err != nil {
				return err
			}
		}
		if out, err = t.addAsset(ctx, n, prepared); err != nil || n.Collection == "" {
			return err
		}
		items, err := t.addToCollection(ctx, n.Collection, NewItems{Assets: []library.AssetHash{n.Asset.Hash}})
		out.Collection = items.Collection.Path
		return err
	})
	out.OperationID = id
	return out, err
}

// addAsset writes an asset, or adds to the one that is there.
func (t *Tx) addAsset(ctx context.Context, n NewAsset, prepared encodedAsset) (AddResult, error) {
	created, err := insertAsset(ctx, t, t.actor, n.Asset)
	if err != nil {
		return AddResult{}, err
	}
	if created == nil {
		return addToExisting(ctx, t, n, prepared)
	}
	if err := n.afterPurge(ctx, *created); err != nil {
		return AddResult{}, err
	}
	out := AddResult{Asset: *created, Created: true}
	if err := t.recordNewAsset(ctx, *created); err != nil {
		return out, err
	}
	if err := t.emitExtracted(ctx, created.Hash, n.Lineage); err != nil {
		return out, err
	}
	if err := t.Enqueue(ctx, PreviewJob{t.tenant(), created.Hash}); err != nil { // before the locks as well
		return out, err
	}
	b := &pgx.Batch{}
	batchLineage(b, t.tenant(), lineageRow{n, prepared})
	var models modelRows
	models.add(n.Asset.Hash, n.Lineage.Models)
	t.batchModels(b, models)
	batchParents(b, t.tenant(), n)
	batchAssertion(b, t.actor, n.Asset.Hash, prepared.assertion)
	renders := batchPromptCandidates(b, t.tenant(), n.Lineage.Positive)
	t.queue(b) // before the locks, which other arrivals wait for
	batchLineageLocks(b, t.tenant(), n)
	concerned := make([]bool, 1)
	batchTouchesLineage(b, t.tenant(), []NewAsset{n}, concerned)
	if err := t.Send(ctx, b); err != nil {
		return out, err
	}
	if err := linkPrompts(ctx, t, t.tenant(), []library.AssetHash{n.Asset.Hash}, []*promptMatch{renders}); err != nil || !concerned[0] {
		return out, err
	}
	return out, resolveParents(ctx, t, t.tenant(), n, true)
}

// afterPurge refuses a row whose asset was purged before, where the caller wants that to
// last, and where the purge took the file that the row speaks of.
func (n NewAsset) afterPurge(ctx context.Context, created library.Asset) error {
	switch {
	case created.DocVersion == 1:
		return nil
	case n.KeepAbsent:
		return AbsentError(Purged)
	case n.HasFile == nil:
		return nil
	}
	if has, err := n.HasFile(ctx); err != nil || has {
		return err
	}
	return beingRemoved()
}

func beingRemoved() error {
	return &library.Error{Kind: library.KindConflict, Code: library.CodeConflict, Detail: "The asset is being removed right now; repeat the upload."}
}

// AbsentError is the answer to bytes of an asset that was taken out of the library, from a
// caller who does not want it back.
func AbsentError(state string) error {
	what := map[string]string{InTrash: "is in the trash", Purged: "was purged"}[state]
	return library.NewError(library.KindConflict, library.CodeTrashed, "The asset of these bytes %s; nothing was stored. To bring it back, send restore true.", what)
}

// newAsset is what the journal and the audit trail keep of an asset that was stored.
type newAsset struct {
	Filename string   `json:"filename"`
	Size     int64    `json:"size"`
	MIMEType string   `json:"mime_type"`
	Title    string   `json:"title,omitempty"`
	Tags     []string `json:"tags,omitempty"`
}

func (t *Tx) recordNewAsset(ctx context.Context, a library.Asset) error {
	if err := t.Record(ctx, assetNoun, string(a.Hash), nil, newAsset{a.Filename, a.Size, a.MIMEType, a.Title, a.Tags}); err != nil {
		return err
	}
	return t.reindexAsset(ctx, a.Hash, a.DocVersion, "stored")
}

// encodedAsset holds a NewAsset's encoded columns, made before the transaction opens.
type encodedAsset struct {
	doc, workflow, report, chunks, assertion []byte
	source                                   library.LineageSource
}

func encodeAsset(n NewAsset) (p encodedAsset, err error) {
	doc := n.Lineage
	if w := doc.Workflow; w != nil {
		slim := *w
		slim.JSON, slim.PromptJSON = nil, nil
		doc.Workflow = &slim
		if p.workflow, err = pack(workflowTexts{Editor: string(w.JSON), Executed: string(w.PromptJSON)}); err != nil {
			return p, fmt.Errorf("packing the workflow graphs: %w", err)
		}
	}
	if p.doc, err = jsonb(doc); err != nil {
		return p, fmt.Errorf("encoding the lineage: %w", err)
	}
	if n.Report != nil {
		if p.report, err = jsonb(n.Report); err != nil {
			return p, fmt.Errorf("encoding the report: %w", err)
		}
	}
	if n.Chunks != nil {
		if p.chunks, err = pack(n.Chunks); err != nil {
			return p, fmt.Errorf("packing the metadata chunks: %w", err)
		}
	}
	if n.Assertion != nil {
		if p.assertion, err = jsonb(n.Assertion); err != nil {
			return p, fmt.Errorf("encoding the assertion: %w", err)
		}
	}
	p.source = library.LineageUnknown
	if n.Lineage.HasGenerationData() {
		p.source = library.LineageExtracted
	}
	return p, nil
}

// insertAsset inserts the row, or returns nil when it exists already. A document
// of the same asset may be left in the index from before a purge, so the version
// goes on from the tombstone's.
func insertAsset(ctx context.Context, tx pgx.Tx, actor library.Actor, a library.Asset) (*library.Asset, error) {
	created, err := insertAssets(ctx, tx, actor, []library.Asset{a})
	if made, ok := created[a.Hash]; ok {
		return &made, err
	}
	return nil, err
}

// insertAssets is insertAsset for several assets, each once and in order of their hashes, as
// all that writes assets locks them. It returns those that were not there.
func insertAssets(ctx context.Context, tx pgx.Tx, actor library.Actor, list []library.Asset) (map[library.AssetHash]library.Asset, error) {
	metadata, tags := make([]string, len(list)), make([]string, len(list))
	for i, a := range list {
		raw, err := jsonb(a.Metadata)
		if err != nil {
			return nil, err
		}
		metadata[i] = string(raw)
		if tags[i], err = arrayText(library.MergeTags(nil, a.Tags)); err != nil {
			return nil, err
		}
	}
	hashes := column(list, func(a library.Asset) library.AssetHash { return a.Hash })
	created := map[library.AssetHash]library.Asset{}
	b := &pgx.Batch{}
	// A statement of its own: the insert then sees the tombstone of a purge that it waited for.
	b.Queue(`SELECT pg_advisory_xact_lock_shared(key) FROM (SELECT DISTINCT `+fileLock+`h, 0) AS key FROM unnest($2::text[]) AS x(h) ORDER BY key) AS ordered`, string(actor.Tenant), hashes)
	b.Queue(insertAssetsSQL, actor.Tenant, actor.ID, hashes, column(list, func(a library.Asset) string { return a.SHA256 }), column(list, func(a library.Asset) string { return a.BLAKE3 }),
		column(list, func(a library.Asset) string { return a.Title }), column(list, func(a library.Asset) string { return a.Description }),
		column(list, func(a library.Asset) string { return a.Filename }), column(list, func(a library.Asset) string { return a.SourcePath }),
		column(list, func(a library.Asset) string { return a.MIMEType }), column(list, func(a library.Asset) string { return a.ClaimedType }),
		column(list, func(a library.Asset) int64 { return a.Size }), column(list, func(a library.Asset) int { return a.Width }), column(list, func(a library.Asset) int { return a.Height }),
		column(list, func(a library.Asset) int64 { return a.DurationMS }), tags, column(list, func(a library.Asset) library.AssetHash { return a.Parent }), metadata,
		column(list, func(a library.Asset) time.Time { return a.CreatedAt }), column(list, func(a library.Asset) string { return a.Owner }),
		column(list, func(a library.Asset) library.Visibility { return cmp.Or(a.Visibility, library.VisibilityTeam) }),
		column(list, func(a library.Asset) bool { return a.InPlace })).
		Query(func(rows pgx.Rows) error {
			made, err := pgx.CollectRows(rows, scanAsset)
			for _, a := range made {
				created[a.Hash] = a
			}
			return err
		})
	return created, tx.SendBatch(ctx, b).Close()
}

var insertAssetsSQL = `INSERT INTO assets (tenant_id, asset_h, sha256, blake3, title, description, filename, source_path,
		mime_type, claimed_type, size, width, height, duration_ms, tags, parent_asset_h, metadata, created_at, created_by, owner, visibility, in_place, doc_version)
	SELECT $1::uuid, h, sha256, blake3, title, description, filename, source_path, mime_type, claimed_type, size, width, height, duration_ms, tags::text[],
		nullif(parent, ''), nullif(metadata::jsonb, 'null'), created_at, $2::text, owner, visibility, in_place,
		1 + coalesce((SELECT t.doc_version FROM asset_tombstones t WHERE t.tenant_id = $1::uuid AND t.asset_h = h), 0)
	FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::int[], $14::int[], $15::bigint[],
		$16::text[], $17::text[], $18::text[], $19::timestamptz[], $20::text[], $21::text[], $22::boolean[])
		AS n(h, sha256, blake3, title, description, filename, source_path, mime_type, claimed_type, size, width, height, duration_ms, tags, parent, metadata, created_at, owner, visibility, in_place)
	ON CONFLICT DO NOTHING RETURNING ` + assetColumns

// arrayText returns a list as the text of an array of texts: unnest would flatten an array of
// arrays.
func arrayText(list []string) (string, error) {
	if list == nil {
		list = []string{}
	}
	raw, err := pgtype.NewMap().Encode(pgtype.TextArrayOID, pgtype.TextFormatCode, list, nil)
	return string(raw), err
}

// addToExisting is the second upload of the same bytes.
func addToExisting(ctx context.Context, t *Tx, n NewAsset, p encodedAsset) (AddResult, error) {
	var out AddResult
	if err := lockLineage(ctx, t, t.tenant(), []library.AssetHash{n.Asset.Hash}); err != nil {
		return out, err
	}
	have, err := lockAssets(ctx, t, t.tenant(), []library.AssetHash{n.Asset.Hash})
	if err != nil {
		return out, err
	}
	a, ok := have[n.Asset.Hash]
	if !ok { // purged between our two statements
		return out, beingRemoved()
	}
	if a.SHA256 != n.Asset.SHA256 {
		return out, HashCollision()
	}
	if !t.actor.Sees(a) {
		return out, library.NewError(library.KindConflict, library.CodeConflict,
			"These bytes are stored already as another member's private asset; nothing was stored. Its owner or an admin can make it visible to the team.")
	}
	if a.Trashed && n.KeepAbsent {
		return out, AbsentError(InTrash)
	}
	changed := a
	changed.Trashed = false
	changed.Tags = library.MergeTags(a.Tags, n.Asset.Tags)
	res, err := applyChanges(ctx, t, []change{{before: a, after: changed}})
	if err != nil {
		return out, err
	}
	healed, err := t.takeFile(ctx, a, n)
	if err != nil {
		return out, err
	}
	out = AddResult{Asset: changed, Restored: a.Trashed, Healed: healed}
	if out.Healed {
		if err := t.previewAgain(ctx, a.Hash); err != nil {
			return out, err
		}
	}
	if len(res.Changed) == 1 {
		out.Asset = res.Changed[0]
	}
	if p.assertion != nil {
		b := &pgx.Batch{}
		batchAssertion(b, t.actor, n.Asset.Hash, p.assertion)
		if err := t.Audit(ctx, "lineage.asserted", string(n.Asset.Hash), nil); err != nil {
			return out, err
		}
		err = t.Send(ctx, b)
	}
	return out, err
}

// takeFile notes that the library has a file of an asset that was there before, unless the
// file stays where it lies. It reports whether the asset's file was damaged.
func (t *Tx) takeFile(ctx context.Context, a library.Asset, n NewAsset) (healed bool, err error) {
	if n.Asset.InPlace {
		return false, nil
	}
	tag, err := t.Exec(ctx, `DELETE FROM damaged_files WHERE tenant_id = $1 AND asset_h = $2`, t.tenant(), a.Hash)
	if err != nil || !a.InPlace {
		return err == nil && tag.RowsAffected() > 0, err
	}
	if _, err := t.Exec(ctx, `UPDATE assets SET in_place = false WHERE tenant_id = $1 AND asset_h = $2`, t.tenant(), a.Hash); err != nil {
		return false, err
	}
	return tag.RowsAffected() > 0, t.touchAssets(ctx, []library.AssetHash{a.Hash}, "file_stored")
}

// previewAgain has a preview made of a file that was damaged.
func (t *Tx) previewAgain(ctx context.Context, hash library.AssetHash) error {
	if _, err := t.Exec(ctx, `DELETE FROM preview_failures WHERE tenant_id = $1 AND asset_h = $2`, t.tenant(), hash); err != nil {
		return err
	}
	return t.Enqueue(ctx, PreviewJob{t.tenant(), hash})
}

// HashCollision returns the answer to bytes that share their SHA-1 with others that are
// stored.
func HashCollision() error {
	return library.NewError(library.KindConflict, library.CodeHashCollision,
		"Different bytes with the same SHA-1 are stored already. Such collisions are deliberate, so the new file is refused.")
}
