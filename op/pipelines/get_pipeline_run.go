package pipelines

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type getRunInput struct {
	op.TenantInput
	RunID    string `json:"run_id,omitempty" id:"pipeline_run" maxLength:"64" doc:"One run."`
	Name     string `json:"pipeline_name,omitempty" maxLength:"200" doc:"Or the last runs of a saved pipeline, by name or slug. Without both: the last runs of all."`
	State    string `json:"state,omitempty" enum:"queued,running,completed,failed,timed_out,cancelled" tool:"-" doc:"Only runs in this state."`
	Limit    int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"10" doc:"Runs to list."`
	Cursor   string `json:"before,omitempty" id:"pipeline_run" maxLength:"64" tool:"-" doc:"Only runs that were created before this one, a run_id."`
	AssetsOf int    `json:"assets,omitempty" minimum:"0" maximum:"1000" tool:"plain" doc:"With run_id: also so many assets of its last set."`
	Offset   int    `json:"assets_offset,omitempty" minimum:"0" maximum:"100000000" tool:"-" doc:"Where in the last set they begin."`
}

type getRunOutput struct {
	Runs       []Trace             `json:"runs" doc:"The newest first."`
	Assets     []library.AssetHash `json:"assets,omitempty" doc:"Of the run's last set, in its order."`
	NextBefore string              `json:"next_before,omitempty" doc:"Pass as before for the next page."`
}

func (s *Service) getPipelineRun() op.Operation {
	return op.Define(op.Meta{
		Name: "GetPipelineRun", Title: "Get a pipeline run", Domain: op.Pipelines,
		Doc:    "Returns how far a run is and what it did, stage by stage, or the last runs of a pipeline.",
		Method: "GET", Path: "/api/v1/pipelines/runs", Permission: library.PermRead, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"limit": 5},
	}, func(ctx context.Context, actor library.Actor, in getRunInput) (out getRunOutput, err error) {
		out.Runs = []Trace{}
		if in.RunID != "" {
			t, err := s.Trace(ctx, actor, in.RunID)
			if err != nil {
				return out, err
			}
			out.Runs = append(out.Runs, t)
			if in.AssetsOf > 0 {
				out.Assets, _, err = s.Store.PipelineRuns.SetPage(ctx, actor, t.RunID, in.AssetsOf, in.Offset)
			}
			return out, err
		}
		f := store.RunFilter{State: library.RunState(in.State), Before: in.Cursor, Limit: in.Limit}
		if in.Name != "" {
			p, err := s.Store.Pipelines.Find(ctx, actor.Tenant, "", in.Name)
			if err != nil {
				return out, err
			}
			f.Pipeline = p.Hash
		}
		list, err := s.Store.PipelineRuns.List(ctx, actor.Tenant, f)
		for _, r := range list {
			out.Runs = append(out.Runs, visible(actor, describe(r)))
		}
		if len(list) == in.Limit {
			out.NextBefore = list[len(list)-1].ID
		}
		return out, err
	})
}

// Trace returns how far a run is, as the actor may see it.
func (s *Service) Trace(ctx context.Context, actor library.Actor, run string) (Trace, error) {
	r, err := s.Store.PipelineRuns.Get(ctx, actor.Tenant, run)
	if err != nil {
		return Trace{}, err
	}
	return visible(actor, describe(r)), nil
}

// visible returns a trace as an actor may see it: who does not see every asset sees counts, but
// no samples and no results, for they may be of assets that are private.
func visible(actor library.Actor, t Trace) Trace {
	if actor.SeesAll() {
		return t
	}
	for i := range t.Stages {
		t.Stages[i].Sample, t.Stages[i].Result = []library.AssetHash{}, nil
	}
	return t
}
