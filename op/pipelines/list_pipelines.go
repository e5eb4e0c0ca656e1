package pipelines

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listInput struct {
	op.TenantInput
	Tags   []string `json:"tags,omitempty" maxItems:"50" doc:"All of these tags."`
	Limit  int      `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset int      `json:"offset,omitempty" minimum:"0" maximum:"100000" default:"0"`
}

type listOutput struct {
	Data  []SavedPipeline `json:"data" doc:"By name."`
	Total int             `json:"total"`
}

func (s *Service) listPipelines() op.Operation {
	return op.Define(op.Meta{
		Name: "ListPipelines", Title: "List pipelines", Domain: op.Pipelines,
		Doc:    "Returns the saved pipelines with their stages as text, variables and defaults.",
		Method: "GET", Path: "/api/v1/pipelines", Permission: library.PermRead, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listInput) (listOutput, error) {
		list, total, err := s.Store.Pipelines.List(ctx, actor.Tenant, store.PipelineFilter{Tags: in.Tags, Limit: in.Limit, Offset: in.Offset})
		out := listOutput{Data: []SavedPipeline{}, Total: total}
		for _, p := range list {
			out.Data = append(out.Data, describePipeline(p))
		}
		return out, err
	})
}
