package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
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
	stream := w.follow(out.RunID)
	if first := stream.next(); first.State != "running" || len(first.Stages) != 4 || first.Stages[1].State != "ok" {
		t.Errorf("the first message of the stream: %+v", first)
	}
	asked, err := api.CancelPipelineRun(t.Context(), client.CancelPipelineRunInput{RunID: out.RunID})
	if err != nil || asked.RunID != out.RunID {
		t.Fatalf("%+v, %v", asked, err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := w.ended(out.RunID)
	last := stream.next()
	for last.State == "running" {
		last = stream.next()
	}
	if !reflect.DeepEqual(last, run) || stream.id != "ended" || stream.lines.Scan() && stream.lines.Text() != "" {
		t.Errorf("the last message of the stream, with the id %q: %+v", stream.id, last)
	}
	if run.State != "cancelled" || run.Error.Code != pipeline.CodeCancelled || run.Stages[1].State != "ok" || run.Stages[3].State != "skipped" || run.OperationID == "" {
		t.Fatalf("the run that was cancelled: %+v", run)
	}
	if got := w.tagsOf(w.asset.Asset.AssetH); got != "[before fog sea]" && got != "[sea fog before]" {
		t.Errorf("a cancelled run left the tags %s", got)
	}
	if _, err := api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: run.OperationID}); err != nil {
		t.Fatal(err)
	}
	if got := w.tagsOf(w.asset.Asset.AssetH); got != "[fog sea]" && got != "[sea fog]" {
		t.Errorf("the undo of a cancelled run left the tags %s", got)
	}
	if again, err := api.CancelPipelineRun(t.Context(), client.CancelPipelineRunInput{RunID: out.RunID}); err != nil || again.State != "cancelled" {
		t.Errorf("a second cancel: %+v, %v", again, err)
	}
}

// tagsOf returns the tags of an asset as a text.
func (w world) tagsOf(asset string) string {
	t, api := w.T, w.Client("")
	t.Helper()
	d, err := api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: asset})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(d.Tags)
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

// runStream reads the messages about a run.
type runStream struct {
	t     testing.TB
	lines *bufio.Scanner
	id    string // of the last message
}

// follow opens the stream of a run.
func (w world) follow(id string) *runStream {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Minute)
	w.T.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/api/v1/pipelines/runs/"+id+"/events", nil)
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("X-API-Key", w.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		w.T.Fatalf("%+v, %v", res, err)
	}
	w.T.Cleanup(func() { res.Body.Close() })
	return &runStream{t: w.T, lines: bufio.NewScanner(res.Body)}
}

// next returns the next message.
func (s *runStream) next() (run client.PipelineTrace) {
	s.t.Helper()
	for s.lines.Scan() {
		if id, is := strings.CutPrefix(s.lines.Text(), "id: "); is {
			s.id = id
		}
		if data, is := strings.CutPrefix(s.lines.Text(), "data: "); is {
			if err := json.Unmarshal([]byte(data), &run); err != nil {
				s.t.Fatal(err)
			}
			return run
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return run
}

// ended waits until a run has ended and returns it.
func (w world) ended(id string) (run client.PipelineTrace) {
	w.T.Helper()
	servicetest.Eventually(w.T, "the run ends", func() error {
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
