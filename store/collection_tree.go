package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/library"
)

// CollectionChange is what a change of the tree did.
type CollectionChange struct {
	library.Collection        // as it is now
	OperationID        string // empty when nothing changed
	Collections        int    // how many were created, moved or deleted: it and all below it; 0 where the path stays
	Items              int64  // assets and cards that were copied
	// Pending reports that there are so many assets that the index looks at them in the
	// background: searches find them where they were until then.
	Pending bool
}

// placement is where a collection is to be: below a parent, under a name.
type placement struct {
	parent                 string // path or collection_h; empty: a root
	name                   string // the label
	parentField, nameField string // the arguments that say so, for errors
}

// checkPlacement checks that a collection can be at a place and returns the parent, empty for a
// root, and the path. The caller holds the tree's lock. Moved is the collection that
// moves there with all below it; it has no hash when it is new.
func (t *Tx) checkPlacement(ctx context.Context, moved library.Collection, at placement) (parent library.CollectionHash, path string, err error) {
	path = at.name
	depth := 1
	if at.parent != "" {
		p, err := collectionIn(ctx, t, t.tenant(), at.parent, "")
		if err != nil {
			return "", "", err
		}
		if moved.Hash != "" && strings.HasPrefix(p.Path+".", moved.Path+".") {
			return "", "", library.Invalid(library.FieldError{Field: at.parentField, Code: "conflict", Message: "A collection cannot be below itself.",
				Hint: "Choose a parent that is not the collection itself and not below it."})
		}
		parent, path, depth = p.Hash, p.Path+"."+at.name, p.Depth()+1
	}
	height := 0
	if moved.Hash != "" {
		if err := t.QueryRow(ctx, `SELECT coalesce(max(nlevel(tree)), $3) - $3 FROM collections WHERE tenant_id = $1 AND deleted_at IS NULL AND `+below("path", "$2"),
			t.tenant(), moved.Path, moved.Depth()).Scan(&height); err != nil {
			return "", "", err
		}
	}
	if depth+height > library.MaxCollectionDepth {
		return "", "", library.Invalid(library.FieldError{Field: at.parentField, Code: "range",
			Message: fmt.Sprintf("Collections have at most %d levels, and this would make %d.", library.MaxCollectionDepth, depth+height), Hint: "Choose a parent nearer to the root."})
	}
	return parent, path, t.free(ctx, moved.Hash, path, at)
}

