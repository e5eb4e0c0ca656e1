package pipeline_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

func TestRun_EveryStageInOnePipeline(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(1, 1)), 60)
	before := e.dump()
	text := `search | where steps > 10 | sort created desc | limit 40 | sample 30 | deduplicate prompt keep=newest | set_tag good "very good" | remove_tag wip* | set_field metadata.client acme
		| regex_replace title "^(\\w+) " "$1-" | compute metadata.ratio "round(width / height, 2)" | set_visibility public | set_owner key_other | approve Approved note="by hand"
		| add_to_collection clients.spring create_if_missing=true role=KeyVisual | count | group_by status then=tool | stats steps | histogram created bins=4 | tee action={"type":"add_to_collection","path":"review","create_if_missing":true} confirm=true
		| notify data={"channel":"x"} confirm=true | archive confirm=true | delete confirm=true`
	dry := e.text(text, true)
	if dry.State != library.RunCompleted {
		t.Fatalf("the dry run is %s: %+v", dry.State, dry.Progress.Error)
	}
	if e.dump() != before {
		t.Fatal("the dry run changed something")
	}
	real := e.text(text, false)
	if real.State != library.RunCompleted {
		t.Fatalf("the run is %s: %+v", real.State, real.Progress.Error)
	}
	for i, s := range real.Progress.Stages {
		d := dry.Progress.Stages[i]
		t.Logf("%-18s %3d → %3d %v %v", s.Type, s.Input, s.Output, s.Effects, s.Result)
		if s.Category == "output" {
			continue
		}
		if s.Input != d.Input || s.Output != d.Output || !equalEffects(s.Effects, d.Effects) {
			t.Errorf("stage %d (%s): the dry run said %d → %d %v, the run did %d → %d %v", i, s.Type, d.Input, d.Output, d.Effects, s.Input, s.Output, s.Effects)
		}
	}
	if e.dump() == before {
		t.Fatal("the run changed nothing")
	}
	undone, err := e.store.Operations.Undo(t.Context(), e.admin, real.OperationID, mayUndo)
	if err != nil {
		t.Fatal(err)
	}
	if after := e.dump(); after != before {
		t.Errorf("the undo left something: %v\n%s\n---\n%s", undone.Counts, after, before)
	}
}

func TestRun_OldRunsAreExpiredWithTheirSets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(6, 6)), 3)
	oldDry, oldReal, newDry := e.text("search", true), e.text("search", false), e.text("search", true)
	e.exec(`UPDATE pipeline_runs SET finished_at = now() - interval '8 days' WHERE run_id = ANY($1)`, []string{oldDry.ID, oldReal.ID})
	got, err := e.store.Expire(t.Context(), store.Retention{})
	if err != nil || got.Runs != 1 {
		t.Errorf("%d runs were expired: %v", got.Runs, err)
	}
	for id, want := range map[string]int{oldDry.ID: 0, oldReal.ID: 3, newDry.ID: 3} {
		var n int
		if err := e.db.QueryRow(t.Context(), `SELECT coalesce(sum(cardinality(assets)), 0) FROM pipeline_sets WHERE run_id = $1`, id).Scan(&n); err != nil || n != want {
			t.Errorf("the run %s keeps %d assets, want %d: %v", id, n, want, err)
		}
	}
}

func TestRun_WaitsOnceForAnIndexThatIsBehind(t *testing.T) {
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(6, 6)), 5)
	waited := 0
	e.engine.AwaitIndex = func(context.Context, library.TenantID) bool { waited++; return false }
	for text, want := range map[string]int{`search | where rating >= 0 | count`: 1, `search | set_tag seen`: 1, `search | where title contains "a" | count`: 1} {
		waited = 0
		r := e.text(text, false)
		if r.State != library.RunCompleted || waited != want || len(r.Progress.Stages[0].Warnings) != 1 {
			t.Errorf("%s: %s, waited %d times, want %d; warnings %v", text, r.State, waited, want, r.Progress.Stages[0].Warnings)
		}
	}
}
