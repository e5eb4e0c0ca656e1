package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type runSavedInput struct {
	op.TenantInput
	SavedSearchInput
	PageInput
}

func (s *Service) runSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "RunSavedSearch", Title: "Run a saved search", Domain: op.Search,
		Doc:    "Runs a saved search; returns the same as SearchAssets.",
		Method: "POST", Path: "/api/v1/saved-searches/{saved_search_id}/run", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"saved_search_id": exampleSavedSearchID, "limit": 5},
	}, func(ctx context.Context, actor library.Actor, in runSavedInput) (searchOutput, error) {
		saved, err := s.Store.SavedSearches.Get(ctx, actor.Tenant, in.ID)
		if err != nil {
			return searchOutput{}, err
		}
		filters, err := decodeFilters(saved)
		if err != nil {
			return searchOutput{}, err
		}
		as := searchInput{Query: saved.Query, SearchMode: saved.Mode, Filters: filters, OrderBy: saved.OrderBy, Order: saved.Direction, PageInput: in.PageInput}
		if errs := as.Validate(); len(errs) > 0 {
			return searchOutput{}, library.Invalid(errs...)
		}
		return s.search(ctx, actor, as)
	})
}
