package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type listSavedInput struct {
	op.TenantInput
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50" doc:"Saved searches per page."`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0" doc:"Saved searches to skip."`
}

type listSavedOutput struct {
	Data  []SavedSearch `json:"data" doc:"Sorted by name."`
	Total int           `json:"total"`
}

func (s *Service) listSavedSearches() op.Operation {
	return op.Define(op.Meta{
		Name: "ListSavedSearches", Title: "List saved searches", Domain: op.Search,
		Doc:    "Lists the tenant's saved searches and how each query is parsed.",
		Method: "GET", Path: "/api/v1/saved-searches", Permission: library.PermSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listSavedInput) (listSavedOutput, error) {
		out := listSavedOutput{Data: []SavedSearch{}}
		list, total, err := s.Store.SavedSearches.List(ctx, actor.Tenant, in.Limit, in.Offset)
		if err != nil {
			return out, err
		}
		out.Total = total
		for _, saved := range list {
			shown, err := s.describeSaved(actor, saved)
			if err != nil {
				return out, err
			}
			out.Data = append(out.Data, shown)
		}
		return out, nil
	})
}
