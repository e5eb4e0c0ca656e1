package pipelines

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

// NamedPipeline is embedded by inputs that name a saved pipeline.
type NamedPipeline struct {
	PipelineH string `json:"pipeline_definition_h,omitempty" id:"pipeline" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"40 hex digits"`
	Name      string `json:"pipeline_name,omitempty" maxLength:"200" doc:"Or its name or slug."`
}

// check reports that not exactly one of the two was sent.
func (in NamedPipeline) check() []library.FieldError {
	if (in.PipelineH == "") == (in.Name == "") {
		return []library.FieldError{{Field: "pipeline_name", Code: "required", Message: "Send either pipeline_definition_h or pipeline_name.", Hint: "ListPipelines returns both."}}
	}
	return nil
}

// find returns the pipeline.
func (s *Service) find(ctx context.Context, actor library.Actor, in NamedPipeline) (library.Pipeline, error) {
	return s.Store.Pipelines.Find(ctx, actor.Tenant, library.PipelineHash(strings.ToLower(in.PipelineH)), in.Name)
}

type runSavedInput struct {
	op.TenantInput
	NamedPipeline
	DryRun    *bool          `json:"dry_run,omitempty" doc:"Default: the pipeline's."`
	TimeoutMS int            `json:"timeout_ms,omitempty" minimum:"1000" maximum:"60000" doc:"Default: the pipeline's."`
	Vars      map[string]any `json:"vars,omitempty" doc:"Values of its variables."`
}

// Validate implements op.Validator.
func (in *runSavedInput) Validate() []library.FieldError {
	return append(in.check(), op.CheckObject("vars", in.Vars, op.SmallObject)...)
}

func (s *Service) runSavedPipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "RunSavedPipeline", Title: "Run a saved pipeline", Domain: op.Pipelines,
		Doc:    "Runs a saved pipeline, as ExecutePipeline does.",
		Method: "POST", Path: "/api/v1/pipelines/run", Permission: library.PermAdmin, Destructive: true, Chained: true, Limit: runLimit, OneOf: []string{"pipeline_definition_h", "pipeline_name"},
		Example: map[string]any{"pipeline_name": "tag_long_renders", "dry_run": true, "vars": map[string]any{"query": "neon"}},
	}, func(ctx context.Context, actor library.Actor, in runSavedInput) (Trace, error) {
		p, err := s.find(ctx, actor, in.NamedPipeline)
		if err != nil {
			return Trace{}, err
		}
		q := Saved(p, in.Vars)
		if in.DryRun != nil {
			q.DryRun = *in.DryRun
		}
		timeout := in.TimeoutMS
		if timeout == 0 {
			timeout = int(p.Timeout.Milliseconds())
		}
		return s.run(ctx, actor, q, timeout)
	})
}

// Saved returns the request to run a saved pipeline with values of its variables and its own
// defaults.
func Saved(p library.Pipeline, vars map[string]any) pipeline.Request {
	declared := p.Vars
	if declared == nil {
		declared = map[string]library.PipelineVar{}
	}
	return pipeline.Request{Stages: p.Stages, Declared: declared, Vars: vars, DryRun: p.DryRun, Pipeline: p.Hash, Version: p.Version, Name: p.Name}
}
