package experiments

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type listInput struct {
	op.TenantInput
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"100000" default:"0"`
}

type listEntry struct {
	Experiment
	Runs int `json:"run_count"`
}

type listOutput struct {
	Data  []listEntry `json:"data" doc:"The newest first."`
	Total int         `json:"total"`
}

func (s *Service) listExperiments() op.Operation {
	return op.Define(op.Meta{
		Name: "ListExperiments", Title: "List experiments", Domain: op.Experiments,
		Doc:    "Returns the experiments, each with how many runs it has.",
		Method: "GET", Path: "/api/v1/experiments", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listInput) (listOutput, error) {
		list, total, err := s.Experiments.List(ctx, actor, in.Limit, in.Offset)
		out := listOutput{Data: []listEntry{}, Total: total}
		for _, e := range list {
			out.Data = append(out.Data, listEntry{describe(e.Experiment), e.Runs})
		}
		return out, err
	})
}
