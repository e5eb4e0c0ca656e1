package pipeline_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/store"
)

// doJobs stands where the service's jobs do: it finishes what enrich stages of a run wait for.
func (e *env) doJobs(ctx context.Context, run string, did map[string]store.Enriched) {
	whole := context.WithoutCancel(ctx) // a query that is cancelled closes its connection
	for ctx.Err() == nil {
		rows, err := e.db.Query(whole, `SELECT stage, part FROM pipeline_enrichments WHERE run_id = $1 AND results IS NULL`, run)
		if err != nil {
			e.t.Error(err)
			return
		}
		var open []store.EnrichJob
		for rows.Next() {
			j := store.EnrichJob{Tenant: e.admin.Tenant, Run: run}
			if rows.Scan(&j.Stage, &j.Part) == nil {
				open = append(open, j)
			}
		}
		rows.Close()
		for _, j := range open {
			_ = e.store.Enrichments.Finish(whole, j, did)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// enrichRun runs a pipeline whose jobs end as did says.
func (e *env) enrichRun(text string, did map[string]store.Enriched) library.PipelineRun {
	e.t.Helper()
	stages, err := pipeline.ParseText(text)
	if err != nil {
		e.t.Fatal(err)
	}
	r, err := e.engine.Start(e.t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
	if err != nil {
		e.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(e.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); e.doJobs(ctx, r.ID, did) }()
	if err := e.engine.Work(e.t.Context(), e.admin.Tenant, r.ID); err != nil {
		e.t.Fatal(err)
	}
	cancel()
	<-done
	return e.get(r.ID)
}

func TestEnrich_ADryRunPredictsTheRunAndTheStageBehindWaits(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(8, 8)), 60)
	const text = `search | where rating >= 2 | enrich phash caption | count`
	dry := e.text(text, true)
	real := e.enrichRun(text, map[string]store.Enriched{"phash": {Changed: 1, Same: 2}})
	a, b := dry.Progress.Stages[2], real.Progress.Stages[2]
	if real.State != library.RunCompleted || !equalEffects(a.Effects, b.Effects) || len(a.Effects) != 1 || a.Effects[0].Count != a.Input || a.Input < 26 {
		t.Errorf("the run is %s; the dry run said %v of %d assets, the run did %v", real.State, a.Effects, a.Input, b.Effects)
	}
	for i, want := range [][]any{{"simulated", "stub"}, {"ok", "stub"}} {
		rows := []*library.StageResult{a.Result, b.Result}[i].Rows
		if rows[0][0] != "caption" || rows[0][1] != want[1] || rows[1][1] != want[0] {
			t.Errorf("the operations are reported as %v, want %v", rows, want)
		}
	}
	if len(b.Warnings) != 1 || real.Progress.Changed != 0 {
		t.Errorf("warnings %v, %d changes", b.Warnings, real.Progress.Changed)
	}
}

func TestEnrich_AFailureEndsTheRunUnlessItIsSkipped(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(9, 9)), 3)
	did := map[string]store.Enriched{"phash": {Same: 2, Failed: 1, Reason: "the file is damaged"}}
	if r := e.enrichRun(`search | enrich phash | count`, did); r.State != library.RunFailed || r.Progress.Error.Code != pipeline.CodeStageFailed {
		t.Errorf("the run is %s: %+v", r.State, r.Progress.Error)
	}
	if r := e.enrichRun(`search | enrich phash on_error=skip | count`, did); r.State != library.RunCompleted || r.Progress.Failed != 1 || len(r.Progress.Stages[1].Warnings) != 1 {
		t.Errorf("with on_error: skip the run is %s with %d failures: %v", r.State, r.Progress.Failed, r.Progress.Stages[1].Warnings)
	}
}

func TestEnrich_ARunThatWaitsForItsJobsIsCancelled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(10, 10)), 3)
	stages, err := pipeline.ParseText(`search | enrich phash | set_tag never`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.engine.Start(t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
	if err != nil {
		t.Fatal(err)
	}
	before := e.dump()
	time.AfterFunc(300*time.Millisecond, func() { _, _ = e.store.PipelineRuns.Cancel(context.Background(), e.admin, r.ID) })
	if err := e.engine.Work(t.Context(), e.admin.Tenant, r.ID); err != nil {
		t.Fatal(err)
	}
	if got := e.get(r.ID); got.State != library.RunCancelled || e.dump() != before {
		t.Errorf("the run is %s", got.State)
	}
	if left, err := e.store.Enrichments.Get(t.Context(), store.EnrichJob{Tenant: e.admin.Tenant, Run: r.ID, Stage: 1}); err != nil || !left.Done {
		t.Errorf("a job of a cancelled run would still be done: %+v, %v", left, err)
	}
}

func TestRun_EndsAtTheRunTimeOfItsTenant(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(11, 11)), 3)
	seconds := int64(2)
	if _, err := e.store.Limits.Set(t.Context(), e.admin, e.admin.Tenant, store.LimitChange{RunSeconds: &seconds}); err != nil {
		t.Fatal(err)
	}
	r := e.text(`search | enrich phash | count`, false) // nobody does the job that it waits for
	if r.State != library.RunTimedOut || !strings.Contains(r.Progress.Error.Detail, "2s") {
		t.Errorf("the run is %s: %+v", r.State, r.Progress.Error)
	}
	unlimited := int64(library.Unlimited)
	if _, err := e.store.Limits.Set(t.Context(), e.admin, e.admin.Tenant, store.LimitChange{RunSeconds: &unlimited}); err != nil {
		t.Fatal(err)
	}
	if r := e.text(`search | count`, false); r.State != library.RunCompleted {
		t.Errorf("without a limit the run is %s: %+v", r.State, r.Progress.Error)
	}
}
