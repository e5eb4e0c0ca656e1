package pipeline_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/query"
	"vitrine/store"
)

// TestRun_ThatIsInterruptedAnywhereGoesOnWithEachEffectOnce ends the work on a run after
// different times, as a killed process does, and has another one go on once the claim of the
// first has run out.
func TestRun_ThatIsInterruptedAnywhereGoesOnWithEachEffectOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(3, 3)), 30)
	stages, err := pipeline.ParseText(`search | sort created | where rating >= 1 | compute metadata.runs "coalesce(metadata.runs, 0) + 1" | add_to_collection once create_if_missing=true | delete confirm=true | count`)
	if err != nil {
		t.Fatal(err)
	}
	before := e.dump()
	whole := e.run(stages, false)
	after := e.dump()
	e.undo(whole)
	took := whole.FinishedAt.Sub(whole.CreatedAt)
	const times = 7
	interrupted := 0
	for n := range times {
		stop := took * time.Duration(n+1) / (times + 1)
		r, err := e.engine.Start(t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), stop)
		err = e.engine.Work(ctx, e.admin.Tenant, r.ID)
		cancel()
		if err == nil {
			e.undo(r)
			continue
		}
		interrupted++
		e.exec(`UPDATE pipeline_runs SET claimed_until = now() - interval '1 second' WHERE run_id = $1`, r.ID)
		if err := e.engine.Work(t.Context(), e.admin.Tenant, r.ID); err != nil {
			t.Fatalf("after %s: %v", stop, err)
		}
		got := e.get(r.ID)
		if got.State != library.RunCompleted {
			t.Fatalf("interrupted after %s the run is %s: %+v", stop, got.State, got.Progress.Error)
		}
		if now := e.dump(); now != after {
			t.Fatalf("interrupted after %s the library is\n%s\nwant\n%s", stop, now, after)
		}
		for i, s := range got.Progress.Stages {
			if w := whole.Progress.Stages[i]; s.Input != w.Input || s.Output != w.Output || !equalEffects(s.Effects, w.Effects) {
				t.Errorf("interrupted after %s stage %d did %d → %d %v, want %d → %d %v", stop, i, s.Input, s.Output, s.Effects, w.Input, w.Output, w.Effects)
			}
		}
		e.undo(got)
		if now := e.dump(); now != before {
			t.Fatalf("interrupted after %s the undo left\n%s", stop, now)
		}
	}
	if interrupted < 2 {
		t.Errorf("the run was interrupted %d times only", interrupted)
	}
}

func (e *env) undo(r library.PipelineRun) {
	e.t.Helper()
	if _, err := e.store.Operations.Undo(e.t.Context(), e.admin, r.OperationID, mayUndo); err != nil {
		e.t.Fatal(err)
	}
}

func TestRun_WhoLostItsClaimChangesNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(4, 4)), 5)
	stages, err := pipeline.ParseText(`search | set_tag late`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.engine.Start(t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
	if err != nil {
		t.Fatal(err)
	}
	before := e.dump()
	e.engine.Compile = func(context.Context, library.Actor, string, query.Request) (*query.Search, error) {
		e.exec(`UPDATE pipeline_runs SET claim = claim + 1 WHERE run_id = $1`, r.ID) // as another process would
		return &query.Search{}, nil
	}
	if err := e.engine.Work(t.Context(), e.admin.Tenant, r.ID); !errors.Is(err, store.ErrClaimed) {
		t.Errorf("the work of a run whose claim is lost ended with %v", err)
	}
	if e.dump() != before {
		t.Error("a process that lost its claim changed something")
	}
}

func TestStart_RefusesARealRunWithoutConfirm(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(5, 5)), 2)
	for _, text := range []string{`search | delete`, `search | archive`, `search | notify`, `search | count | tee action={"type":"set_tag","tags":["x"]}`} {
		stages, err := pipeline.ParseText(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.engine.Start(t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
		if known := library.AsError(err); known.Code != pipeline.CodeConfirm || known.Fields[0].Field == "" {
			t.Errorf("%s: %v", text, err)
		}
		if r := e.text(text, true); r.State != library.RunCompleted {
			t.Errorf("%s: the dry run is %s", text, r.State)
		}
	}
	if runs, err := e.store.PipelineRuns.List(t.Context(), e.admin.Tenant, store.RunFilter{Limit: 100}); err != nil || len(runs) != 4 {
		t.Errorf("%d runs were kept, want the 4 dry ones: %v", len(runs), err)
	}
}
