package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type runSavedInput struct {
	op.InTenant
	InSaved
	Limit         int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"Results per page."`
	Offset        int    `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0" doc:"Results to pass over."`
	Cursor        string `json:"cursor,omitempty" maxLength:"65536" doc:"* to walk through all results; then each next_cursor."`
	IncludeScore  *bool  `json:"include_score,omitempty" default:"true" doc:"Whether results carry relevance_score."`
	Highlight     bool   `json:"highlight,omitempty" doc:"Whether results show where the words were found."`
	MinIndexToken string `json:"min_index_token,omitempty" maxLength:"64" doc:"index_token of a write that the results must show."`
}

func (s *Service) runSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "RunSavedSearch", Title: "Run a saved search", Domain: op.Search,
		Doc:    "Runs a saved search as it is kept now; the answer is that of SearchAssets.",
		Method: "POST", Path: "/api/v1/saved-searches/{saved_search_id}/run", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Spec:    "open points §1, §8",
		Example: map[string]any{"saved_search_id": exampleSaved, "limit": 5},
	}, func(ctx context.Context, actor library.Actor, in runSavedInput) (searchOutput, error) {
		saved, err := s.Store.SavedSearch(ctx, actor.Tenant, in.ID)
		if err != nil {
			return searchOutput{}, err
		}
		filters, err := savedFilters(saved)
		if err != nil {
			return searchOutput{}, err
		}
		as := searchInput{Query: saved.Query, SearchMode: saved.Mode, Filters: filters, OrderBy: saved.OrderBy, Order: saved.Direction,
			Limit: in.Limit, Offset: in.Offset, Cursor: in.Cursor, IncludeScore: in.IncludeScore, Highlight: in.Highlight, MinIndexToken: in.MinIndexToken}
		if faults := as.Validate(); len(faults) > 0 {
			return searchOutput{}, library.Invalid(faults...)
		}
		return s.search(ctx, actor, as)
	})
}