// free refuses a path that another collection has, and names one that is free.
func (t *Tx) free(ctx context.Context, self library.CollectionHash, path string, at placement) error {
	rows, err := t.Query(ctx, `SELECT path FROM collections WHERE tenant_id = $1 AND deleted_at IS NULL AND path >= $2 AND path < $2 || ':' AND collection_h <> $3`,
		t.tenant(), path, self)
	if err != nil {
		return err
	}
	taken, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Contains(taken, path) {
		return err
	}
	above := strings.TrimSuffix(path, at.name)
	for n := 2; ; n++ {
		number := strconv.Itoa(n)
		base := at.name[:min(len(at.name), library.MaxCollectionName-len(number))]
		other := above + base + number
		used := slices.Contains(taken, other)
		if base != at.name { // it is shorter than what was read
			if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM collections WHERE tenant_id = $1 AND deleted_at IS NULL AND path = $2)`, t.tenant(), other).Scan(&used); err != nil {
				return err
			}
		}
		if !used {
			return &library.Error{Kind: library.KindConflict, Code: library.CodeNameTaken,
				Detail: "Another collection has the path " + path + ". Free is " + other + ".",
				Fields: []library.FieldError{{Field: at.nameField, Code: "conflict", Message: "Collections of one parent have different names.", Hint: "Use " + base + number + ", or use the collection that is there."}}}
		}
	}
}

// Create makes a collection below a parent, which a path or a collection_h names; an
// empty one makes a root. Of n the label, the texts and the saved search count.
func (c *Collections) Create(ctx context.Context, actor library.Actor, n library.Collection, parent string) (CollectionChange, error) {
	var out CollectionChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out.Collections = 1
		out.Collection, err = t.createCollection(ctx, n, placement{parent: parent, name: n.Name, parentField: "parent_path", nameField: "name"})
		return err
	})
	out.OperationID = id
	return out, err
}

// createCollection makes a collection at a place.
func (t *Tx) createCollection(ctx context.Context, n library.Collection, place placement) (library.Collection, error) {
	if err := t.lockTree(ctx); err != nil {
		return n, err
	}
	if err := t.roomForCollection(ctx); err != nil {
		return n, err
	}
	at, path, err := t.checkPlacement(ctx, library.Collection{}, place)
	if err != nil {
		return n, err
	}
	n.Hash, n.Parent, n.Path = library.CollectionHash(newHash()), at, path
	err = t.Track(ctx, collectionNoun, []string{string(n.Hash)}, func() error {
		n, err = t.insertCollection(ctx, n)
		return err
	})
	return n, err
}

// roomForCollection refuses a collection too many.
func (t *Tx) roomForCollection(ctx context.Context) error {
	var have int
	if err := t.QueryRow(ctx, `SELECT count(*) FROM collections WHERE tenant_id = $1 AND deleted_at IS NULL`, t.tenant()).Scan(&have); err != nil {
		return err
	}
	if have >= library.MaxCollections {
		return library.NewError(library.KindConflict, library.CodeConflict, "This tenant has %d collections, the maximum. Delete one first.", library.MaxCollections)
	}
	return nil
}

func (t *Tx) insertCollection(ctx context.Context, n library.Collection) (library.Collection, error) {
	rows, err := t.Query(ctx, `INSERT INTO collections AS c (tenant_id, collection_h, parent_h, name, path, display_name, description, icon, color, branch_type, source_h,
			snapshot_label, saved_search_id, created_by)
		VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, nullif($11, ''), nullif($12, ''), nullif($13, ''), $14) RETURNING `+collectionColumns,
		t.tenant(), n.Hash, n.Parent, n.Name, n.Path, n.DisplayName, n.Description, n.Icon, n.Color, n.Branch, n.Source, n.SnapshotLabel, n.SavedSearch, t.actor.ID)
	if err != nil {
		return n, err
	}
	n, err = pgx.CollectExactlyOneRow(rows, scanCollection)
	return n, collectionError(err)
}

// Change changes the texts, the label and the saved search of a collection by a function
// of what it is. A new label moves all below it.
func (c *Collections) Change(ctx context.Context, actor library.Actor, ref string, change func(*library.Collection) error) (CollectionChange, error) {
	return c.changeOne(ctx, actor, ref, func(t *Tx, now library.Collection) (library.Collection, error) {
		next := now
		if err := change(&next); err != nil || next.Name == now.Name {
			return next, err
		}
		_, _, err := t.checkPlacement(ctx, now, placement{parent: string(now.Parent), name: next.Name, parentField: "name", nameField: "name"})
		return next, err
	})
}

// Move moves a collection with all below it to a parent, which a path or a collection_h
// names; an empty one makes it a root.
func (c *Collections) Move(ctx context.Context, actor library.Actor, ref, parent string) (CollectionChange, error) {
	return c.changeOne(ctx, actor, ref, func(t *Tx, now library.Collection) (next library.Collection, err error) {
		next = now
		next.Parent, _, err = t.checkPlacement(ctx, now, placement{parent: parent, name: now.Name, parentField: "new_parent_path", nameField: "new_parent_path"})
		return next, err
	})
}

// changeOne changes one collection to what next returns, and lets the index look at the
// assets below it when its path changed.
func (c *Collections) changeOne(ctx context.Context, actor library.Actor, ref string, next func(*Tx, library.Collection) (library.Collection, error)) (CollectionChange, error) {
	var out CollectionChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) error {
		out = CollectionChange{}
		if err := t.lockTree(ctx); err != nil {
			return err
		}
		now, err := collectionIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE`)
		if err != nil {
			return err
		}
		if err := t.call.Check(now.UpdatedAt.UnixMicro()); err != nil {
			return err
		}
		want, err := next(t, now)
		if err != nil {
			return err
		}
		if err := t.Track(ctx, collectionNoun, []string{string(now.Hash)}, func() error {
			out.Collection, err = t.updateCollection(ctx, want)
			return err
		}); err != nil {
			return err
		}
		if out.Path == now.Path {
			return nil
		}
		all, err := t.subtree(ctx, out.Path)
		if err != nil {
			return err
		}
		out.Collections = len(all)
		out.Pending, err = t.reindexMembers(ctx, all)
		return err
	})
	out.OperationID = id
	return out, err
}

func (t *Tx) updateCollection(ctx context.Context, n library.Collection) (library.Collection, error) {
	rows, err := t.Query(ctx, `UPDATE collections c SET parent_h = nullif($3, ''), name = $4, display_name = $5, description = $6, icon = $7, color = $8,
			saved_search_id = nullif($9, ''), updated_at = now()
		WHERE c.tenant_id = $1 AND c.collection_h = $2 RETURNING `+collectionColumns,
		t.tenant(), n.Hash, n.Parent, n.Name, n.DisplayName, n.Description, n.Icon, n.Color, n.SavedSearch)
	if err != nil {
		return n, err
	}
	n, err = pgx.CollectExactlyOneRow(rows, scanCollection)
	return n, collectionError(err)
}

