package collections

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// treeNode is a collection of the tree resource, with those below it.
type treeNode struct {
	Hash        library.CollectionHash `json:"collection_h"`
	Path        string                 `json:"path"`
	DisplayName string                 `json:"display_name"`
	Assets      int64                  `json:"asset_count"`
	Cards       int64                  `json:"card_count,omitempty"`
	Branch      library.BranchType     `json:"branch_type,omitempty"`
	SavedSearch string                 `json:"saved_search_id,omitempty"`
	Children    []*treeNode            `json:"children,omitempty"`
}

type treeOutput struct {
	Total       int         `json:"total"`
	Collections []*treeNode `json:"collections"`
}

// Resources lists this package's resources.
func (s *Service) Resources() []op.Resource {
	return []op.Resource{{
		URI: "vitrine://collections", Name: "collections", Title: "Collections", MIMEType: "application/json", Permission: library.PermRead,
		Doc:     "The tree of collections with names, paths and asset counts. Smart collections, which hold what a saved search finds, are not counted.",
		Example: "vitrine://collections",
		Read: func(ctx context.Context, actor library.Actor, _ map[string]string) (any, error) {
			list, total, err := s.Store.Collections.List(ctx, actor, "", library.MaxCollectionDepth, true, library.MaxCollections, 0)
			return treeOutput{Total: total, Collections: grow(list)}, err
		},
	}}
}

// grow makes a tree of a list in which parents come before what is below them.
func grow(list []store.CollectionEntry) []*treeNode {
	roots := []*treeNode{}
	var open []*treeNode // the path to the last one
	for _, e := range list {
		n := &treeNode{Hash: e.Hash, Path: e.Path, DisplayName: e.DisplayName, Assets: e.Assets, Cards: e.Cards, Branch: e.Branch, SavedSearch: e.SavedSearch}
		for len(open) > 0 && !strings.HasPrefix(e.Path, open[len(open)-1].Path+".") {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			roots = append(roots, n)
		} else {
			up := open[len(open)-1]
			up.Children = append(up.Children, n)
		}
		open = append(open, n)
	}
	return roots
}
