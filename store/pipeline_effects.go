package store

import (
	"context"

	"vitrine/library"
)

// TrashAssets moves assets to the trash as a part of a larger write. It returns those that it
// moved.
func (t *Tx) TrashAssets(ctx context.Context, hashes []library.AssetHash) ([]library.AssetHash, error) {
	if err := lockLineage(ctx, t, t.tenant(), hashes); err != nil {
		return nil, err
	}
	done, err := t.ChangeAssets(ctx, hashes, func(a *library.Asset) { a.Trashed = true })
	moved := make([]library.AssetHash, len(done.Changed))
	for i, a := range done.Changed {
		moved[i] = a.Hash
	}
	return moved, err
}

// AddToCollection is Collections.Add as a part of a larger write.
func (t *Tx) AddToCollection(ctx context.Context, ref string, n NewItems) (ItemsChange, error) {
	return t.addToCollection(ctx, ref, n)
}

// RemoveFromCollection is Collections.Remove as a part of a larger write.
func (t *Tx) RemoveFromCollection(ctx context.Context, ref string, assets []library.AssetHash) (ItemsChange, error) {
	return t.removeFromCollection(ctx, ref, assets)
}

// MakeCollection makes the collection with a path, and those above it, unless they are there.
// It returns those that it made.
func (t *Tx) MakeCollection(ctx context.Context, path string) (made []string, err error) {
	for _, c := range library.CollectionAncestry(path) {
		var there bool
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM collections WHERE tenant_id = $1 AND path = $2 AND deleted_at IS NULL)`, t.tenant(), c.Path).Scan(&there); err != nil {
			return made, err
		}
		if there {
			continue
		}
		if _, err := t.createCollection(ctx, library.Collection{Name: c.Name, DisplayName: c.Name}, placement{parent: c.Parent, name: c.Name, parentField: "path", nameField: "path"}); err != nil {
			return made, err
		}
		made = append(made, c.Path)
	}
	return made, nil
}