// subtree lists a collection and all below it, those below first.
func (t *Tx) subtree(ctx context.Context, path string) ([]string, error) {
	rows, err := t.Query(ctx, `SELECT collection_h FROM collections WHERE tenant_id = $1 AND deleted_at IS NULL AND (path = $2 OR `+below("path", "$2")+`) ORDER BY path DESC`,
		t.tenant(), path)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Delete moves a collection and all below it to the trash. The assets stay in the
// library, and undoing brings the collections back with all that is in them.
func (c *Collections) Delete(ctx context.Context, actor library.Actor, ref string) (CollectionChange, error) {
	var out CollectionChange
	id, err := c.s.Write(ctx, actor, func(t *Tx) (err error) {
		out = CollectionChange{}
		if err := t.lockTree(ctx); err != nil {
			return err
		}
		if out.Collection, err = collectionIn(ctx, t, t.tenant(), ref, ` FOR NO KEY UPDATE`); err != nil {
			return err
		}
		if err := t.call.Check(out.UpdatedAt.UnixMicro()); err != nil {
			return err
		}
		all, err := t.subtree(ctx, out.Path)
		if err != nil {
			return err
		}
		if err := t.Track(ctx, collectionNoun, all, func() error {
			_, err := t.Exec(ctx, `UPDATE collections SET deleted_at = now(), updated_at = now() WHERE tenant_id = $1 AND collection_h = ANY($2)`, t.tenant(), all)
			return err
		}); err != nil {
			return err
		}
		out.Collections = len(all)
		out.Pending, err = t.reindexMembers(ctx, all)
		return err
	})
	out.OperationID = id
	return out, err
}

// undoCollections undoes changes of collections, whose paths and whose members' documents
// follow.
func undoCollections(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
	if err := t.lockTree(ctx); err != nil {
		return nil, err
	}
	return undoRowsThen(func(ctx context.Context, t *Tx, keys []string) error {
		rows, err := t.Query(ctx, `SELECT DISTINCT b.collection_h FROM collections c JOIN collections b ON b.tenant_id = c.tenant_id
				AND (b.collection_h = c.collection_h OR b.deleted_at IS NULL AND c.deleted_at IS NULL AND `+below("b.path", "c.path")+`)
			WHERE c.tenant_id = $1 AND c.collection_h = ANY($2)`, t.tenant(), keys)
		if err != nil {
			return err
		}
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		_, err = t.reindexMembers(ctx, all)
		return err
	})(ctx, t, n, entries)
}

// collectionError turns what the database refuses into an error that says what is
// allowed. The same is looked at before, so only a defect or a race comes here.
func collectionError(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.ConstraintName {
	case "collections_path":
		return &library.Error{Kind: library.KindConflict, Code: library.CodeNameTaken, Detail: "Another collection has this path. Choose another name.", Cause: err}
	case "collections_depth":
		return library.Invalid(library.FieldError{Field: "parent_path", Code: "range", Message: fmt.Sprintf("Collections have at most %d levels.", library.MaxCollectionDepth)})
	case "collections_snapshot_label":
		return labelTaken(err)
	case "collection_items_frozen", "collections_frozen":
		return frozenCollection("", err)
	case "collection_items_smart":
		return smartCollection("", err)
	}
	return err
}

func labelTaken(cause error) error {
	return &library.Error{Kind: library.KindConflict, Code: library.CodeNameTaken, Cause: cause, Detail: "Another snapshot of this collection has this label. Choose another snapshot_label.",
		Fields: []library.FieldError{{Field: "snapshot_label", Code: "conflict", Message: "Snapshots of one collection have different labels."}}}
}

func frozenCollection(path string, cause error) error {
	return &library.Error{Kind: library.KindConflict, Code: library.CodeFrozen, Cause: cause,
		Detail: strings.TrimSpace("The collection "+path) + " is a snapshot: its assets and cards cannot be changed. Branch it with branch_type branch and change the branch."}
}

func smartCollection(path string, cause error) error {
	return &library.Error{Kind: library.KindConflict, Code: library.CodeSmartCollection, Cause: cause,
		Detail: strings.TrimSpace("The collection "+path) + " is smart: it holds what its saved search finds. Change that search, or branch the collection and change the branch."}
}
