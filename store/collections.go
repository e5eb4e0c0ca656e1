package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Collections is the tree of collections with their assets and text cards.
type Collections struct{ s *Store }

// collectionNoun is a collection; its key is collection_h. What is deleted stays in the
// trash, so that undoing brings its items back with it. Undoing the move of a collection
// takes all below it along, for paths are no part of the journal: they follow from
// parents and names.
var collectionNoun = rowNoun("collection", &rowTable{table: "collections", key: []string{"collection_h"}, label: "display_name", touched: "updated_at", trash: "deleted_at",
	columns: []string{"parent_h", "name", "display_name", "description", "icon", "color", "branch_type", "source_h", "snapshot_label",
		"saved_search_id", "frozen", "created_at", "created_by", "deleted_at"}}).trashed("deleted_at", "created", "updated", "trashed", "restored")

func init() { register(collectionNoun, undoCollections) }

const collectionColumns = `c.collection_h, coalesce(c.parent_h, ''), c.path, c.name, c.display_name, c.description, c.icon, c.color, c.branch_type,
	coalesce(c.source_h, ''), coalesce(c.snapshot_label, ''), coalesce(c.saved_search_id, ''), c.frozen, c.created_at, c.created_by, c.updated_at`

func collectionFields(c *library.Collection) []any {
	return []any{&c.Hash, &c.Parent, &c.Path, &c.Name, &c.DisplayName, &c.Description, &c.Icon, &c.Color, &c.Branch,
		&c.Source, &c.SnapshotLabel, &c.SavedSearch, &c.Frozen, &c.CreatedAt, &c.CreatedBy, &c.UpdatedAt}
}

func scanCollection(row pgx.CollectableRow) (c library.Collection, err error) {
	err = row.Scan(collectionFields(&c)...)
	return c, err
}

// newHash makes the identity of a new collection or text card: 40 random hex digits.
func newHash() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// findCollection selects the collection that $2 names, by path or by collection_h.
const findCollection = `SELECT ` + collectionColumns + ` FROM collections c
	WHERE c.tenant_id = $1 AND (c.path = $2 OR c.collection_h = $2) AND c.deleted_at IS NULL ORDER BY c.collection_h = $2 DESC LIMIT 1`

// collectionIn finds a collection by path or collection_h; lock is a locking clause or
// empty.
func collectionIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, ref, lock string) (library.Collection, error) {
	rows, err := tx.Query(ctx, findCollection+lock, tenant, library.CollectionPath(ref))
	if err != nil {
		return library.Collection{}, err
	}
	c, err := pgx.CollectExactlyOneRow(rows, scanCollection)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, library.NotFound("collection")
	}
	return c, err
}

// Get returns the collection that a path or a collection_h names; a not-found error when
// there is none. With counts it has the numbers of its items.
func (c *Collections) Get(ctx context.Context, actor library.Actor, ref string, counts bool) (out CollectionEntry, err error) {
	err = c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		found, err := collectionIn(ctx, tx, actor.Tenant, ref, "")
		if err != nil {
			return err
		}
		list := []CollectionEntry{{Collection: found}}
		if counts {
			err = countItems(ctx, tx, actor, list)
		}
		out = list[0]
		return err
	})
	return out, err
}

// pathsOfAsset reads the paths of the collections that asset $2 is in.
const pathsOfAsset = `SELECT c.path FROM collection_items i JOIN collections c USING (tenant_id, collection_h)
	WHERE i.tenant_id = $1 AND i.asset_h = $2 AND c.deleted_at IS NULL ORDER BY c.path`

// lockTree makes changes of the tree's shape wait for each other. What changes parents,
// names or deletions takes it before it locks rows, as the triggers do after.
func (t *Tx) lockTree(ctx context.Context) error {
	_, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('collections' || $1, 0))`, string(t.tenant()))
	return err
}

// below returns the condition that a collection's path is below a path parameter.
func below(column, path string) string {
	return fmt.Sprintf(`(%[1]s > %[2]s || '.' AND %[1]s < %[2]s || '/')`, column, path)
}

// CollectionEntry is a collection in a list.
type CollectionEntry struct {
	library.Collection
	Assets int64 // that the actor sees, without those of collections below
	Cards  int64
}

// List returns the collections below a parent, or all for an empty one, parents before
// what is below them, and how many there are. Depth bounds the levels, counting from the
// first below the parent. With counts each has the numbers of its items.
func (c *Collections) List(ctx context.Context, actor library.Actor, parent string, depth int, counts bool, limit, offset int) (list []CollectionEntry, total int, err error) {
	err = c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		where, args := `c.tenant_id = $1 AND c.deleted_at IS NULL AND nlevel(c.tree) <= $2`, []any{actor.Tenant, depth}
		if parent != "" {
			p, err := collectionIn(ctx, tx, actor.Tenant, parent, "")
			if err != nil {
				return err
			}
			where += ` AND ` + below("c.path", "$3")
			args = []any{actor.Tenant, depth + p.Depth(), p.Path}
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM collections c WHERE `+where, args...).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+collectionColumns+` FROM collections c WHERE `+where+
			fmt.Sprintf(` ORDER BY c.path LIMIT %d OFFSET %d`, limit, offset), args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e CollectionEntry, err error) {
			e.Collection, err = scanCollection(row)
			return e, err
		})
		if err != nil || !counts {
			return err
		}
		return countItems(ctx, tx, actor, list)
	})
	return list, total, err
}

// hiddenAsset returns the condition under which an asset a is not shown in a
// collection: it is in the trash, or private and not the caller's to see. Its first half
// is the condition of the index assets_hidden.
func hiddenAsset(row, caller string) string {
	return `(` + row + `.trashed_at IS NOT NULL OR ` + row + `.visibility = 'private') AND (` + row + `.trashed_at IS NOT NULL OR NOT ` + visibleTo(row, caller) + `)`
}

// countItems fills in how many assets and cards collections have: all that there are,
// less those that are hidden, which are few.
func countItems(ctx context.Context, tx pgx.Tx, actor library.Actor, list []CollectionEntry) error {
	place := make(map[string]int, len(list))
	hashes := make([]string, len(list))
	for i, e := range list {
		hashes[i], place[string(e.Hash)] = string(e.Hash), i
	}
	rows, err := tx.Query(ctx, `SELECT collection_h, sum(assets)::bigint, sum(cards)::bigint FROM (
			SELECT collection_h, count(asset_h) AS assets, count(*) - count(asset_h) AS cards FROM collection_items
			WHERE tenant_id = $1 AND collection_h = ANY($2) GROUP BY collection_h
			UNION ALL
			SELECT i.collection_h, -count(*), 0 FROM assets a JOIN collection_items i ON i.tenant_id = a.tenant_id AND i.asset_h = a.asset_h
			WHERE a.tenant_id = $1 AND i.tenant_id = $1 AND `+hiddenAsset("a", "$3")+` GROUP BY i.collection_h) n
		WHERE collection_h = ANY($2) GROUP BY collection_h`, actor.Tenant, hashes, viewer(actor))
	if err != nil {
		return err
	}
	var hash string
	var assets, cards int64
	_, err = pgx.ForEachRow(rows, []any{&hash, &assets, &cards}, func() error {
		list[place[hash]].Assets, list[place[hash]].Cards = assets, cards
		return nil
	})
	return err
}
