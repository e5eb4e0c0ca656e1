package pipelines

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type deleteInput struct {
	op.TenantInput
	PipelineInput
}

type deleteOutput struct{ op.Undoable }

func (s *Service) deletePipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "DeletePipeline", Title: "Delete a pipeline", Domain: op.Pipelines,
		Doc:    "Deletes a saved pipeline. Its runs stay; UndoOperation brings it back.",
		Method: "DELETE", Path: "/api/v1/pipelines/{pipeline_definition_h}", Permission: library.PermWrite, Destructive: true, RESTOnly: true,
		Example: map[string]any{"pipeline_definition_h": examplePipeline},
	}, func(ctx context.Context, actor library.Actor, in deleteInput) (deleteOutput, error) {
		id, err := s.Store.Pipelines.Delete(ctx, actor, library.PipelineHash(strings.ToLower(in.PipelineH)))
		return deleteOutput{op.Undoable{OperationID: id}}, err
	})
}
