package pipelines

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

type executeInput struct {
	op.TenantInput
	Stages    []map[string]any `json:"stages" minItems:"1" maxItems:"50" doc:"Each {type, config}. The first one selects: search {query}, collection {path}, ids {asset_ids} or diff. ListPipelineTemplates shows examples."`
	DryRun    bool             `json:"dry_run,omitempty" doc:"Changes nothing; counts what would change."`
	TimeoutMS int              `json:"timeout_ms,omitempty" minimum:"1000" maximum:"60000" default:"30000" doc:"How long to wait; the run goes on afterwards."`
	Vars      map[string]any   `json:"vars,omitempty" tool:"-" doc:"Values of {{vars.NAME}} in the stages."`
}

// Validate implements op.Validator.
func (in *executeInput) Validate() []library.FieldError {
	return op.CheckObject("vars", in.Vars, op.SmallObject)
}

func (s *Service) executePipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "ExecutePipeline", Title: "Execute a pipeline", Domain: op.Pipelines,
		Doc: "Runs stages over a set of assets: select, filter, transform, act, output, summarize. Returns counts and samples per stage. Do a dry run first; delete, archive and output stages of a real run need confirm: true. " +
			"UndoOperation takes a run back.",
		More:   "A run that takes longer than timeout_ms goes on: the answer has the state running, and GetPipelineRun follows it. Everything that a run changes is one operation.",
		Method: "POST", Path: "/api/v1/pipelines/execute", Permission: library.PermAdmin, Destructive: true, Chained: true, Limit: runLimit,
		Example: map[string]any{"stages": []any{map[string]any{"type": "search", "config": map[string]any{"query": "fox"}}, map[string]any{"type": "count", "config": map[string]any{"group_by": "status"}}}, "dry_run": true},
	}, func(ctx context.Context, actor library.Actor, in executeInput) (Trace, error) {
		return s.run(ctx, actor, pipeline.Request{Stages: stagesOf(in.Stages), Vars: in.Vars, DryRun: in.DryRun}, in.TimeoutMS)
	})
}

// run starts a run and waits for it.
func (s *Service) run(ctx context.Context, actor library.Actor, q pipeline.Request, timeoutMS int) (Trace, error) {
	r, err := s.Engine.Start(ctx, actor, q)
	if err != nil {
		return Trace{}, err
	}
	r, err = s.Engine.Await(ctx, actor, r.ID, time.Duration(timeoutMS)*time.Millisecond)
	return describe(r), err
}
