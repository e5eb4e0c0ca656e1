package search

import (
	"context"

	"vitrine/library"
	"vitrine/query"
)

// FindSaved returns a page of the assets that a saved search finds by its words and
// conditions, and how many those are: what a smart collection holds. What is only similar
// is not among them, for everything is similar to some degree.
func (s *Service) FindSaved(ctx context.Context, actor library.Actor, savedSearchID string, limit, offset int) ([]library.AssetHash, int, error) {
	if s.Searcher == nil {
		return nil, 0, nil
	}
	saved, err := s.Store.SavedSearches.Get(ctx, actor.Tenant, savedSearchID)
	if err != nil {
		return nil, 0, err
	}
	filters, err := decodeFilters(saved)
	if err != nil {
		return nil, 0, err
	}
	return s.find(ctx, actor, saved.Query, query.Request{Mode: query.Mode(saved.Mode), Filters: filters.compile(),
		Sort: sortOrder(saved.OrderBy, saved.Direction), Limit: limit, Offset: offset})
}

// FindPublic returns the first of the assets that a query finds by its words and conditions, and how
// many those are, for somebody who sees nothing private.
func (s *Service) FindPublic(ctx context.Context, tenant library.TenantID, text string, limit int) ([]library.AssetHash, int, error) {
	if s.Searcher == nil {
		return nil, 0, nil
	}
	return s.find(ctx, library.Actor{Kind: library.ActorKey, Tenant: tenant}, text, query.Request{Mode: query.Smart, Limit: limit})
}

func (s *Service) find(ctx context.Context, actor library.Actor, text string, req query.Request) ([]library.AssetHash, int, error) {
	_, compiled, err := s.compile(ctx, actor, text, req)
	if err != nil {
		return nil, 0, err
	}
	page, err := s.Searcher.Search(ctx, actor.Tenant, compiled)
	if err != nil {
		return nil, 0, err
	}
	hashes := make([]library.AssetHash, len(page.Hits))
	for i, h := range page.Hits {
		hashes[i] = h.Document.AssetH
	}
	return hashes, int(page.Total), nil
}
