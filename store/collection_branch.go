package store

import (
	"context"
	"fmt"
	"time"

	"vitrine/library"
)

// NewBranch is how a collection is branched.
type NewBranch struct {
	Name          string // empty: the source's, the type and the time
	DisplayName   string // empty: the name
	Type          library.BranchType
	SnapshotLabel string
	// Members are what a smart collection holds, which its saved search knows; nil for
	// others, whose items are copied.
	Members []library.AssetHash
}

// Branch copies a collection, without those below it, to a sibling: the assets that the
// actor sees, the cards, the roles and the order, in one statement. A snapshot is frozen
// then. Undoing it deletes the branch.
func (c *Collections) Branch(ctx context.Context, actor library.Actor, ref string, n NewBranch) (CollectionChange, error) {
	var out CollectionChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) error {
		out = CollectionChange{Collections: 1}
		if err := t.lockTree(ctx); err != nil {
			return err
		}
		if err := t.roomForCollection(ctx); err != nil {
			return err
		}
		source, err := collectionIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE`)
		if err != nil {
			return err
		}
		branch, err := t.branchOf(ctx, source, n)
		if err != nil {
			return err
		}
		if err := t.Track(ctx, collectionNoun, []string{string(branch.Hash)}, func() error {
			return t.fillBranch(ctx, source, branch, n, &out)
		}); err != nil {
			return err
		}
		out.Pending, err = t.reindexMembers(ctx, []string{string(branch.Hash)})
		return err
	})
	out.OperationID = id
	return out, err
}

// branchOf returns the collection that a branch is to be.
func (t *Tx) branchOf(ctx context.Context, source library.Collection, n NewBranch) (library.Collection, error) {
	b := library.Collection{Hash: library.CollectionHash(newHash()), DisplayName: n.DisplayName, Description: source.Description, Icon: source.Icon, Color: source.Color,
		Branch: n.Type, Source: source.Hash, SnapshotLabel: n.SnapshotLabel}
	if n.SnapshotLabel != "" {
		var taken bool
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM collections WHERE tenant_id = $1 AND source_h = $2 AND snapshot_label = $3 AND deleted_at IS NULL)`,
			t.tenant(), source.Hash, n.SnapshotLabel).Scan(&taken); err != nil {
			return b, err
		}
		if taken {
			return b, labelTaken(nil)
		}
	}
	generated := n.Name == ""
	if generated {
		now := time.Now().UTC()
		n.Name = library.CollectionLabel(fmt.Sprintf("%.60s%s%s", source.Name, string(n.Type), now.Format("20060102150405")))
		if b.DisplayName == "" {
			b.DisplayName = fmt.Sprintf("%s (%s, %s)", source.DisplayName, n.Type, now.Format("2006-01-02 15:04:05"))
		}
	}
	for try := n.Name; ; {
		parent, path, err := t.checkPlacement(ctx, library.Collection{}, placement{parent: string(source.Parent), name: try, parentField: "source_path", nameField: "new_name"})
		if generated && library.AsError(err).Code == library.CodeNameTaken { // two in a second
			try = n.Name + newHash()[:4]
			continue
		}
		b.Name, b.Parent, b.Path = try, parent, path
		return b, err
	}
}

// fillBranch writes a branch and what is in it.
func (t *Tx) fillBranch(ctx context.Context, source, branch library.Collection, n NewBranch, out *CollectionChange) (err error) {
	if out.Collection, err = t.insertCollection(ctx, branch); err != nil {
		return err
	}
	if source.Smart() {
		seen, err := t.seenAssets(ctx, n.Members)
		if err != nil {
			return err
		}
		var hashes []string
		for _, h := range distinct(n.Members) {
			if seen[h] {
				hashes = append(hashes, string(h))
			}
		}
		tag, err := t.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, added_by)
			SELECT $1, $2, h, h, r, $5 FROM unnest($3::text[], $4::text[]) AS x(h, r)`, t.tenant(), branch.Hash, hashes, library.Ranks("", "", len(hashes)), t.actor.ID)
		if err != nil {
			return err
		}
		out.Items = tag.RowsAffected()
	} else {
		tag, err := t.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, card, rank, role, added_at, added_by)
			SELECT i.tenant_id, $3, i.item_id, i.asset_h, i.card, i.rank, i.role, i.added_at, i.added_by FROM collection_items i
			WHERE i.tenant_id = $1 AND i.collection_h = $2 AND `+shown("$4"), t.tenant(), source.Hash, branch.Hash, viewer(t.actor))
		if err != nil {
			return err
		}
		out.Items = tag.RowsAffected()
	}
	if branch.Branch != library.BranchSnapshot {
		return nil
	}
	_, err = t.Exec(ctx, `UPDATE collections SET frozen = true WHERE tenant_id = $1 AND collection_h = $2`, t.tenant(), branch.Hash)
	out.Frozen = true
	return collectionError(err)
}
