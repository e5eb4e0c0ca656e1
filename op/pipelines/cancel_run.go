package pipelines

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type cancelInput struct {
	op.TenantInput
	RunID string `json:"run_id" id:"pipeline_run" minLength:"1" maxLength:"64"`
}

func (s *Service) cancelRun() op.Operation {
	return op.Define(op.Meta{
		Name: "CancelPipelineRun", Title: "Cancel a pipeline run", Domain: op.Pipelines,
		Doc:    "Has a run stop before its next part. What it has changed stays until UndoOperation takes it back. A run that ended is returned as it is.",
		Method: "POST", Path: "/api/v1/pipelines/runs/{run_id}/cancel", Permission: library.PermAdmin, RESTOnly: true,
		Example: map[string]any{"run_id": exampleRun},
	}, func(ctx context.Context, actor library.Actor, in cancelInput) (Trace, error) {
		r, err := s.Store.PipelineRuns.Cancel(ctx, actor, in.RunID)
		return describe(r), err
	})
}
