package main

import (
	"fmt"
	"testing"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/service/servicetest"
)

// TestDemo_PipelinesFindAndTagTheSampleLibrary saves the pipelines of the demo twice and runs
// them in a library with the first files of the sample.
func TestDemo_PipelinesFindAndTagTheSampleLibrary(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	dir, api, ctx := t.TempDir(), e.Client(""), t.Context()
	if _, err := sample.Write(ctx, dir, sample.Options{Count: 40, Seed: 1, MaxEdge: 64}, nil); err != nil {
		t.Fatal(err)
	}
	report, err := importer.Run(ctx, api, []string{dir}, importer.Options{Tags: []string{"sample"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := untilSearchable(ctx, api, report); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := demoSavePipelines(ctx, api); err != nil {
			t.Fatal(err)
		}
		if err := demoMakeRules(ctx, api); err != nil {
			t.Fatal(err)
		}
		if err := demoRegisterWebhook(ctx, api); err != nil {
			t.Fatal(err)
		}
	}
	checkDemoRules(t, api)
	hooks, err := api.ListWebhooks(ctx, client.ListWebhooksInput{})
	if err != nil || len(hooks.Data) != 1 || hooks.Data[0].Enabled {
		t.Errorf("%+v %v", hooks, err)
	}
	list, err := api.ListPipelines(ctx, client.ListPipelinesInput{Limit: 10})
	if err != nil || list.Total != 3 {
		t.Fatalf("%d pipelines are saved: %v", list.Total, err)
	}
	colors, err := api.GetPipelineRun(ctx, client.GetPipelineRunInput{PipelineName: demoColors})
	if err != nil || len(colors.Runs) != 1 || colors.Runs[0].DryRun {
		t.Fatalf("the runs of the pipeline with colors: %+v %v", colors, err)
	}
	servicetest.Eventually(t, "the colors are found and exported", func() error {
		colors, err = api.GetPipelineRun(ctx, client.GetPipelineRunInput{RunID: colors.Runs[0].RunID})
		if err == nil && (colors.Runs[0].State != "completed" || len(colors.Runs[0].Exports) != 1) {
			err = fmt.Errorf("%+v", colors.Runs[0])
		}
		return err
	})
	if s := colors.Runs[0].Stages; s[1].Result.Rows[0][1] != "ok" || s[2].Result.Rows[0][0] == nil {
		t.Errorf("the colors are %+v", s[2].Result.Rows)
	}
	runsSavedPipelines(t, e)
}

// checkDemoRules looks at the rules that the demo makes, of which one has fired.
func checkDemoRules(t *testing.T, api *client.Client) {
	t.Helper()
	ctx := t.Context()
	if rules, err := api.ListRules(ctx, client.ListRulesInput{}); err != nil || rules.Total != 3 || rules.Data[0].PipelineDefinitionH == "" || rules.Data[0].NextAt == nil {
		t.Errorf("the rules are %+v: %v", rules, err)
	}
	for _, r := range demoRulesOf(t, api) {
		runs, err := api.ListRuleRuns(ctx, client.ListRuleRunsInput{RuleID: r.RuleID})
		if want := map[bool]int{true: 1}[r.Name == demoFiredRule]; err != nil || runs.Total != want || want == 1 && runs.Data[0].State != "done" {
			t.Errorf("the rule %s fired %d times, want %d: %+v %v", r.Name, runs.Total, want, runs.Data, err)
		}
	}
}

// runsSavedPipelines runs the two pipelines of the demo that nothing runs by itself.
func runsSavedPipelines(t *testing.T, e *servicetest.Env) {
	t.Helper()
	api, ctx := e.Client(""), t.Context()
	long, err := api.RunSavedPipeline(ctx, client.RunSavedPipelineInput{PipelineName: "long_renders_by_model"})
	if err != nil || long.State != "completed" || !long.DryRun || long.Stages[1].OutputCount == 0 || len(long.Stages[3].Result.Rows) == 0 {
		t.Errorf("long renders: %+v %v", long, err)
	}
	real := false
	tagged, err := api.RunSavedPipeline(ctx, client.RunSavedPipelineInput{PipelineName: "Tag by tool", DryRun: &real, Vars: map[string]any{"tag": "seen"}})
	if err != nil || tagged.State != "completed" || tagged.OperationID == "" || tagged.Stages[0].OutputCount == 0 {
		t.Fatalf("tag by tool: %+v %v", tagged, err)
	}
	if found := e.Search("", "tag:seen", tagged.OperationID); found.Total != int(tagged.Stages[0].OutputCount) {
		t.Errorf("%d assets are found by their new tag, the run tagged %d", found.Total, tagged.Stages[0].OutputCount)
	}
}

func demoRulesOf(t *testing.T, api *client.Client) []client.AutomationRule {
	t.Helper()
	out, err := api.ListRules(t.Context(), client.ListRulesInput{})
	if err != nil {
		t.Fatal(err)
	}
	return out.Data
}
