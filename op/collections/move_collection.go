package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type moveInput struct {
	op.TenantInput
	SourcePath string `json:"source_path" id:"collection" minLength:"1" maxLength:"600" doc:"Path or collection_h."`
	NewParent  string `json:"new_parent_path,omitempty" id:"collection" maxLength:"600" doc:"Path or collection_h. Empty or null: to the root."`
}

type moveOutput struct {
	Changed
	Moved int `json:"moved" doc:"How many collections have a new path."`
}

func (s *Service) moveCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "MoveCollection", Title: "Move a collection", Domain: op.Collections,
		Doc:    "Moves a collection with all below it under another parent.",
		Method: "POST", Path: "/api/v1/collections/{source_path}/move", Permission: library.PermWrite, Idempotent: true, Chained: true, Conditional: true,
		Example: map[string]any{"source_path": exampleCollection},
	}, func(ctx context.Context, actor library.Actor, in moveInput) (moveOutput, error) {
		done, err := s.Store.Collections.Move(ctx, actor, in.SourcePath, in.NewParent)
		if err != nil {
			return moveOutput{}, err
		}
		return moveOutput{Changed: changed(done), Moved: done.Collections}, nil
	})
}
