package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// collectionItemNoun is an asset or a text card in a collection; its key is the asset's
// hash, or the card's id, and collection_h. Assets come first, so that what happens to
// private ones is hidden like all else about them.
var collectionItemNoun = func() *Noun {
	n := rowNoun("collection_item", &rowTable{table: "collection_items", key: []string{"item_id", "collection_h"},
		columns: []string{"asset_h", "card", "rank", "role", "added_at", "added_by"}})
	n.event = func(before, after json.RawMessage) string {
		kind := "asset"
		var state struct {
			Card json.RawMessage `json:"card"`
		}
		for _, s := range []json.RawMessage{before, after} {
			if s != nil && json.Unmarshal(s, &state) == nil && len(state.Card) > 0 && string(state.Card) != "null" {
				kind = "card"
			}
		}
		switch {
		case before == nil:
			return "collection." + kind + "_added"
		case after == nil:
			return "collection." + kind + "_removed"
		}
		return "collection.item_changed"
	}
	n.events = []string{"collection.asset_added", "collection.asset_removed", "collection.card_added", "collection.card_removed", "collection.item_changed"}
	return n
}()

func init() { register(collectionItemNoun, undoRowsThen(reindexItems)) }

// itemKey is the key of an item in the journal.
func itemKey(item string, c library.CollectionHash) string { return item + "/" + string(c) }

// reindexItems makes the index look at the assets of changed items again.
func reindexItems(ctx context.Context, t *Tx, keys []string) error {
	hashes := make([]string, len(keys))
	for i, k := range keys {
		hashes[i], _, _ = strings.Cut(k, "/")
	}
	return t.reindexAssets(ctx, "collections", hashes)
}

// ItemsQuery chooses items of a collection.
type ItemsQuery struct {
	Nested  bool // with those of the collections below, collection by collection
	ByAdded bool // the last added first, rather than by position
	Limit   int
	Offset  int
}

// shown returns the condition that an item i is not an asset that is hidden.
func shown(caller string) string {
	return `NOT EXISTS (SELECT FROM assets h WHERE h.tenant_id = i.tenant_id AND h.asset_h = i.asset_h AND ` + hiddenAsset("h", caller) + `)`
}

