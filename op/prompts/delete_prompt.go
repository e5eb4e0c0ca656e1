package prompts

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type deleteInput struct {
	op.TenantInput
	OfPrompt
}

type deleteOutput struct {
	Prompt
	op.Undoable
}

func (s *Service) deletePrompt() op.Operation {
	return op.Define(op.Meta{
		Name: "DeletePrompt", Title: "Delete a prompt", Domain: op.Prompts,
		Doc:    "Deletes a prompt with all its versions and labels. UndoOperation brings them back. Images stay.",
		Method: "DELETE", Path: "/api/v1/prompts/{prompt_h}", Permission: library.PermWrite, Destructive: true, RESTOnly: true, Conditional: true,
		Example: map[string]any{"prompt_h": examplePrompt},
	}, func(ctx context.Context, actor library.Actor, in deleteInput) (deleteOutput, error) {
		done, err := s.Store.Prompts.Delete(ctx, actor, in.hash())
		return deleteOutput{Prompt: describe(done.Prompt), Undoable: op.Undoable{OperationID: done.OperationID}}, err
	})
}
