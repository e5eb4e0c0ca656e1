package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// maxCompared is how many items a collection that is compared may have.
const maxCompared = 200_000

// DifferenceKind is how an item of a collection differs from another collection.
type DifferenceKind string

// The kinds of differences. An item may have several.
const (
	ItemAdded   DifferenceKind = "added"
	ItemRemoved DifferenceKind = "removed"
	ItemMoved   DifferenceKind = "moved"
	RoleChanged DifferenceKind = "role_changed"
	CardChanged DifferenceKind = "card_changed"
)

// DifferenceKinds lists the kinds in the order in which those of one item are listed.
var DifferenceKinds = []DifferenceKind{ItemAdded, ItemRemoved, ItemMoved, RoleChanged, CardChanged}

// Difference is one way in which a collection differs from the one that it is compared
// with.
type Difference struct {
	Kind DifferenceKind
	ID   string // the asset's hash, or the card's id
	// Was is the item in the collection that is compared with, Is in the other; nil where
	// it is not there.
	Was, Is *ItemState
	// Since reports that an item that was removed was added to the collection that is
	// compared with after one of the two was branched from the other: the other never had
	// it.
	Since bool
}

// ItemState is an item as a comparison sees it.
type ItemState struct {
	Position int // among the items that the actor sees, from 0
	Role     library.MemberRole
	Card     *library.TextCard // nil: an asset
	rank     string
	card     string // as the database writes it
	addedAt  time.Time
}

// Comparison is how a collection differs from another.
type Comparison struct {
	Collection, With library.Collection
	// Differences are those of the items of the collection in their order, then the items
	// that it does not have in the order of the other.
	Differences []Difference
}

// Compare compares the items of a collection that the actor sees with those of another;
// an empty other is the collection that it was branched from. Items are the same where
// the asset or the card's id is. Members are what smart collections hold, by collection.
func (c *Collections) Compare(ctx context.Context, actor library.Actor, ref, with string, members map[library.CollectionHash][]library.AssetHash) (out Comparison, err error) {
	err = c.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		if out.Collection, out.With, err = comparedWith(ctx, tx, actor, ref, with, "against"); err != nil {
			return err
		}
		var sides [2]itemList
		for i, of := range []library.Collection{out.With, out.Collection} {
			if of.Smart() {
				sides[i] = foundItems(members[of.Hash])
			} else if sides[i], err = readItemList(ctx, tx, actor, of); err != nil {
				return err
			}
		}
		out.Differences = compareItems(sides[0].shown(), sides[1].shown(), branchedAt(out.With, out.Collection))
		return nil
	})
	return out, err
}

// comparedWith finds two collections; an empty second is the source of the first. Field is
// the argument that names the second.
func comparedWith(ctx context.Context, tx pgx.Tx, actor library.Actor, ref, with, field string) (a, b library.Collection, err error) {
	if a, err = collectionIn(ctx, tx, actor.Tenant, ref, ""); err != nil {
		return a, b, err
	}
	if with == "" {
		if with = string(a.Source); with == "" {
			return a, b, notComparable(field, "This collection is no branch of another.", "Name the other collection.")
		}
	}
	if b, err = collectionIn(ctx, tx, actor.Tenant, with, ""); err == nil && a.Hash == b.Hash {
		err = notComparable(field, "A collection cannot be compared with itself.", "Name another collection.")
	}
	return a, b, err
}

// notComparable is the error of two collections that cannot be compared.
func notComparable(field, message, hint string) error {
	return &library.Error{Kind: library.KindConflict, Code: library.CodeConflict, Detail: message + " " + hint,
		Fields: []library.FieldError{{Field: field, Code: "conflict", Message: message, Hint: hint}}}
}

// branchedAt is when one of two collections was branched from the other; the zero time
// when neither was.
func branchedAt(a, b library.Collection) time.Time {
	switch {
	case a.Source == b.Hash:
		return a.CreatedAt
	case b.Source == a.Hash:
		return b.CreatedAt
	}
	return time.Time{}
}

// listedItem is an item in an itemList.
type listedItem struct {
	id     string
	hidden bool // from the actor
	ItemState
}

// itemList is the items of a collection in order.
type itemList []listedItem

// foundItems are assets that a search found.
func foundItems(hashes []library.AssetHash) itemList {
	list := make(itemList, len(hashes))
	for i, h := range hashes {
		list[i] = listedItem{id: string(h), ItemState: ItemState{Position: i}}
	}
	return list
}

// readItemList reads the items of a collection, those that the actor does not see
// included: they have no position.
func readItemList(ctx context.Context, tx pgx.Tx, actor library.Actor, of library.Collection) (itemList, error) {
	rows, err := tx.Query(ctx, `SELECT i.item_id, NOT `+shown("$3")+`, i.role, i.card, coalesce(i.card::text, ''), i.rank, i.added_at FROM collection_items i
		WHERE i.tenant_id = $1 AND i.collection_h = $2 ORDER BY i.rank, i.item_id LIMIT $4`, actor.Tenant, of.Hash, viewer(actor), maxCompared+1)
	if err != nil {
		return nil, err
	}
	position := 0
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (i listedItem, err error) {
		err = row.Scan(&i.id, &i.hidden, &i.Role, &i.Card, &i.card, &i.rank, &i.addedAt)
		if i.Position = position; !i.hidden {
			position++
		}
		return i, err
	})
	if err == nil && len(list) > maxCompared {
		err = library.NewError(library.KindConflict, library.CodeConflict, "The collection %s has more than %d assets and text cards, too many to be compared.", of.Path, maxCompared)
	}
	return list, err
}

// shown returns the items that the actor sees.
func (l itemList) shown() itemList {
	return slices.DeleteFunc(slices.Clone(l), func(i listedItem) bool { return i.hidden })
}

func (l itemList) ids() []string {
	ids := make([]string, len(l))
	for i, item := range l {
		ids[i] = item.id
	}
	return ids
}

// byID returns where the items are in the list.
func (l itemList) byID() map[string]int {
	at := make(map[string]int, len(l))
	for i, item := range l {
		at[item.id] = i
	}
	return at
}

// compareItems returns how items differ from what they were.
func compareItems(was, is itemList, branched time.Time) []Difference {
	moved := map[string]bool{}
	for _, id := range library.Moved(was.ids(), is.ids()) {
		moved[id] = true
	}
	before, now := was.byID(), is.byID()
	var list []Difference
	for i := range is {
		add := func(kind DifferenceKind, old *ItemState) {
			list = append(list, Difference{Kind: kind, ID: is[i].id, Was: old, Is: &is[i].ItemState})
		}
		at, had := before[is[i].id]
		if !had {
			add(ItemAdded, nil)
			continue
		}
		old := &was[at].ItemState
		if moved[is[i].id] {
			add(ItemMoved, old)
		}
		if old.Role != is[i].Role {
			add(RoleChanged, old)
		}
		if old.card != is[i].card {
			add(CardChanged, old)
		}
	}
	for i := range was {
		if _, has := now[was[i].id]; !has {
			list = append(list, Difference{Kind: ItemRemoved, ID: was[i].id, Was: &was[i].ItemState, Since: !branched.IsZero() && was[i].addedAt.After(branched)})
		}
	}
	return list
}