// Items returns a page of the items of a collection that the actor sees, and how many
// there are.
func (c *Collections) Items(ctx context.Context, actor library.Actor, ref string, q ItemsQuery) (of library.Collection, list []library.CollectionItem, total int, err error) {
	err = c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) (err error) {
		if of, err = collectionIn(ctx, tx, actor.Tenant, ref, ""); err != nil {
			return err
		}
		members := `i.tenant_id = $1 AND i.collection_h = $2`
		args := []any{actor.Tenant, of.Hash, viewer(actor)}
		if q.Nested {
			members, args[1] = `i.tenant_id = $1 AND c.tenant_id = $1 AND c.deleted_at IS NULL AND (c.path = $2 OR `+below("c.path", "$2")+`)`, of.Path
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE `+members+` AND `+shown("$3"), args...).Scan(&total); err != nil {
			return err
		}
		if total <= q.Offset {
			return nil
		}
		list, err = readItems(ctx, tx, q.sql(members), args)
		return err
	})
	return of, list, total, err
}

// sql reads the page. Whole rows are read for the items of the page alone; the places
// of the others come from the index of ranks. Rows are numbered where they are in order:
// a join may return them in any.
func (q ItemsQuery) sql(members string) string {
	from := `FROM collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE ` + members + ` AND ` + shown("$3")
	limit := fmt.Sprintf(` LIMIT %d OFFSET %d`, q.Limit, q.Offset)
	page := `SELECT i.collection_h, i.item_id, c.path, row_number() OVER (ORDER BY i.rank, i.item_id) - 1 AS position, row_number() OVER (ORDER BY i.rank, i.item_id) AS ord ` +
		from + ` ORDER BY i.rank, i.item_id` + limit
	if q.Nested || q.ByAdded {
		order := `path, position`
		if q.ByAdded {
			order = `added_at DESC, path, position`
		}
		page = `SELECT collection_h, item_id, path, position, row_number() OVER (ORDER BY ` + order + `) AS ord FROM (
			SELECT i.collection_h, i.item_id, c.path, i.added_at, row_number() OVER (PARTITION BY i.collection_h ORDER BY i.rank, i.item_id) - 1 AS position ` + from + `) all_items
			ORDER BY ` + order + limit
	}
	return `SELECT p.path, p.position, i.item_id, i.role, i.added_at, i.added_by, i.card, ` + prefixedAssets + `
		FROM (` + page + `) p JOIN collection_items i ON i.tenant_id = $1 AND i.collection_h = p.collection_h AND i.item_id = p.item_id
		LEFT JOIN assets a ON a.tenant_id = $1 AND a.asset_h = i.asset_h ORDER BY p.ord`
}

// prefixedAssets lists what a list of items shows of an asset.
const prefixedAssets = `coalesce(a.asset_h, ''), coalesce(a.title, ''), coalesce(a.description, ''), coalesce(a.filename, ''), coalesce(a.mime_type, ''),
	coalesce(a.status, ''), coalesce(a.tags, '{}'), coalesce(a.owner, ''), coalesce(a.visibility, ''), coalesce(a.rating, 0), coalesce(a.favorite, false),
	coalesce(a.width, 0), coalesce(a.height, 0), coalesce(a.created_at, 'epoch')`

func readItems(ctx context.Context, tx pgx.Tx, sql string, args []any) ([]library.CollectionItem, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (i library.CollectionItem, err error) {
		a := library.Asset{Tenant: args[0].(library.TenantID)} //nolint:forcetypeassert // the statements' first parameter
		var card *library.TextCard
		err = row.Scan(&i.Path, &i.Position, &i.ID, &i.Role, &i.AddedAt, &i.AddedBy, &card, &a.Hash, &a.Title, &a.Description, &a.Filename, &a.MIMEType,
			&a.Status, &a.Tags, &a.Owner, &a.Visibility, &a.Rating, &a.Favorite, &a.Width, &a.Height, &a.CreatedAt)
		if i.Card = card; card == nil {
			i.Asset = &a
		}
		return i, err
	})
}

// NewItems are assets to put into a collection.
type NewItems struct {
	Assets   []library.AssetHash
	Position *int                // of the first, among the items that the actor sees; nil: behind all
	Role     *library.MemberRole // nil: none for new items, and as it is for others

	claimed bool // whoever adds them to an experiment registers them as runs
}

// ItemsChange is what a change of items did.
type ItemsChange struct {
	Collection  library.Collection
	OperationID string
	Added       []library.AssetHash
	Changed     []library.AssetHash // they were in it and got another place or role
	Unchanged   []library.AssetHash
	Missing     []library.AssetHash // not in this tenant, in the trash, or not the actor's to see; of a removal: not in the collection
}

// Add puts assets into a collection, in their order. Those that are in it already get the
// place and the role that are given.
func (c *Collections) Add(ctx context.Context, actor library.Actor, ref string, n NewItems) (ItemsChange, error) {
	var out ItemsChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out, err = t.addToCollection(ctx, ref, n)
		return err
	})
	out.OperationID = id
	return out, err
}

// CheckEditable returns an error where a collection is not there or its items cannot be
// changed. A write checks it again.
func (c *Collections) CheckEditable(ctx context.Context, actor library.Actor, ref string) error {
	return c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		of, err := collectionIn(ctx, tx, actor.Tenant, ref, "")
		if err != nil {
			return err
		}
		return refuseFixed(of)
	})
}

// refuseFixed refuses a collection whose items cannot be changed.
func refuseFixed(c library.Collection) error {
	switch {
	case c.Frozen:
		return frozenCollection(c.Path, nil)
	case c.Smart():
		return smartCollection(c.Path, nil)
	}
	return nil
}

// editable finds a collection whose items can be changed, and keeps others from
// changing them.
func (t *Tx) editable(ctx context.Context, ref string) (library.Collection, error) {
	c, err := collectionIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE`)
	if err == nil {
		err = refuseFixed(c)
	}
	return c, err
}

func (t *Tx) addToCollection(ctx context.Context, ref string, n NewItems) (out ItemsChange, err error) {
	if out.Collection, err = t.editable(ctx, ref); err != nil {
		return out, err
	}
	seen, err := t.seenAssets(ctx, n.Assets)
	if err != nil {
		return out, err
	}
	have, err := t.membersOf(ctx, out.Collection.Hash, n.Assets)
	if err != nil {
		return out, err
	}
	var placed, kept []library.AssetHash // those that get a new rank, and those that keep theirs
	for _, h := range distinct(n.Assets) {
		was, member := have[h]
		switch {
		case !seen[h]:
			out.Missing = append(out.Missing, h)
		case !member:
			out.Added, placed = append(out.Added, h), append(placed, h)
		case n.Position != nil:
			out.Changed, placed = append(out.Changed, h), append(placed, h)
		case n.Role != nil && *n.Role != was.role:
			out.Changed, kept = append(out.Changed, h), append(kept, h)
		default:
			out.Unchanged = append(out.Unchanged, h)
		}
	}
	if len(placed)+len(kept) == 0 {
		return out, nil
	}
	var ranks []string
	if len(placed) > 0 {
		if ranks, err = t.ranksAt(ctx, out.Collection.Hash, n.Position, texts(placed)); err != nil {
			return out, err
		}
	}
	for _, h := range kept {
		ranks = append(ranks, have[h].rank)
	}
	if err := t.putMembers(ctx, out.Collection.Hash, slices.Concat(placed, kept), ranks, have, n.Role); err != nil || n.claimed {
		return out, err
	}
	return out, t.registerMembers(ctx, out.Collection.Hash, texts(out.Added))
}

// texts returns hashes as texts.
func texts[T ~string](hashes []T) []string {
	list := make([]string, len(hashes))
	for i, h := range hashes {
		list[i] = string(h)
	}
	return list
}

