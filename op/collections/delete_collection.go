package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type deleteOutput struct {
	Collection
	Deleted int  `json:"deleted" doc:"How many collections were deleted: it and all below it."`
	Pending bool `json:"index_pending,omitempty" doc:"Searches may find its assets under it for a while."`
	op.Undoable
	op.Indexed
}

func (s *Service) deleteCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteCollection", Title: "Delete a collection", Domain: op.Collections,
		Doc:    "Deletes a collection and all below it. Assets stay in the library. UndoOperation brings all of it back.",
		Method: "DELETE", Path: "/api/v1/collections/{collection_h}", Permission: library.PermWrite, Destructive: true, RESTOnly: true, Conditional: true,
		Example: map[string]any{"collection_h": exampleCollection},
	}, func(ctx context.Context, actor library.Actor, in getInput) (deleteOutput, error) {
		done, err := s.Store.Collections.Delete(ctx, actor, in.CollectionH)
		if err != nil {
			return deleteOutput{}, err
		}
		return deleteOutput{Collection: describe(done.Collection), Deleted: done.Collections, Pending: done.Pending,
			Undoable: op.Undoable{OperationID: done.OperationID}, Indexed: op.Indexed{IndexToken: done.OperationID}}, nil
	})
}
