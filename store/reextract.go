package store

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// StoredFile is what is kept of an asset's file for reading its lineage again.
type StoredFile struct {
	library.AssetKey
	Filename      string
	MIMEType      string
	Width, Height int
	DurationMS    int64
	ParserVersion int    // of the parser that read it last
	HasData       bool   // that parser found generation data
	Report        []byte // JSON of its report; nil when none was kept
	Lineage       []byte // JSON of the lineage that it read, without the workflow graphs
	chunks        []byte
}

// Chunks unpacks into v the file's metadata chunks; v stays untouched when it has none.
func (f StoredFile) Chunks(v any) error {
	if f.chunks == nil {
		return nil
	}
	return unpack(f.chunks, v)
}

// Files returns files of any tenant that a parser older than version read
// last, trashed ones included, in order of their keys: at most limit of those
// that follow after. It is for the command line; no request may reach it.
func (ex *Extraction) Files(ctx context.Context, after library.AssetKey, version, limit int) ([]StoredFile, error) {
	if after.Tenant == "" {
		after.Tenant = "00000000-0000-0000-0000-000000000000"
	}
	return collectIndexer(ctx, ex.s, storedFiles+`WHERE (l.tenant_id, l.asset_h) > ($1, $2) AND l.parser_version < $3
		ORDER BY l.tenant_id, l.asset_h LIMIT $4`, scanStoredFile, string(after.Tenant), string(after.Hash), version, limit)
}

// FilesOf returns the files of some assets of one tenant.
func (ex *Extraction) FilesOf(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) ([]StoredFile, error) {
	return collectIndexer(ctx, ex.s, storedFiles+`WHERE l.tenant_id = $1 AND l.asset_h = ANY($2) ORDER BY l.asset_h`, scanStoredFile, string(tenant), assets)
}

const storedFiles = `SELECT a.tenant_id::text, a.asset_h, a.filename, a.mime_type, a.width, a.height, a.duration_ms,
		l.parser_version, l.source = 'extracted', l.report, l.doc, r.chunks
	FROM lineage l JOIN assets a USING (tenant_id, asset_h) LEFT JOIN lineage_raw r USING (tenant_id, asset_h) `

func scanStoredFile(row pgx.CollectableRow) (f StoredFile, err error) {
	err = row.Scan(&f.Tenant, &f.Hash, &f.Filename, &f.MIMEType, &f.Width, &f.Height, &f.DurationMS,
		&f.ParserVersion, &f.HasData, &f.Report, &f.Lineage, &f.chunks)
	return f, err
}

// CountFiles returns how many files Files returns in all.
func (ex *Extraction) CountFiles(ctx context.Context, after library.AssetKey, version int) (n int64, err error) {
	if after.Tenant == "" {
		after.Tenant = "00000000-0000-0000-0000-000000000000"
	}
	err = ex.s.indexer.QueryRow(ctx, `SELECT count(*) FROM lineage WHERE (tenant_id, asset_h) > ($1, $2) AND parser_version < $3`,
		string(after.Tenant), string(after.Hash), version).Scan(&n)
	return n, unavailable(err)
}

// Replace puts what a parser has read anew in place of what an older one
// read: lineage, report, the models and parents that the file names. Of n only
// the asset's hash and what the file says are looked at. What people say stays:
// their claims, the models they linked, the asset itself. It reports whether
// anything was read differently; if so the asset goes to the index again. A
// parent keeps its link as long as the file still means it.
func (ex *Extraction) Replace(ctx context.Context, actor library.Actor, n NewAsset) (changed bool, err error) {
	p, err := encodeAsset(n)
	if err != nil {
		return false, err
	}
	_, err = ex.s.Write(ctx, actor, func(tx *Tx) error {
		changed = false
		if err := lockPromptsShared(ctx, tx, actor.Tenant); err != nil {
			return err
		}
		if err := lockLineage(ctx, tx, actor.Tenant, []library.AssetHash{n.Asset.Hash}); err != nil {
			return err
		}
		have, err := lockAssets(ctx, tx, actor.Tenant, []library.AssetHash{n.Asset.Hash})
		if err != nil {
			return err
		}
		a, ok := have[n.Asset.Hash]
		if !ok { // purged meanwhile
			return nil
		}
		n.Asset = a
		same, err := lineageUnchanged(ctx, tx, actor.Tenant, n, p)
		if err != nil {
			return err
		}
		if same {
			_, err := tx.Exec(ctx, `UPDATE lineage SET parser_version = $3, report = $4 WHERE tenant_id = $1 AND asset_h = $2
				AND (parser_version <> $3 OR report IS DISTINCT FROM $4)`, actor.Tenant, a.Hash, n.ParserVersion, p.report)
			return err
		}
		changed = true
		return writeReextracted(ctx, tx, n, p)
	})
	return changed && err == nil, err
}

