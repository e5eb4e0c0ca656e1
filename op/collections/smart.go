package collections

import (
	"context"

	"vitrine/library"
)

// searchPage is how many assets one search returns at most.
const searchPage = 100

// maxFound is how many assets of a smart collection can be paged through or branched.
const maxFound = 10_000

// foundHashes returns a page of what the search of a smart collection finds, and how many
// assets that are.
func (s *Service) foundHashes(ctx context.Context, actor library.Actor, c library.Collection, limit, offset int) (hashes []library.AssetHash, total int, err error) {
	for s.FindSaved != nil && len(hashes) < limit {
		page, all, err := s.FindSaved(ctx, actor, c.SavedSearch, min(limit-len(hashes), searchPage), offset+len(hashes))
		if err != nil {
			return nil, 0, err
		}
		hashes, total = append(hashes, page...), all
		if len(page) == 0 || offset+len(hashes) >= min(all, maxFound) {
			break
		}
	}
	return hashes, total, nil
}

// found returns a page of what a smart collection holds.
func (s *Service) found(ctx context.Context, actor library.Actor, c library.Collection, limit, offset int) (list []library.CollectionItem, total int, err error) {
	hashes, total, err := s.foundHashes(ctx, actor, c, limit, offset)
	if err != nil {
		return nil, 0, err
	}
	have, err := s.Store.Assets.List(ctx, actor, hashes)
	if err != nil {
		return nil, 0, err
	}
	for i, h := range hashes {
		if a, ok := have[h]; ok { // else it has gone since the index saw it
			list = append(list, library.CollectionItem{ID: string(h), Path: c.Path, Position: offset + i, Asset: &a})
		}
	}
	return list, total, nil
}

// allFound returns everything that a smart collection holds, and refuses more than can
// be branched.
func (s *Service) allFound(ctx context.Context, actor library.Actor, c library.Collection) ([]library.AssetHash, error) {
	first, total, err := s.foundHashes(ctx, actor, c, searchPage, 0)
	if err != nil {
		return nil, err
	}
	if total > maxFound {
		return nil, library.Invalid(library.FieldError{Field: "source_path", Code: "range", Message: "The saved search finds more than 10,000 assets.",
			Hint: "Narrow the saved search."})
	}
	if len(first) >= total {
		return first, nil
	}
	rest, _, err := s.foundHashes(ctx, actor, c, maxFound-len(first), len(first))
	return append(first, rest...), err
}
