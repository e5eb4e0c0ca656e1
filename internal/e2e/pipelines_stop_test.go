package e2e

import (
	"fmt"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// TestPipelines_ACancelledRunKeepsWhatItDidUntilItIsUndone holds a run in its third stage, cancels it
// there, and takes back what its stages did.
func TestPipelines_ACancelledRunKeepsWhatItDidUntilItIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	tx, err := storetest.Owner(t, w.Cfg.PostgresURL).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if tag, err := tx.Exec(t.Context(), `SELECT FROM collections WHERE tenant_id = $1 AND path = 'lighthouses' FOR UPDATE`, string(w.Tenant)); err != nil || tag.RowsAffected() != 1 {
		t.Fatal(tag, err)
	}
	out, err := api.ExecutePipeline(t.Context(), client.ExecutePipelineInput{TimeoutMS: 1000, Stages: []map[string]any{
		{"type": "ids", "config": map[string]any{"asset_ids": []any{w.asset.Asset.AssetH}}},
		{"type": "set_tag", "config": map[string]any{"tags": []any{"before"}}},
		{"type": "add_to_collection", "config": map[string]any{"path": "lighthouses", "role": "KeyVisual"}},
		{"type": "set_tag", "config": map[string]any{"tags": []any{"behind"}}},
	}})
	if err != nil || out.State != "running" {
		t.Fatalf("the run that is held: %+v, %v", out, err)
	}
	asked, err := api.CancelPipelineRun(t.Context(), client.CancelPipelineRunInput{RunID: out.RunID})
	if err != nil || asked.RunID != out.RunID {
		t.Fatalf("%+v, %v", asked, err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := w.ended(out.RunID)
	if run.State != "cancelled" || run.Error.Code != pipeline.CodeCancelled || run.Stages[1].State != "ok" || run.Stages[3].State != "skipped" || run.OperationID == "" {
		t.Fatalf("the run that was cancelled: %+v", run)
	}
	tags := func() string {
		t.Helper()
		d, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: w.asset.Asset.AssetH})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.Tags)
	}
	if got := tags(); got != "[before fog sea]" && got != "[sea fog before]" {
		t.Errorf("a cancelled run left the tags %s", got)
	}
	if _, err := api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: run.OperationID}); err != nil {
		t.Fatal(err)
	}
	if got := tags(); got != "[fog sea]" && got != "[sea fog]" {
		t.Errorf("the undo of a cancelled run left the tags %s", got)
	}
	if again, err := api.CancelPipelineRun(t.Context(), client.CancelPipelineRunInput{RunID: out.RunID}); err != nil || again.State != "cancelled" {
		t.Errorf("a second cancel: %+v, %v", again, err)
	}
}

// TestPipelines_ARunBeyondItsTimeIsTimedOut starts a run whose time is over.
func TestPipelines_ARunBeyondItsTimeIsTimedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	db := storetest.Owner(t, w.Cfg.PostgresURL)
	actor := library.Actor{Kind: library.ActorKey, ID: "key_test", Tenant: w.Tenant, Permissions: library.Permissions}
	stages, err := pipeline.ParseText(`ids ` + w.asset.Asset.AssetH + ` | set_tag late`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Pipelines.Prepare(t.Context(), actor, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
	if err == nil {
		err = w.Store.PipelineRuns.Create(t.Context(), &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(t.Context(), `UPDATE pipeline_runs SET deadline_at = now() - interval '1 second' WHERE run_id = $1 AND state = 'queued'`, r.ID); err != nil {
		t.Fatal(err)
	}
	run := w.ended(r.ID)
	if run.State != "timed_out" || run.Error.Code != pipeline.CodeRunTimedOut || run.Stages[0].State != "timed_out" || run.Stages[1].State != "skipped" || run.ChangedCount != 0 {
		t.Errorf("the run: %+v", run)
	}
}

// ended waits until a run has ended and returns it.
func (w world) ended(id string) (run client.PipelineTrace) {
	w.T.Helper()
	servicetest.Eventually(w.T, 30*time.Second, "the run ends", func() error {
		out, err := w.Client("").GetPipelineRun(w.T.Context(), client.GetPipelineRunInput{RunID: id})
		if err == nil {
			if run = out.Runs[0]; run.State == "queued" || run.State == "running" {
				err = fmt.Errorf("it is %s", run.State)
			}
		}
		return err
	})
	return run
}
