package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// The documents of assets hold each collection that an asset is in, and all that are above it.
func init() {
	indexstate.AddDocumentPart(`SELECT k.ord, up.collection_h, up.path, coalesce(max(i.rank) FILTER (WHERE up.path = c.path), ''),
			coalesce(bool_or(e.collection_h IS NOT NULL) FILTER (WHERE up.path = c.path), false)
		FROM `+indexstate.AssetKeysSQL+` JOIN collection_items i USING (tenant_id, asset_h) JOIN collections c USING (tenant_id, collection_h)
			CROSS JOIN LATERAL generate_series(1, nlevel(c.tree)) AS level
			LEFT JOIN experiment_runs e ON e.tenant_id = k.tenant_id AND e.asset_h = k.asset_h AND e.collection_h = c.collection_h
			JOIN collections up ON up.tenant_id = c.tenant_id AND up.path = subpath(c.tree, 0, level)::text COLLATE "C" AND up.deleted_at IS NULL
		WHERE c.deleted_at IS NULL GROUP BY k.ord, up.collection_h, up.path ORDER BY k.ord, up.path`,
		func(c *indexstate.DocumentCollection) []any { return []any{&c.Hash, &c.Path, &c.Rank, &c.Experiment} },
		func(d *indexstate.DocumentRow, c indexstate.DocumentCollection) {
			d.Collections = append(d.Collections, c)
		})
}

// reindexAtOnce is how many assets an operation lets the index look at in its own
// transaction. A search that waits for the operation waits for them. More are queued:
// until the index has seen to them, searches find them under the paths of before.
const reindexAtOnce = 1000

// reindexMembers makes the index look at the assets of some collections again. It
// reports whether that happens in the background. Call it after the rows of the
// collections are changed: who adds an asset holds the collection's row, so each asset
// that was added before is seen here and each that is added later is indexed as it is.
func (t *Tx) reindexMembers(ctx context.Context, collections []string) (pending bool, err error) {
	rows, err := t.Query(ctx, `SELECT DISTINCT asset_h FROM collection_items WHERE tenant_id = $1 AND collection_h = ANY($2) AND asset_h IS NOT NULL LIMIT $3`,
		t.tenant(), collections, reindexAtOnce+1)
	if err != nil {
		return false, err
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(hashes) <= reindexAtOnce {
		if err == nil {
			err = t.reindexAssets(ctx, "collections", hashes)
		}
		return false, err
	}
	_, err = t.Exec(ctx, `INSERT INTO collection_reindex (tenant_id, collection_h)
		SELECT DISTINCT $1::uuid, collection_h FROM collection_items WHERE tenant_id = $1 AND collection_h = ANY($2) AND asset_h IS NOT NULL
		ORDER BY collection_h ON CONFLICT (tenant_id, collection_h) DO UPDATE SET after_item = '', queued_at = now()`, t.tenant(), collections)
	return true, err
}

// reindexAssets raises the document versions of assets and enqueues them for the indexer.
func (t *Tx) reindexAssets(ctx context.Context, reason string, hashes []string) error {
	if len(hashes) == 0 {
		return nil
	}
	rows, err := t.Query(ctx, `WITH locked AS MATERIALIZED (
			SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL ORDER BY asset_h FOR NO KEY UPDATE)
		UPDATE assets a SET doc_version = a.doc_version + 1 FROM locked l WHERE a.tenant_id = $1 AND a.asset_h = l.asset_h RETURNING a.asset_h, a.doc_version`,
		t.tenant(), hashes)
	if err != nil {
		return err
	}
	type documentOf struct {
		Hash    library.AssetHash
		Version int64
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[documentOf])
	if err != nil {
		return err
	}
	for _, d := range list {
		if err := t.reindexAsset(ctx, d.Hash, d.Version, reason); err != nil {
			return err
		}
	}
	return nil
}

// ReindexQueued sees to collections whose assets the index must look at again: a page of
// one collection in each transaction, until none is left or ctx ends. It reports how
// many items it went through. Several processes may call it at once.
func (c *Collections) ReindexQueued(ctx context.Context) (items int, err error) {
	for {
		rows, err := c.s.indexer.Query(ctx, `SELECT DISTINCT tenant_id::text FROM collection_reindex`)
		if err != nil {
			return items, unavailable(err)
		}
		tenants, err := pgx.CollectRows(rows, pgx.RowTo[library.TenantID])
		if err != nil || len(tenants) == 0 {
			return items, unavailable(err)
		}
		before := items
		for _, tenant := range tenants {
			n, err := c.reindexPage(ctx, tenant)
			items += n
			if err != nil {
				return items, err
			}
		}
		if items == before { // another process works on them
			return items, nil
		}
	}
}

// reindexPage sees to the next page of the oldest queued collection of a tenant that
// nobody else works on, and returns how many items it had.
func (c *Collections) reindexPage(ctx context.Context, tenant library.TenantID) (n int, err error) {
	actor := library.Actor{Kind: library.ActorSystem, ID: "collections", Tenant: tenant}
	_, err = c.s.Write(ctx, actor, func(t *Tx) error {
		n = 0
		var collection, after string
		err := t.QueryRow(ctx, `SELECT collection_h, after_item FROM collection_reindex WHERE tenant_id = $1 ORDER BY queued_at, collection_h LIMIT 1 FOR UPDATE SKIP LOCKED`, tenant).
			Scan(&collection, &after)
		if err == pgx.ErrNoRows {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err := t.Query(ctx, `SELECT item_id FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND item_id > $3 ORDER BY item_id LIMIT $4`,
			tenant, collection, after, flushRows)
		if err != nil {
			return err
		}
		items, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		if n = len(items) + 1; len(items) == 0 {
			_, err := t.Exec(ctx, `DELETE FROM collection_reindex WHERE tenant_id = $1 AND collection_h = $2`, tenant, collection)
			return err
		}
		if err := t.reindexAssets(ctx, "collections", items); err != nil {
			return err
		}
		_, err = t.Exec(ctx, `UPDATE collection_reindex SET after_item = $3 WHERE tenant_id = $1 AND collection_h = $2`, tenant, collection, items[len(items)-1])
		return err
	})
	return n, err
}

// QueuedForReindex returns how many collections wait for ReindexQueued.
func (c *Collections) QueuedForReindex(ctx context.Context) (n int, err error) {
	err = c.s.indexer.QueryRow(ctx, `SELECT count(*) FROM collection_reindex`).Scan(&n)
	return n, unavailable(err)
}