// member is how an asset is in a collection.
type member struct {
	rank string
	role library.MemberRole
}

// putMembers writes the ranks and roles of assets in a collection.
func (t *Tx) putMembers(ctx context.Context, c library.CollectionHash, assets []library.AssetHash, ranks []string, have map[library.AssetHash]member, role *library.MemberRole) error {
	roles, keys, hashes := make([]library.MemberRole, len(assets)), make([]string, len(assets)), texts(assets)
	for i, h := range assets {
		roles[i], keys[i] = have[h].role, itemKey(string(h), c)
		if role != nil {
			roles[i] = *role
		}
	}
	if err := t.Track(ctx, collectionItemNoun, keys, func() error {
		_, err := t.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, role, added_by)
			SELECT $1, $2, h, h, r, o, $6 FROM unnest($3::text[], $4::text[], $5::text[]) AS x(h, r, o)
			ON CONFLICT (tenant_id, collection_h, item_id) DO UPDATE SET rank = excluded.rank, role = excluded.role`,
			t.tenant(), c, hashes, ranks, roles, t.actor.ID)
		return collectionError(err)
	}); err != nil {
		return err
	}
	return t.reindexAssets(ctx, "collections", hashes)
}

// seenAssets reports which assets are in the library outside the trash and are the
// actor's to see.
func (t *Tx) seenAssets(ctx context.Context, hashes []library.AssetHash) (map[library.AssetHash]bool, error) {
	rows, err := t.Query(ctx, existingAssets, t.tenant(), hashes, viewer(t.actor))
	if err != nil {
		return nil, err
	}
	return hashSet(rows)
}

func (t *Tx) membersOf(ctx context.Context, c library.CollectionHash, hashes []library.AssetHash) (map[library.AssetHash]member, error) {
	rows, err := t.Query(ctx, `SELECT item_id, rank, role FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND item_id = ANY($3)`, t.tenant(), c, hashes)
	if err != nil {
		return nil, err
	}
	have := map[library.AssetHash]member{}
	var h library.AssetHash
	var m member
	_, err = pgx.ForEachRow(rows, []any{&h, &m.rank, &m.role}, func() error {
		have[h] = m
		return nil
	})
	return have, err
}

// ranksAt returns ranks for items that are put at a position of a collection, which the
// caller holds; nil means behind all. The position does not count the items themselves.
func (t *Tx) ranksAt(ctx context.Context, c library.CollectionHash, position *int, items []string) ([]string, error) {
	var lo, hi string
	if position != nil {
		err := t.QueryRow(ctx, `SELECT i.rank FROM collection_items i WHERE i.tenant_id = $1 AND i.collection_h = $2 AND i.item_id <> ALL($4) AND `+shown("$3")+
			` ORDER BY i.rank, i.item_id LIMIT 1 OFFSET $5`, t.tenant(), c, viewer(t.actor), items, *position).Scan(&hi)
		if err != nil && err != pgx.ErrNoRows {
			return nil, err
		}
	}
	// Behind all: also behind items that are moved, so that a rank is never given twice.
	err := t.QueryRow(ctx, `SELECT coalesce(max(rank), '') FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND ($3 = '' OR rank < $3)`,
		t.tenant(), c, hi).Scan(&lo)
	return library.Ranks(lo, hi, len(items)), err
}

// Remove takes assets out of a collection. They stay in the library.
func (c *Collections) Remove(ctx context.Context, actor library.Actor, ref string, assets []library.AssetHash) (ItemsChange, error) {
	var out ItemsChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out, err = t.removeFromCollection(ctx, ref, assets)
		return err
	})
	out.OperationID = id
	return out, err
}

func (t *Tx) removeFromCollection(ctx context.Context, ref string, assets []library.AssetHash) (out ItemsChange, err error) {
	if out.Collection, err = t.editable(ctx, ref); err != nil {
		return out, err
	}
	have, err := t.membersOf(ctx, out.Collection.Hash, assets)
	if err != nil {
		return out, err
	}
	seen, err := t.seenAssets(ctx, assets)
	if err != nil {
		return out, err
	}
	var hashes []string
	for _, h := range distinct(assets) {
		if _, member := have[h]; !member || !seen[h] {
			out.Missing = append(out.Missing, h)
			continue
		}
		out.Changed = append(out.Changed, h)
		hashes = append(hashes, string(h))
	}
	return out, t.removeItems(ctx, out.Collection.Hash, hashes)
}

func (t *Tx) removeItems(ctx context.Context, c library.CollectionHash, items []string) error {
	if len(items) == 0 {
		return nil
	}
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = itemKey(item, c)
	}
	if err := t.Track(ctx, collectionItemNoun, keys, func() error {
		_, err := t.Exec(ctx, `DELETE FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND item_id = ANY($3)`, t.tenant(), c, items)
		return collectionError(err)
	}); err != nil {
		return err
	}
	return t.reindexAssets(ctx, "collections", items)
}
