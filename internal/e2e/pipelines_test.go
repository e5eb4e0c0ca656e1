package e2e

import (
	"fmt"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service/servicetest"
)

// TestPipelines_ARunThatNobodyWaitsForIsDoneByItsJob starts a run without waiting for it, as a
// rule does, or a process that is killed then.
func TestPipelines_ARunThatNobodyWaitsForIsDoneByItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	actor := library.Actor{Kind: library.ActorKey, ID: "key_rule", Tenant: w.Tenant, Permissions: library.Permissions}
	stages, err := pipeline.ParseText(`search lighthouse | where query="tag:fog" | set_tag nightly`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Pipelines.Start(t.Context(), actor, pipeline.Request{Stages: stages, Tool: "ExecutePipeline", Trigger: library.RunTrigger{Type: "schedule", RuleID: "rule_1"}, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	api := w.Client("")
	servicetest.Eventually(t, 30*time.Second, "the run is done by its job", func() error {
		got, err := api.GetPipelineRun(t.Context(), client.GetPipelineRunInput{RunID: r.ID})
		if err == nil && (got.Runs[0].State != "completed" || got.Runs[0].ChangedCount != 1 || got.Runs[0].Trigger.RuleID != "rule_1") {
			err = fmt.Errorf("%+v", got.Runs[0])
		}
		return err
	})
	d, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: w.asset.Asset.AssetH})
	if err != nil || len(d.Tags) != 3 {
		t.Errorf("the asset has the tags %v: %v", d.Tags, err)
	}
}
