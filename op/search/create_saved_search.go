package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type createSavedInput struct {
	op.TenantInput
	Name        string        `json:"name" minLength:"1" maxLength:"200" doc:"Unique within the tenant, whatever the case."`
	Description string        `json:"description,omitempty" maxLength:"2000" doc:"What it is for."`
	Query       string        `json:"query,omitempty" id:"query" doc:"As in SearchAssets. It is validated now."`
	SearchMode  string        `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" default:"smart" doc:"As in SearchAssets; boolean means strict syntax."`
	Filters     *filtersInput `json:"filters,omitempty" doc:"Filters in addition to the query."`
	OrderBy     string        `json:"order_by,omitempty" enum:"relevance,created,updated,title,filename,status,position,rating,size,width,height,megapixels,duration,steps,cfg,seed" default:"relevance" doc:"As in SearchAssets."`
	Order       string        `json:"order,omitempty" enum:"asc,desc" doc:"Direction of order_by."`
}

// Validate implements op.Validator.
func (in *createSavedInput) Validate() []library.FieldError { return checkName(&in.Name) }

func (s *Service) createSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateSavedSearch", Title: "Save a search", Domain: op.Search,
		Doc:    "Saves a search under a name for everybody in the tenant. Returns how the query is parsed, and whether it is valid in strict syntax.",
		Method: "POST", Path: "/api/v1/saved-searches", Permission: library.PermWrite, Creates: "/api/v1/saved-searches/{saved_search_id}", RESTOnly: true,
		Example: map[string]any{"name": "Approved foxes", "query": "fox -tag:wip", "filters": map[string]any{"status": "Approved"}, "order_by": "created"},
	}, func(ctx context.Context, actor library.Actor, in createSavedInput) (changedSavedOutput, error) {
		filters, err := encodeFilters(in.Filters)
		if err != nil {
			return changedSavedOutput{}, err
		}
		saved := library.SavedSearch{Name: in.Name, Description: in.Description, Query: in.Query, Mode: in.SearchMode, Filters: filters, OrderBy: in.OrderBy, Direction: in.Order}
		if err := s.validateSaved(actor, saved); err != nil {
			return changedSavedOutput{}, err
		}
		saved, operation, err := s.Store.SavedSearches.Add(ctx, actor, saved)
		if err != nil {
			return changedSavedOutput{}, err
		}
		out, err := s.describeSaved(actor, saved)
		return changedSavedOutput{out, op.Undoable{OperationID: operation}}, err
	})
}
