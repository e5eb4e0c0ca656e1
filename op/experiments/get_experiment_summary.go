package experiments

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type summaryInput struct {
	op.TenantInput
	InExperiment
	Limit int `json:"ranking_limit,omitempty" minimum:"1" maximum:"300" default:"20" doc:"Runs listed per ranking."`
}

type summaryOutput struct {
	Experiment
	Runs         int         `json:"run_count"`
	Scored       int         `json:"scored_runs"`
	Contradicted int         `json:"contradicted_runs" doc:"Runs whose file contradicts what was claimed of them; see RegisterRun."`
	Conditions   []Condition `json:"conditions"`
	OutcomeTags  []TagCount  `json:"outcome_tags"`
	Flags        []FlagCount `json:"flags"`
	Comparisons  int         `json:"comparison_count"`
	Evaluators   []string    `json:"evaluators"`
	Dimensions   []Dimension `json:"dimensions" doc:"At most 20, those with the most scores and comparisons."`
	LeftOut      []string    `json:"dimensions_left_out,omitempty"`
}

func (s *Service) getExperimentSummary() op.Operation {
	return op.Define(op.Meta{
		Name: "GetExperimentSummary", Title: "Summarize an experiment", Domain: op.Experiments,
		Doc:    "Returns conditions, outcome tags and, per dimension, the mean with its interval, how far evaluators agree, whether the independent variable matters, the ranking of runs and which to compare next.",
		Method: "GET", Path: "/api/v1/experiments/{collection_h}/summary", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"collection_h": exampleExperiment},
	}, func(ctx context.Context, actor library.Actor, in summaryInput) (summaryOutput, error) {
		d, err := s.Experiments.Read(ctx, actor, in.CollectionH)
		if err != nil {
			return summaryOutput{}, err
		}
		return summarize(d, in.Limit), nil
	})
}
