package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service/servicetest"
)

// fusable draws a stage that the index can do, or, one time in eight, one that it cannot.
func fusable(r *rand.Rand) string {
	n := r.IntN(6)
	switch r.IntN(17) {
	case 0:
		return fmt.Sprintf("where rating >= %d", n)
	case 1:
		return fmt.Sprintf("where steps != %d", 10*n)
	case 2:
		return fmt.Sprintf("where not (steps > %d and favorite)", 10*n)
	case 3:
		return `where status in ("draft", "APPROVED")`
	case 4:
		return `where status != "approved" or width <= 48`
	case 5:
		return fmt.Sprintf(`where field=rating operator=between value=[1,%d]`, n)
	case 6:
		return `where field=steps operator=missing`
	case 7:
		return fmt.Sprintf(`where any=[{"field":"rating","operator":"eq","value":%d},{"not":{"field":"seed","operator":"in","value":[1,18446744073709551615]}}]`, n)
	case 8:
		return fmt.Sprintf(`where created >= "2026-01-%02dT12:00:00.500Z"`, 1+n)
	case 9:
		return `where query="tag:even or steps:>15"`
	case 10:
		return "sort created " + []string{"asc", "desc"}[n%2]
	case 11:
		return `sort keys=[{"by":"rating","order":"desc"},{"by":"steps"}]`
	case 12:
		return "sort steps desc"
	case 13:
		return fmt.Sprintf("limit %d offset=%d", 3*n, n)
	case 14:
		return "limit 12"
	case 15:
		return `where title contains "a"`
	}
	return "sort title desc"
}

// TestPipelines_WhatIsFusedIntoOneQueryIsWhatEachStageFinds runs random pipelines with and without
// fusion on the same library, and compares their sets and counts.
func TestPipelines_WhatIsFusedIntoOneQueryIsWhatEachStageFinds(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	seed := rand.New(rand.NewPCG(18, 18))
	for i := range 24 {
		text := ""
		if i%4 > 0 {
			text = fmt.Sprintf("a lighthouse, %d\nSteps: %d, Sampler: Euler a, CFG scale: 7, Seed: %d, Size: 48x32", i, 10*seed.IntN(5), []uint64{1, 7, 1<<64 - 1}[i%3])
		}
		file := picture(1000+i, "")
		if text != "" {
			file = withText(file, "parameters", text)
		}
		stored := e.StoreFile("", fmt.Sprintf("%d.png", i), "image/png", file, []string{"even", "odd"}[i%2])
		e.Call(http.MethodPatch, "/api/v1/assets/"+string(stored.Asset.AssetH), map[string]any{"title": fmt.Sprint("Asset ", seed.IntN(9)), "status": []string{"Draft", "Approved", "Rejected"}[seed.IntN(3)],
			"rating": seed.IntN(6), "favorite": seed.IntN(2) == 0}, nil)
	}
	actor := library.Actor{Kind: library.ActorKey, ID: "key_fused", Tenant: e.Tenant, Permissions: library.Permissions}
	servicetest.Eventually(t, "the index has everything", func() error {
		if !e.Pipelines.AwaitIndex(t.Context(), e.Tenant) {
			return fmt.Errorf("it has not")
		}
		return nil
	})
	unfused := *e.Pipelines
	unfused.NoFusion = true
	fused, n := 0, 0
	for _, s := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(s, 18))
		for range randtest.Cases(t, 12) {
			parts := []string{[]string{"search", "search lighthouse", `search "tag:odd"`}[r.IntN(3)]}
			for range 1 + r.IntN(5) {
				parts = append(parts, fusable(r))
			}
			text := strings.Join(append(parts, "count"), " | ")
			a, b := runStages(t, e, e.Pipelines, actor, text), runStages(t, e, &unfused, actor, text)
			n++
			if plan := explained(t, e, actor, text); len(plan[0].Fused) > 0 {
				fused++
			}
			for i, x := range a.Progress.Stages {
				if y := b.Progress.Stages[i]; x.Input != y.Input || x.Output != y.Output || x.Done != y.Done {
					t.Errorf("%s: stage %d: fused %d → %d, else %d → %d", text, i, x.Input, x.Output, y.Input, y.Output)
				}
			}
			if x, y := setOf(t, e, actor, a), setOf(t, e, actor, b); !slices.Equal(x, y) {
				t.Errorf("%s: fused\n%v, else\n%v", text, x, y)
			}
		}
	}
	if t.Logf("%d of %d pipelines were fused", fused, n); fused < n/2 {
		t.Errorf("only %d of %d pipelines were fused", fused, n)
	}
}

func explained(t *testing.T, e *servicetest.Env, actor library.Actor, text string) []pipeline.PlanStep {
	t.Helper()
	stages, err := pipeline.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	_, plan, err := e.Pipelines.Explain(t.Context(), actor, stages)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plan
}

func runStages(t *testing.T, e *servicetest.Env, engine *pipeline.Engine, actor library.Actor, text string) library.PipelineRun {
	t.Helper()
	stages, err := pipeline.ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.Start(t.Context(), actor, pipeline.Request{Stages: stages, DryRun: true, Tool: "ExecutePipeline"})
	if err == nil {
		r, err = engine.Await(t.Context(), actor, r.ID, time.Minute)
	}
	if err != nil || r.State != library.RunCompleted {
		t.Fatalf("%s: %s %+v, %v", text, r.State, r.Progress.Error, err)
	}
	return r
}

func setOf(t *testing.T, e *servicetest.Env, actor library.Actor, r library.PipelineRun) []library.AssetHash {
	t.Helper()
	list, _, err := e.Store.PipelineRuns.SetPage(t.Context(), actor, r.ID, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
