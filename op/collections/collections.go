// Package collections holds the operations on collections: a tree of at most five
// levels, assets and text cards in an order of their own, branches and frozen snapshots,
// and smart collections, which hold what a saved search finds. One file per operation.
package collections

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Links assets.Links
	// FindSaved returns a page of what a saved search finds and how many that are. Nil:
	// smart collections are empty.
	FindSaved func(ctx context.Context, actor library.Actor, savedSearchID string, limit, offset int) ([]library.AssetHash, int, error)
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{
		s.createCollection(), s.listCollections(), s.addToCollection(), s.getCollectionAssets(), s.branchCollection(), s.moveCollection(),
		s.addTextCard(), s.removeFromCollection(),
		s.getCollection(), s.updateCollection(), s.getTextCard(), s.updateTextCard(), s.deleteTextCard(), s.deleteCollection(),
		s.diffCollection(), s.mergeCollection(),
	}
}

// What stands for a collection and an asset in examples.
const (
	exampleCollection = "3c1fb9e8f0f1f0d1b8a3a0d1d0f7f3b6f2a4c5e6"
	exampleCard       = "9d4e1e23bd5b727046a9e3b4b7db57bd8d6ee684"
	exampleAsset      = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
)

// InCollection is embedded by inputs that name a collection by its identity.
type InCollection struct {
	CollectionH string `json:"collection_h" id:"collection" minLength:"1" maxLength:"600" doc:"The collection. Its path is taken too."`
}

// AtPath is embedded by inputs that name a collection by its path.
type AtPath struct {
	Path string `json:"collection_path" id:"collection" minLength:"1" maxLength:"600" doc:"Path such as portfolio.neon, or collection_h."`
}

// Collection is a collection as it is shown. Outputs embed it.
type Collection struct {
	Hash          library.CollectionHash `json:"collection_h" doc:"Its identity. Stays the same when it is renamed or moved."`
	Path          string                 `json:"path" doc:"Names from the root, with dots."`
	Name          string                 `json:"name" doc:"The last part of the path."`
	DisplayName   string                 `json:"display_name" doc:"The name as it was written."`
	Description   string                 `json:"description,omitempty"`
	Icon          string                 `json:"icon,omitempty"`
	Color         string                 `json:"color,omitempty"`
	Branch        library.BranchType     `json:"branch_type,omitempty" doc:"branch, snapshot (frozen) or template_instance; absent if it is no branch."`
	Source        library.CollectionHash `json:"source_h,omitempty" doc:"What it is a branch of."`
	SnapshotLabel string                 `json:"snapshot_label,omitempty"`
	SavedSearch   string                 `json:"saved_search_id,omitempty" doc:"It is smart. It holds what this saved search finds."`
}

func describe(c library.Collection) Collection {
	return Collection{Hash: c.Hash, Path: c.Path, Name: c.Name, DisplayName: c.DisplayName, Description: c.Description, Icon: c.Icon, Color: c.Color,
		Branch: c.Branch, Source: c.Source, SnapshotLabel: c.SnapshotLabel, SavedSearch: c.SavedSearch}
}

// Changed is a collection as a write left it. Outputs embed it.
type Changed struct {
	Collection
	Pending bool `json:"index_pending,omitempty" doc:"The collection has so many assets that the index follows in the background. Until then searches find each under its old path or its new one."`
	op.Undoable
	op.Indexed
	version int64
}

// ResourceVersion implements op.Versioned.
func (c Changed) ResourceVersion() int64 { return c.version }

func changed(c store.CollectionChange) Changed {
	return Changed{Collection: describe(c.Collection), Pending: c.Pending, Undoable: op.Undoable{OperationID: c.OperationID}, Indexed: op.Indexed{IndexToken: c.OperationID}, version: c.UpdatedAt.UnixMicro()}
}

// label returns the label of a name and refuses one that has none.
func label(field, name string) (string, []library.FieldError) {
	l := library.CollectionLabel(name)
	if l == "" {
		return "", []library.FieldError{{Field: field, Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."}}
	}
	return l, nil
}

// displayName returns the name that people see.
func displayName(display, name string) string {
	if d := strings.TrimSpace(display); d != "" {
		return d
	}
	return strings.TrimSpace(name)
}

// hashesOf reads assets' hashes; those that are none are errors.
func hashesOf(sent []string) ([]library.AssetHash, []library.FieldError) {
	return assets.Hashes("asset_hs", sent)
}
