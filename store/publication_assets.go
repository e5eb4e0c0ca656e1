package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// OfAsset returns the publications on which an asset can be seen, the latest first, the paths of all
// collections that it is in, and whether it is private: then it can be seen on none.
func (ps *Publications) OfAsset(ctx context.Context, actor library.Actor, hash library.AssetHash) (list []library.Publication, paths []string, private bool, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT visibility = 'private' FROM assets WHERE tenant_id = $1 AND asset_h = $2 AND trashed_at IS NULL AND `+visibleTo("assets", "$3"), actor.Tenant, hash, viewer(actor)).Scan(&private)
		if errors.Is(err, pgx.ErrNoRows) {
			return library.NotFound("asset")
		}
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, pathsOfAsset, actor.Tenant, hash)
		if err == nil {
			paths, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		if err != nil || private {
			return err
		}
		rows, err = tx.Query(ctx, `SELECT `+publicationColumns+fromPublications+`AND (p.asset_hs @> ARRAY[$2::text]
				OR EXISTS (SELECT FROM collection_items i WHERE i.tenant_id = $1 AND i.collection_h = p.collection_h AND i.asset_h = $2))
			AND p.unpublished_at IS NULL AND (p.expires_at IS NULL OR p.expires_at > now()) ORDER BY p.collection_h IS NULL, p.published_at DESC, p.publication_id`, actor.Tenant, hash)
		if err == nil {
			list, err = pgx.CollectRows(rows, scanPublication)
		}
		return err
	})
	return list, paths, private, err
}

// PublishedAsset is an asset as a published page shows it.
type PublishedAsset struct {
	Lineage library.Lineage // without its workflow graphs
	Asset   library.Asset   // its title, type, size and metadata
}

// itemsOf returns a query of the assets of a publication, with their order as a and b, and its
// argument $2.
func itemsOf(p library.Publication) (string, any) {
	if p.Collection == "" || p.Snapshot {
		return `SELECT asset_h, ord AS a, '' AS b FROM unnest($2::text[]) WITH ORDINALITY AS x(asset_h, ord)`, p.Shared
	}
	return `SELECT asset_h, rank AS a, item_id AS b FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND asset_h IS NOT NULL`, p.Collection
}

// onPage is the condition that a published page shows an asset a: it is neither private nor in the
// trash.
const onPage = ` JOIN assets a ON a.tenant_id = $1 AND a.asset_h = i.asset_h AND ` + shownToVisitors

const shownToVisitors = `a.trashed_at IS NULL AND a.visibility <> 'private' `

// Hashes returns a page of the assets that a publication shows, in their order, and how many there are.
func (ps *Publications) Hashes(ctx context.Context, p library.Publication, limit, offset int) (list []library.AssetHash, total int, err error) {
	err = ps.s.inTenant(ctx, p.Tenant, func(tx pgx.Tx) error {
		items, arg := itemsOf(p)
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM (`+items+`) i`+onPage, p.Tenant, arg).Scan(&total); err != nil || total <= offset {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT i.asset_h FROM (`+items+`) i`+onPage+`ORDER BY i.a, i.b LIMIT $3 OFFSET $4`, p.Tenant, arg, limit, offset)
		if err == nil {
			list, err = pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
		}
		return err
	})
	return list, total, err
}

// Assets returns those of some assets that a publication shows.
func (ps *Publications) Assets(ctx context.Context, p library.Publication, among []library.AssetHash) (list map[library.AssetHash]PublishedAsset, err error) {
	list = make(map[library.AssetHash]PublishedAsset, len(among))
	items, arg := itemsOf(p)
	err = ps.s.readTenant(ctx, p.Tenant, `SELECT a.asset_h, a.title, a.mime_type, a.size, a.width, a.height, a.filename, a.visibility, a.metadata, l.doc
		FROM (`+items+`) i`+onPage+`LEFT JOIN lineage l ON l.tenant_id = $1 AND l.asset_h = a.asset_h WHERE i.asset_h = ANY($3)`,
		[]any{p.Tenant, arg, among}, func(rows pgx.Rows) error {
			_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (x PublishedAsset, err error) {
				var lineage *library.Lineage
				a := &x.Asset
				err = row.Scan(&a.Hash, &a.Title, &a.MIMEType, &a.Size, &a.Width, &a.Height, &a.Filename, &a.Visibility, (*pg.ExactObject)(&a.Metadata), &lineage)
				if a.Tenant = p.Tenant; lineage != nil {
					x.Lineage = *lineage
				}
				list[a.Hash] = x
				return x, err
			})
			return err
		})
	return list, err
}
