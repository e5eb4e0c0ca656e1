package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type getSavedInput struct {
	op.TenantInput
	SavedSearchInput
}

func (s *Service) getSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "GetSavedSearch", Title: "Get a saved search", Domain: op.Search,
		Doc:    "Returns one saved search and how its query is parsed.",
		Method: "GET", Path: "/api/v1/saved-searches/{saved_search_id}", Permission: library.PermSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"saved_search_id": exampleSavedSearchID},
	}, func(ctx context.Context, actor library.Actor, in getSavedInput) (SavedSearch, error) {
		saved, err := s.Store.SavedSearches.Get(ctx, actor.Tenant, in.ID)
		if err != nil {
			return SavedSearch{}, err
		}
		return s.describeSaved(actor, saved)
	})
}