func writeReextracted(ctx context.Context, t *Tx, n NewAsset, p encodedAsset) error {
	tenant, hash, version := t.tenant(), n.Asset.Hash, n.Asset.DocVersion+1
	b := &pgx.Batch{}
	batchLineage(b, tenant, lineageRow{n, p})
	b.Queue(`DELETE FROM asset_models WHERE tenant_id = $1 AND asset_h = $2 AND detection_source = 'extracted'`, tenant, hash)
	var models modelRows
	models.add(hash, n.Lineage.Models)
	t.batchModels(b, models)
	b.Queue(`UPDATE assets SET doc_version = $3 WHERE tenant_id = $1 AND asset_h = $2`, tenant, hash, version)
	if err := t.Audit(ctx, "lineage.extracted", string(hash), map[string]any{"parser_version": n.ParserVersion}); err != nil {
		return err
	}
	if err := t.reindexAsset(ctx, hash, version, "lineage_extracted"); err != nil {
		return err
	}
	if err := t.emitExtracted(ctx, hash, n.Lineage); err != nil {
		return err
	}
	t.queue(b)
	batchParents(b, tenant, n)
	batchLineageLocks(b, tenant, n)
	batchDropParents(b, tenant, n)
	concerned := make([]bool, 1)
	batchTouchesLineage(b, tenant, []NewAsset{n}, concerned)
	if err := t.Send(ctx, b); err != nil {
		return err
	}
	if _, err := relink(ctx, t, tenant, hash, n.Lineage.Positive); err != nil || !concerned[0] {
		return err
	}
	return resolveParents(ctx, t, tenant, n, false)
}

// batchDropParents removes the parents behind the last that a file names now. The
// assets they were, and the descendants of this one, which have another root now,
// go to the index again.
func batchDropParents(b *pgx.Batch, tenant library.TenantID, n NewAsset) {
	b.Queue(`WITH RECURSIVE gone AS (
			DELETE FROM asset_parents WHERE tenant_id = $1::uuid AND asset_h = $2 AND position >= $3 RETURNING parent_asset_h
		), down AS (
			SELECT $2::text COLLATE "C" AS asset_h WHERE EXISTS (SELECT FROM gone WHERE parent_asset_h IS NOT NULL)
			UNION SELECT x.asset_h FROM down CROSS JOIN LATERAL `+childrenSQL("down.asset_h")+` x
		), touched AS (
			(SELECT asset_h FROM down LIMIT $4) UNION SELECT parent_asset_h FROM gone
		), locked AS (
			SELECT asset_h FROM assets WHERE tenant_id = $1::uuid AND asset_h IN (SELECT asset_h FROM touched) AND asset_h <> $2
			ORDER BY asset_h FOR UPDATE
		), bumped AS (
			UPDATE assets SET doc_version = doc_version + 1 WHERE tenant_id = $1::uuid AND asset_h IN (SELECT asset_h FROM locked)
			RETURNING asset_h, doc_version
		)
		INSERT INTO outbox (tenant_id, key, doc_version, reason)
		SELECT $1::uuid, asset_h, doc_version, 'lineage_changed' FROM bumped`, tenant, n.Asset.Hash, len(n.Lineage.Parents), maxReindexedDescendants)
}

// lineageUnchanged reports whether an asset's rows say already what its file was read
// to say. Rows are compared and not only the document: each may have been lost or
// damaged by itself.
func lineageUnchanged(ctx context.Context, tx pgx.Tx, tenant library.TenantID, n NewAsset, p encodedAsset) (bool, error) {
	var same bool
	var workflow []byte
	b := &pgx.Batch{}
	b.Queue(`SELECT source = $3 AND tool = $4 AND doc::jsonb = $5::jsonb, workflow FROM lineage WHERE tenant_id = $1 AND asset_h = $2`,
		tenant, n.Asset.Hash, p.source, n.Lineage.Tool, p.doc).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				if err := rows.Scan(&same, &workflow); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	var models []extractedModel
	b.Queue(`SELECT model_hash, node_id, name, weight, clip_weight, content_hash FROM asset_models
		WHERE tenant_id = $1 AND asset_h = $2 AND detection_source = 'extracted' ORDER BY sequence`, tenant, n.Asset.Hash).
		Query(func(rows pgx.Rows) (err error) {
			models, err = pgx.CollectRows(rows, pgx.RowToStructByPos[extractedModel])
			return err
		})
	var parents []library.Parent
	b.Queue(`SELECT kind, name, hash, job_id, node_id FROM asset_parents WHERE tenant_id = $1 AND asset_h = $2 ORDER BY position`, tenant, n.Asset.Hash).
		Query(func(rows pgx.Rows) (err error) {
			parents, err = pgx.CollectRows(rows, pgx.RowToStructByPos[library.Parent])
			return err
		})
	if err := tx.SendBatch(ctx, b).Close(); err != nil || !same {
		return false, err
	}
	return slices.EqualFunc(models, extractedModels(n.Lineage.Models), extractedModel.equal) &&
		slices.Equal(parents, storedParents(n.Lineage.Parents)) && sameGraphs(workflow, p.workflow), nil
}

// extractedModel is a row of asset_models that a file records.
type extractedModel struct {
	Hash         library.ModelHash
	NodeID, Name string
	Weight, Clip *float64
	ContentHash  string
}

func extractedModels(list []library.ModelUse) []extractedModel {
	out := make([]extractedModel, len(list))
	for i, m := range list {
		name := strings.ReplaceAll(m.Name, "\x00", "")
		out[i] = extractedModel{library.NewModelHash(m.Type, name), m.NodeID, name, m.Strength, m.ClipStrength, m.Hash}
	}
	return out
}

func (m extractedModel) equal(o extractedModel) bool {
	return m.Hash == o.Hash && m.NodeID == o.NodeID && m.Name == o.Name && m.ContentHash == o.ContentHash &&
		sameNumber(m.Weight, o.Weight) && sameNumber(m.Clip, o.Clip)
}

func sameNumber(a, b *float64) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameGraphs compares packed workflow graphs by what is in them: another release
// of the compressor may pack them otherwise.
func sameGraphs(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y workflowTexts
	return a != nil && b != nil && unpack(a, &x) == nil && unpack(b, &y) == nil && x == y
}
