package store

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// batchParents records what files say they were made from. Which assets those
// are is worked out by resolveParents. A place that was taken keeps its link until then.
func batchParents(b *pgx.Batch, tenant library.TenantID, assets ...NewAsset) {
	type row struct {
		asset    library.AssetHash
		position int32
		library.Parent
	}
	var rows []row
	for _, n := range assets {
		for i, p := range storedParents(n.Lineage.Parents) {
			rows = append(rows, row{n.Asset.Hash, int32(i), p}) //nolint:gosec // the extractor bounds them
		}
	}
	if len(rows) == 0 {
		return
	}
	b.Queue(`INSERT INTO asset_parents (tenant_id, asset_h, position, kind, name, hash, job_id, node_id)
		SELECT $1::uuid, * FROM unnest($2::text[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
		ON CONFLICT (tenant_id, asset_h, position) DO UPDATE SET
			kind = excluded.kind, name = excluded.name, hash = excluded.hash, job_id = excluded.job_id, node_id = excluded.node_id`,
		tenant, column(rows, func(r row) library.AssetHash { return r.asset }), column(rows, func(r row) int32 { return r.position }),
		column(rows, func(r row) string { return string(r.Kind) }), column(rows, func(r row) string { return r.Name }), column(rows, func(r row) string { return r.Hash }),
		column(rows, func(r row) string { return r.JobID }), column(rows, func(r row) string { return r.NodeID }))
}

// storedParents returns parents in the form in which rows keep them.
func storedParents(list []library.Parent) []library.Parent {
	out := make([]library.Parent, len(list))
	for i, p := range list {
		out[i] = library.Parent{Kind: p.Kind, Name: clean(p.Name), Hash: clean(p.Hash), JobID: strings.ToLower(clean(p.JobID)), NodeID: clean(p.NodeID)}
	}
	return out
}

// batchLineageLocks makes two files that belong together and arrive at the same
// moment wait for each other here, so that the later one sees the earlier: each
// alone would find nothing to link. The locks go by what links files, in a fixed
// order, and end with the transaction. They come after all other writes but the
// linking itself. A file with more than maxLockedParents parents takes its chance
// with the others; the lock table is finite.
func batchLineageLocks(b *pgx.Batch, tenant library.TenantID, n NewAsset) {
	b.Queue(`SELECT pg_advisory_xact_lock(key) FROM (
			SELECT DISTINCT hashtextextended($1 || link, 0) AS key FROM (
				VALUES ('h' || $2), ('h' || $3), ('n' || lower($4)), ('j' || $5), ('c' || $7), ('c' || $8)
				UNION ALL
				SELECT unnest(ARRAY['h' || content_hash, 'n' || name_fold, 'j' || nullif(job_id, ''), 'c' || credential_id]) FROM asset_parents
				WHERE tenant_id = $1::uuid AND asset_h = $2 AND position < $6) AS links(link)
			WHERE link NOT IN ('j', 'c')
			ORDER BY key) AS ordered`,
		string(tenant), n.Asset.Hash, n.Asset.BLAKE3, n.Asset.Filename, jobOf(n), maxLockedParents, credentialsOf(n).ManifestID, credentialsOf(n).InstanceID)
}

const maxLockedParents = 64

