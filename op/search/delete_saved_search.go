package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type deleteSavedOutput struct {
	ID      string `json:"saved_search_id"`
	Deleted bool   `json:"deleted"`
	op.Undoable
}

func (s *Service) deleteSavedSearch() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteSavedSearch", Title: "Delete a saved search", Domain: op.Search,
		Doc:    "Deletes a saved search of the tenant. Assets are not affected. UndoOperation restores it.",
		Method: "DELETE", Path: "/api/v1/saved-searches/{saved_search_id}", Permission: library.PermWrite, Destructive: true, RESTOnly: true,
		Example: map[string]any{"saved_search_id": exampleSavedSearchID},
	}, func(ctx context.Context, actor library.Actor, in getSavedInput) (deleteSavedOutput, error) {
		operation, err := s.Store.SavedSearches.Delete(ctx, actor, in.ID)
		if err != nil {
			return deleteSavedOutput{}, err
		}
		return deleteSavedOutput{ID: in.ID, Deleted: true, Undoable: op.Undoable{OperationID: operation}}, nil
	})
}
