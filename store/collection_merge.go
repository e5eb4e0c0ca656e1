package store

import (
	"context"
	"slices"

	"vitrine/library"
)

// maxMerged is how many items one merge changes.
const maxMerged = 20_000

// Choice chooses differences; one without items and kinds chooses all but the removal of
// what was added since the branch was made.
type Choice struct {
	Items []string         // the assets' hashes and the cards' ids; empty: any
	Kinds []DifferenceKind // empty: any
}

// take returns the differences that are chosen, and which of the items have none.
func (c Choice) take(list []Difference) (taken []Difference, without []string) {
	wanted := map[string]bool{}
	for _, id := range c.Items {
		wanted[id] = false
	}
	for _, d := range list {
		_, named := wanted[d.ID]
		switch {
		case len(c.Items) > 0 && !named, len(c.Kinds) > 0 && !slices.Contains(c.Kinds, d.Kind):
		case len(c.Items) == 0 && len(c.Kinds) == 0 && d.Since:
		default:
			taken = append(taken, d)
			wanted[d.ID] = true
		}
	}
	for _, id := range distinct(c.Items) {
		if !wanted[id] {
			without = append(without, id)
		}
	}
	return taken, without
}

// MergeChange is what a merge did.
type MergeChange struct {
	Collection  library.Collection // that was changed
	OperationID string
	Merged      []Difference
	Without     []string // items that were chosen and do not differ
}

// Merge makes a collection equal to another in the differences that are chosen; an empty
// into is the source of the other. What is added or moved comes behind the item that it
// follows in the other collection, as far as that is there; so after all differences are
// merged both have the same items in the same order. Members are as for Compare.
func (c *Collections) Merge(ctx context.Context, actor library.Actor, ref, into string, choice Choice, members map[library.CollectionHash][]library.AssetHash) (MergeChange, error) {
	var out MergeChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out, err = t.merge(ctx, ref, into, choice, members)
		return err
	})
	out.OperationID = id
	return out, err
}

func (t *Tx) merge(ctx context.Context, ref, into string, choice Choice, members map[library.CollectionHash][]library.AssetHash) (out MergeChange, err error) {
	from, to, err := comparedWith(ctx, t, t.actor, ref, into, "into")
	if err != nil {
		return out, err
	}
	if out.Collection, err = t.editable(ctx, string(to.Hash)); err != nil {
		return out, err
	}
	target, err := readItemList(ctx, t, t.actor, to)
	if err != nil {
		return out, err
	}
	var branch itemList
	if from.Smart() {
		branch = foundItems(members[from.Hash])
	} else if branch, err = readItemList(ctx, t, t.actor, from); err != nil {
		return out, err
	}
	branch = branch.shown()
	out.Merged, out.Without = choice.take(compareItems(target.shown(), branch, branchedAt(to, from)))
	if len(out.Merged) > maxMerged {
		return out, library.Invalid(library.FieldError{Field: "kinds", Code: "range", Message: "More than 20,000 differences were chosen.", Hint: "Merge some kinds, or some items, at a time."})
	}
	return out, t.applyMerge(ctx, to.Hash, planMerge(target, branch, out.Merged))
}

// mergePlan is what a merge writes.
type mergePlan struct {
	removed []string
	put     []listedItem // with their new ranks, roles and cards
}

// planMerge works out what makes the target equal to a branch in some differences.
func planMerge(target, branch itemList, chosen []Difference) (p mergePlan) {
	placed, gone, changed := map[string]bool{}, map[string]bool{}, map[string]listedItem{}
	at, in := target.byID(), branch.byID()
	for _, d := range chosen {
		switch d.Kind {
		case ItemRemoved:
			p.removed = append(p.removed, d.ID)
			gone[d.ID] = true
			continue
		case ItemAdded:
			changed[d.ID] = branch[in[d.ID]]
			placed[d.ID] = true
			continue
		}
		item, started := changed[d.ID]
		if !started {
			item = target[at[d.ID]]
		}
		switch d.Kind {
		case ItemMoved:
			placed[d.ID] = true
		case RoleChanged:
			item.Role = d.Is.Role
		case CardChanged:
			item.card = d.Is.card
		}
		changed[d.ID] = item
	}
	ranks := mergeRanks(slices.DeleteFunc(slices.Clone(target), func(i listedItem) bool { return gone[i.id] || placed[i.id] }), branch, placed)
	for _, d := range chosen {
		item, first := changed[d.ID]
		if !first {
			continue // of several differences of an item
		}
		if placed[d.ID] {
			item.rank = ranks[d.ID]
		}
		p.put = append(p.put, item)
		delete(changed, d.ID)
	}
	return p
}

// mergeRanks returns ranks for items that are placed among those that stay in a target,
// each behind the nearest item before it in the branch that the target has.
func mergeRanks(staying, branch itemList, placed map[string]bool) map[string]string {
	runs := map[string][]string{} // by the item they follow
	at, last := staying.byID(), ""
	for _, item := range branch {
		if _, stays := at[item.id]; stays {
			last = item.id
		} else if placed[item.id] {
			runs[last] = append(runs[last], item.id)
		}
	}
	ranks := make(map[string]string, len(placed))
	for after, run := range runs {
		lo, hi, next := "", "", 0
		if after != "" {
			lo, next = staying[at[after]].rank, at[after]+1
		}
		for next < len(staying) && staying[next].rank <= lo {
			next++
		}
		if next < len(staying) {
			hi = staying[next].rank
		}
		for i, rank := range library.Ranks(lo, hi, len(run)) {
			ranks[run[i]] = rank
		}
	}
	return ranks
}

// applyMerge writes what a merge changes, some hundred items at a time.
func (t *Tx) applyMerge(ctx context.Context, c library.CollectionHash, p mergePlan) error {
	const atOnce = 500
	for part := range slices.Chunk(p.removed, atOnce) {
		if err := t.removeItems(ctx, c, part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(p.put, atOnce) {
		if err := t.putItems(ctx, c, part); err != nil {
			return err
		}
	}
	if len(p.put) == 0 {
		return nil
	}
	var cards int
	if err := t.QueryRow(ctx, `SELECT count(*) FROM collection_items WHERE tenant_id = $1 AND collection_h = $2 AND card IS NOT NULL`, t.tenant(), c).Scan(&cards); err != nil {
		return err
	}
	return roomForCards(cards)
}

// putItems writes the rank, role and card of items of a collection.
func (t *Tx) putItems(ctx context.Context, c library.CollectionHash, items []listedItem) error {
	n := len(items)
	ids, keys, ranks, roles, cards := make([]string, n), make([]string, n), make([]string, n), make([]library.MemberRole, n), make([]string, n)
	var assets []string
	for i, item := range items {
		ids[i], keys[i], ranks[i], roles[i], cards[i] = item.id, itemKey(item.id, c), item.rank, item.Role, item.card
		if item.card == "" {
			assets = append(assets, item.id)
		}
	}
	if err := t.Track(ctx, collectionItemNoun, keys, func() error {
		_, err := t.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, card, rank, role, added_by)
			SELECT $1, $2, i, CASE WHEN c = '' THEN i END, nullif(c, '')::jsonb, r, o, $7 FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS x(i, c, r, o)
			ON CONFLICT (tenant_id, collection_h, item_id) DO UPDATE SET card = excluded.card, rank = excluded.rank, role = excluded.role`,
			t.tenant(), c, ids, cards, ranks, roles, t.actor.ID)
		return collectionError(err)
	}); err != nil {
		return err
	}
	if err := t.registerMembers(ctx, c, assets); err != nil {
		return err
	}
	return t.reindexAssets(ctx, "collections", assets)
}
