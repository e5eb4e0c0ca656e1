package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type updateSavedInput struct {
	op.TenantInput
	SavedSearchInput
	Name        *string       `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Unique within the tenant, whatever the case."`
	Description *string       `json:"description,omitempty" maxLength:"2000" doc:"What it is for."`
	Query       *string       `json:"query,omitempty" id:"query" doc:"As in SearchAssets."`
	SearchMode  *string       `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" doc:"As in SearchAssets."`
	Filters     *filtersInput `json:"filters,omitempty" doc:"Replaces all filters; an empty object removes them."`
	OrderBy     *string       `json:"order_by,omitempty" enum:"relevance,created,updated,title,filename,status,position,rating,size,width,height,megapixels,duration,steps,cfg,seed" doc:"As in SearchAssets."`
	Order       *string       `json:"order,omitempty" enum:"asc,desc" doc:"Direction of order_by."`
}

// Validate implements op.Validator.
func (in *updateSavedInput) Validate() []library.FieldError {
	return checkName(in.Name)
}

func (s *Service) updateSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateSavedSearch", Title: "Change a saved search", Domain: op.Search,
		Doc:    "Changes the fields of a saved search that are sent. The whole search is validated before it is saved.",
		Method: "PATCH", Path: "/api/v1/saved-searches/{saved_search_id}", Permission: library.PermWrite, Idempotent: true, RESTOnly: true, Conditional: true,
		AnyOf:   []string{"name", "description", "query", "search_mode", "filters", "order_by", "order"},
		Example: map[string]any{"saved_search_id": exampleSavedSearchID, "query": "fox OR wolf", "description": "For the winter campaign."},
	}, func(ctx context.Context, actor library.Actor, in updateSavedInput) (changedSavedOutput, error) {
		saved, operation, err := s.Store.SavedSearches.Change(ctx, actor, in.ID, func(have *library.SavedSearch) error {
			if err := op.CheckVersion(ctx, have.UpdatedAt.UnixMicro()); err != nil {
				return err
			}
			if err := in.apply(have); err != nil {
				return err
			}
			return s.validateSaved(actor, *have)
		})
		if err != nil {
			return changedSavedOutput{}, err
		}
		out, err := s.describeSaved(actor, saved)
		return changedSavedOutput{out, op.Undoable{OperationID: operation}}, err
	})
}

func (in *updateSavedInput) apply(have *library.SavedSearch) error {
	for _, f := range []struct {
		to   *string
		sent *string
	}{{&have.Name, in.Name}, {&have.Description, in.Description}, {&have.Query, in.Query}, {&have.Mode, in.SearchMode}, {&have.OrderBy, in.OrderBy}, {&have.Direction, in.Order}} {
		if f.sent != nil {
			*f.to = *f.sent
		}
	}
	if in.Filters == nil {
		return nil
	}
	var err error
	have.Filters, err = encodeFilters(in.Filters)
	return err
}