// lockLineage takes, for assets that are stored already, the locks that
// batchLineageLocks takes for a new one. What may move an asset in or out of a chain
// calls it before it locks the asset's row: an arrival takes the two in this order,
// and the other way round the two would wait for each other.
func lockLineage(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hashes []library.AssetHash) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(key) FROM (
			SELECT DISTINCT hashtextextended($1 || link, 0) AS key FROM (
				SELECT unnest(ARRAY['h' || a.asset_h, 'h' || nullif(a.blake3, ''), 'n' || a.filename_fold,
					'j' || nullif(l.job_id, ''), 'c' || nullif(l.manifest_id, ''), 'c' || nullif(l.instance_id, '')])
				FROM assets a LEFT JOIN lineage l USING (tenant_id, asset_h) WHERE a.tenant_id = $1::uuid AND a.asset_h = ANY($2)
				UNION ALL
				SELECT unnest(ARRAY['h' || content_hash, 'n' || name_fold, 'j' || nullif(job_id, ''), 'c' || credential_id]) FROM asset_parents
				WHERE tenant_id = $1::uuid AND asset_h = ANY($2) AND position < $3) AS links(link)
			WHERE link IS NOT NULL
			ORDER BY key) AS ordered`, string(tenant), hashes, maxLockedParents)
	return err
}

// jobOf is the image tool's job that made a file, or nothing.
func jobOf(n NewAsset) string {
	if t := n.Lineage.ImageTool; t != nil {
		return strings.ToLower(clean(t.JobID))
	}
	return ""
}

// credentialsOf is the content-credentials claim of a file, or an empty one.
func credentialsOf(n NewAsset) library.C2PA {
	if c := n.Lineage.C2PA; c != nil {
		return library.C2PA{ManifestID: clean(c.ManifestID), InstanceID: clean(c.InstanceID)}
	}
	return library.C2PA{}
}

// parentCandidate selects, for a row q of asset_parents whose asset is c, the asset that
// it means, by the best evidence there is, or no row where several could be meant.
//
//   - A hash of the bytes names one asset.
//   - Content credentials name a file by its manifest's id or its instance id. A
//     copy that was saved without change of either may exist; then none is meant.
//   - A job of the image tool made up to four pictures; the picture is the one at
//     the place that the reference names, or the only one the tenant holds.
//   - A name counts when one asset bears it. Generators count their files anew in
//     each folder, so of several bearers those that are younger than the child are
//     passed over: they cannot be its parent.
const parentCandidate = `(
	SELECT asset_h, evidence FROM (
		SELECT 1 AS rank, 'hash' AS evidence, min(a.asset_h) AS asset_h FROM assets a
		WHERE a.tenant_id = q.tenant_id AND a.trashed_at IS NULL AND a.asset_h <> q.asset_h
			AND (a.asset_h = q.content_hash OR a.blake3 = q.content_hash)
		HAVING count(*) = 1
		UNION ALL
		SELECT 2, 'c2pa', min(found.asset_h) FROM (
			SELECT l.asset_h FROM lineage l WHERE l.tenant_id = q.tenant_id AND l.manifest_id = q.credential_id
			UNION SELECT l.asset_h FROM lineage l WHERE l.tenant_id = q.tenant_id AND l.instance_id = q.credential_id) found
			JOIN assets a ON a.tenant_id = q.tenant_id AND a.asset_h = found.asset_h AND a.trashed_at IS NULL
		WHERE q.credential_id IS NOT NULL AND found.asset_h <> q.asset_h
		HAVING count(*) = 1
		UNION ALL
		SELECT 3, 'imagetool_job', CASE WHEN count(*) FILTER (WHERE j.place = j.wanted) = 1 THEN min(j.asset_h) FILTER (WHERE j.place = j.wanted)
			ELSE min(j.asset_h) FILTER (WHERE j.place IS NULL OR j.wanted IS NULL) END
		FROM (
			SELECT a.asset_h, substring(q.name FROM '^[0-9]+_([0-9]+)[.]') AS wanted,
				coalesce(l.doc #>> '{image_tool,index}', substring(a.filename FROM '_([0-9]+)[.][^.]*$')) AS place
			FROM lineage l JOIN assets a USING (tenant_id, asset_h)
			WHERE l.tenant_id = q.tenant_id AND q.job_id <> '' AND l.job_id = q.job_id AND a.trashed_at IS NULL AND a.asset_h <> q.asset_h) j
		HAVING count(*) FILTER (WHERE j.place = j.wanted) = 1
			OR (count(*) = 1 AND count(*) FILTER (WHERE j.place IS NULL OR j.wanted IS NULL) = 1)
		UNION ALL
		SELECT 4, 'name', CASE count(*) FILTER (WHERE a.created_at <= c.created_at)
			WHEN 1 THEN min(a.asset_h) FILTER (WHERE a.created_at <= c.created_at) ELSE min(a.asset_h) END
		FROM assets a
		WHERE a.tenant_id = q.tenant_id AND a.trashed_at IS NULL AND a.asset_h <> q.asset_h AND a.filename_fold = q.name_fold
		HAVING count(*) = 1 OR count(*) FILTER (WHERE a.created_at <= c.created_at) = 1
	) found ORDER BY rank LIMIT 1)`

// maxReindexedDescendants bounds how many descendants of a newly linked asset are told about
// their new root in one transaction.
const maxReindexedDescendants = 1000

// batchTouchesLineage asks which of some assets that were just stored may have anything to
// do with a chain, and sets those in concerned, which is as long. Most have not, and are
// spared the costly part.
func batchTouchesLineage(b *pgx.Batch, tenant library.TenantID, assets []NewAsset, concerned []bool) {
	var ask []NewAsset
	var places []int32
	for i, n := range assets {
		if concerned[i] = n.Asset.Parent != "" || len(n.Lineage.Parents) > 0; !concerned[i] {
			ask, places = append(ask, n), append(places, int32(i)) //nolint:gosec // few
		}
	}
	if len(ask) == 0 {
		return
	}
	b.Queue(`SELECT i FROM unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) AS u(i, h, b, n, j, m, c)
		WHERE EXISTS (SELECT FROM asset_parents WHERE tenant_id = $1 AND content_hash IN (h, b))
			OR EXISTS (SELECT FROM asset_parents WHERE tenant_id = $1 AND name_fold = lower(n))
			OR EXISTS (SELECT FROM asset_parents WHERE tenant_id = $1 AND job_id <> '' AND job_id = j)
			OR EXISTS (SELECT FROM asset_parents WHERE tenant_id = $1 AND credential_id IN (nullif(m, ''), nullif(c, '')))
			OR EXISTS (SELECT FROM asset_parents WHERE tenant_id = $1 AND parent_asset_h = h)
			OR EXISTS (SELECT FROM assets WHERE tenant_id = $1 AND parent_asset_h = h)`,
		tenant, places, column(ask, func(n NewAsset) library.AssetHash { return n.Asset.Hash }), column(ask, func(n NewAsset) string { return n.Asset.BLAKE3 }),
		column(ask, func(n NewAsset) string { return n.Asset.Filename }), column(ask, jobOf),
		column(ask, func(n NewAsset) string { return credentialsOf(n).ManifestID }), column(ask, func(n NewAsset) string { return credentialsOf(n).InstanceID })).
		Query(func(rows pgx.Rows) error {
			var i int32
			_, err := pgx.ForEachRow(rows, []any{&i}, func() error { concerned[i] = true; return nil })
			return err
		})
}

// resolveParents links an asset that was just stored with its parents and with the
// assets that name it as theirs. What a reference means is worked out anew from
// what the tenant holds now, so the order of arrival does not matter, and a hash
// that comes late replaces a guess by name. An asset that goes to the trash or
// comes back is treated alike: references that meant it mean nothing, or another
// asset, until it is back. Every asset whose place in a chain changed goes to the
// index again: the asset's parents, both ends of each link that changed, and the
// descendants of its children, which have another root now. Rows are locked in
// order of their hash, so that two arrivals never wait for each other crosswise.
// Moved means that the asset itself came or went; else only what its file is read
// to say has changed.
func resolveParents(ctx context.Context, tx pgx.Tx, tenant library.TenantID, n NewAsset, moved bool) error {
	_, err := tx.Exec(ctx, `WITH RECURSIVE concerned AS (
			SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND asset_h = $2
			UNION SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND parent_asset_h = $2
			UNION SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND content_hash IN ($2, $3)
			UNION SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND name_fold = lower($4)
			UNION SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND job_id <> '' AND job_id = $5
			UNION SELECT asset_h, position FROM asset_parents WHERE tenant_id = $1::uuid AND credential_id IN (nullif($9, ''), nullif($10, ''))
		), meant AS (
			SELECT q.asset_h, q.position, q.parent_asset_h AS was, f.asset_h AS parent, f.evidence
			FROM concerned JOIN asset_parents q ON q.tenant_id = $1::uuid AND q.asset_h = concerned.asset_h AND q.position = concerned.position
				JOIN assets c ON c.tenant_id = q.tenant_id AND c.asset_h = q.asset_h
				LEFT JOIN LATERAL `+parentCandidate+` f ON true
			WHERE q.parent_asset_h IS DISTINCT FROM f.asset_h OR q.resolved_by IS DISTINCT FROM f.evidence
			ORDER BY q.asset_h, q.position FOR UPDATE OF q
		), linked AS (
			UPDATE asset_parents p SET parent_asset_h = m.parent, resolved_by = m.evidence FROM meant m
			WHERE p.tenant_id = $1::uuid AND p.asset_h = m.asset_h AND p.position = m.position
			RETURNING m.asset_h, m.was, m.parent
		), down AS (
			(SELECT asset_h FROM linked UNION SELECT asset_h FROM assets WHERE $8 AND tenant_id = $1::uuid AND parent_asset_h = $2)
			UNION SELECT x.asset_h FROM down CROSS JOIN LATERAL `+childrenSQL("down.asset_h")+` x
		), touched AS (
			(SELECT asset_h FROM down LIMIT $6)
			UNION SELECT was FROM linked UNION SELECT parent FROM linked
			UNION SELECT parent_asset_h FROM asset_parents WHERE $8 AND tenant_id = $1::uuid AND asset_h = $2
			UNION SELECT $7
		), locked AS (
			SELECT asset_h FROM assets WHERE tenant_id = $1::uuid AND asset_h IN (SELECT asset_h FROM touched) AND asset_h <> $2
			ORDER BY asset_h FOR UPDATE
		), bumped AS (
			UPDATE assets SET doc_version = doc_version + 1
			WHERE tenant_id = $1::uuid AND asset_h IN (SELECT asset_h FROM locked)
			RETURNING asset_h, doc_version
		)
		INSERT INTO outbox (tenant_id, key, doc_version, reason)
		SELECT $1::uuid, asset_h, doc_version, 'lineage_changed' FROM bumped`,
		tenant, n.Asset.Hash, n.Asset.BLAKE3, n.Asset.Filename, jobOf(n), maxReindexedDescendants, n.Asset.Parent, moved,
		credentialsOf(n).ManifestID, credentialsOf(n).InstanceID)
	return err
}

// childrenSQL reads the assets that were made from one, as their files or their
// uploaders say. The tenant is $1.
func childrenSQL(hash string) string {
	return `(SELECT asset_h FROM asset_parents WHERE tenant_id = $1::uuid AND parent_asset_h = ` + hash + `
		UNION ALL SELECT asset_h FROM assets WHERE tenant_id = $1::uuid AND parent_asset_h = ` + hash + `)`
}

// resolveParentsOf is resolveParents for an asset that went to the trash or came back. The
// caller holds the locks of lockLineage.
func resolveParentsOf(ctx context.Context, tx pgx.Tx, tenant library.TenantID, a library.Asset) error {
	n := NewAsset{Asset: a}
	n.Lineage.ImageTool, n.Lineage.C2PA = &library.ImageTool{}, &library.C2PA{}
	err := tx.QueryRow(ctx, `SELECT coalesce(job_id, ''), coalesce(manifest_id, ''), coalesce(instance_id, '') FROM lineage
		WHERE tenant_id = $1 AND asset_h = $2`, tenant, a.Hash).
		Scan(&n.Lineage.ImageTool.JobID, &n.Lineage.C2PA.ManifestID, &n.Lineage.C2PA.InstanceID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return resolveParents(ctx, tx, tenant, n, true)
}
