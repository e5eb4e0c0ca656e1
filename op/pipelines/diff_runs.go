package pipelines

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type diffInput struct {
	op.TenantInput
	RunID string `json:"run_id" id:"pipeline_run" minLength:"1" maxLength:"64" doc:"The later run."`
	With  string `json:"with" id:"earlier_run" minLength:"1" maxLength:"64" doc:"The run to compare it with."`
	Limit int    `json:"limit,omitempty" minimum:"0" maximum:"1000" default:"100" doc:"Assets to list of each kind."`
}

type diffOutput struct {
	Entered []library.AssetHash `json:"entered" doc:"In the later run's last set alone."`
	Left    []library.AssetHash `json:"left" doc:"In the earlier run's last set alone."`
	Changed []library.AssetHash `json:"changed" doc:"In both, and the asset was changed in between."`
	Counts  diffCounts          `json:"counts"`
}

type diffCounts struct {
	Entered int64 `json:"entered"`
	Left    int64 `json:"left"`
	Changed int64 `json:"changed"`
	Same    int64 `json:"same"`
}

func (s *Service) diffRuns() op.Operation {
	return op.Define(op.Meta{
		Name: "DiffPipelineRuns", Title: "Compare two pipeline runs", Domain: op.Pipelines,
		Doc:    "Returns which assets entered, left and changed between the last sets of two runs.",
		Method: "GET", Path: "/api/v1/pipelines/runs/{run_id}/diff", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"run_id": exampleRun, "with": "019a7e3c-5d2f-7b61-9c40-2f1f6b0c8e23"},
	}, func(ctx context.Context, actor library.Actor, in diffInput) (out diffOutput, err error) {
		for _, id := range []string{in.With, in.RunID} {
			r, err := s.Store.PipelineRuns.Get(ctx, actor.Tenant, id)
			if err != nil {
				return out, err
			}
			if !r.State.Ended() {
				return out, library.NewError(library.KindConflict, library.CodeConflict, "The run %s has not ended, so it has no last set yet.", id)
			}
		}
		d, err := s.Store.PipelineRuns.Diff(ctx, actor, in.With, in.RunID, in.Limit)
		list := func(l []library.AssetHash) []library.AssetHash { return append([]library.AssetHash{}, l...) }
		return diffOutput{list(d.Entered), list(d.Left), list(d.Changed), diffCounts{d.Counts["entered"], d.Counts["left"], d.Counts["changed"], d.Counts["same"]}}, err
	})
}
