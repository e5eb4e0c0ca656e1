package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/inplace"
	"vitrine/library"
	"vitrine/op"
	"vitrine/op/all"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestEvents_EveryDeclaredTypeArrivesOnTheStream makes every kind of change over REST and
// reads the stream beside it. That every event has a declared type and a payload of its
// schema is checked by package servicetest.
func TestEvents_EveryDeclaredTypeArrivesOnTheStream(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) { c.ImportRoots = []inplace.Root{{Name: "pictures", Dir: folder}} }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/api/v1/events", nil)
	req.Header.Set("Authorization", "Bearer "+e.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the stream answers %s", res.Status)
	}
	missing := map[string]bool{}
	for _, x := range all.DocumentedCatalog().Events {
		missing[x.Name] = !x.Direct
	}
	maps.DeleteFunc(missing, func(_ string, wanted bool) bool { return !wanted })
	makeEveryChange(t, e)
	lines := bufio.NewScanner(res.Body)
	for len(missing) > 0 && lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var m op.EventMessage
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		delete(missing, m.Type)
	}
	if len(missing) > 0 {
		var names []string
		for n := range missing {
			names = append(names, n)
		}
		slices.Sort(names)
		t.Errorf("no operation emitted %v (%v)", names, lines.Err())
	}
}

// makeEveryChange makes every kind of change that operations make.
func makeEveryChange(t *testing.T, e *servicetest.Env) {
	t.Helper()
	type operation struct {
		ID string `json:"operation_id"`
	}
	call := func(method, path string, in any) string {
		var out operation
		e.Call(method, path, in, &out)
		return out.ID
	}
	undo := func(id string) string {
		return call(http.MethodPost, "/api/v1/operations/"+id+"/undo", map[string]any{})
	}

	file := e.StoreFile("", "fox.png", "image/png", withText(picture(1, ""), "parameters",
		"a fox <lora:detail:0.6>\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 1, Size: 48x32, Model: base_v1, Model hash: abcdef1234"))
	silent := e.StoreFile("", "silent.png", "image/png", picture(2, ""))
	asset, model := "/api/v1/assets/"+string(silent.Asset.AssetH), library.NewModelHash("lora", "detail")
	call(http.MethodPatch, asset, map[string]any{"title": "silent", "status": "Approved", "tags": []string{"quiet"}})
	undo(undo(file.OperationID)) // to the trash and back

	call(http.MethodPost, asset+"/models", map[string]any{"model_hash": model, "detection_source": "agent"})
	call(http.MethodPost, asset+"/models", map[string]any{"model_hash": model, "detection_source": "agent", "model_weight": 0.5})
	undo(undo(call(http.MethodPost, asset+"/models", map[string]any{"model_hash": model, "detection_source": "manual"})))

	versions := "/api/v1/models/" + string(model) + "/versions"
	call(http.MethodPost, versions, map[string]any{"version_tag": "v1", "is_recommended": true})
	second := call(http.MethodPost, versions, map[string]any{"version_tag": "v2", "is_recommended": true})
	undo(undo(second))

	var saved struct {
		ID string `json:"saved_search_id"`
	}
	e.Call(http.MethodPost, "/api/v1/saved-searches", map[string]any{"name": "foxes", "query": "fox"}, &saved)
	call(http.MethodPatch, "/api/v1/saved-searches/"+saved.ID, map[string]any{"query": "red fox"})
	call(http.MethodDelete, "/api/v1/saved-searches/"+saved.ID, nil)
	changeCollections(e, silent.Asset.AssetH, undo)
	changePrompts(e, undo)
	changeAnnotations(e, silent.Asset.AssetH, undo)
	changeExperiments(e, file.Asset.AssetH, silent.Asset.AssetH, undo)
	undo(call(http.MethodPost, "/api/v1/assets/duplicates/unlink", map[string]any{"asset_hs": []any{file.Asset.AssetH, silent.Asset.AssetH}}))
	changeProspects(e, undo)
	changePipelines(e, file.Asset.AssetH, undo)
	changeRules(e, undo)
	changeWebhooks(e, undo)
	call(http.MethodPost, "/api/v1/imports", map[string]any{"folder": "pictures"})
	undo(undo(call(http.MethodPost, "/api/v1/shares", map[string]any{"asset_hs": []any{file.Asset.AssetH}})))
	call(http.MethodPost, "/api/v1/trash", map[string]any{"asset_hs": []any{silent.Asset.AssetH}, "operation": "trash"})
	call(http.MethodPost, "/api/v1/trash/purge", map[string]any{"asset_hs": []any{silent.Asset.AssetH}, "include_referenced": true, "confirm": true})
}

// changePipelines makes every kind of change of a pipeline, and runs one that notifies.
func changePipelines(e *servicetest.Env, asset string, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		PipelineH   string `json:"pipeline_definition_h"`
	}
	stages := []any{ofAsset(asset), map[string]any{"type": "export", "config": map[string]any{"preset": "archive", "confirm": true}}}
	for _, event := range []string{"pipeline.notified", "pipeline.failed"} {
		stages = append(stages, map[string]any{"type": "notify", "config": map[string]any{"event_type": event, "confirm": true}})
	}
	e.Call(http.MethodPost, "/api/v1/pipelines", map[string]any{"name": "Tell the reviewers", "stages": stages}, &made)
	e.Call(http.MethodPost, "/api/v1/pipelines", map[string]any{"name": "Tell them all", "stages": stages, "pipeline_definition_h": made.PipelineH}, &made)
	e.Call(http.MethodPost, "/api/v1/pipelines/run", map[string]any{"pipeline_definition_h": made.PipelineH, "dry_run": false}, nil)
	e.Call(http.MethodDelete, "/api/v1/pipelines/"+made.PipelineH, nil, &made)
	undo(made.OperationID)
}

// changeRules makes every kind of change of a rule, and has rules fire, reach a limit and fail.
func changeRules(e *servicetest.Env, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		PipelineH   string `json:"pipeline_definition_h"`
		RuleID      string `json:"rule_id"`
	}
	trigger := map[string]any{"type": "event", "event_type": "saved_search.deleted"}
	e.Call(http.MethodPost, "/api/v1/rules", map[string]any{"name": "Tell of searches", "trigger_config": trigger, "rate_limit_config": map[string]any{"max_executions_per_hour": 1}}, &made)
	e.Call(http.MethodPatch, "/api/v1/rules/"+made.RuleID, map[string]any{"description": "once an hour"}, nil)

	e.Call(http.MethodPost, "/api/v1/pipelines", map[string]any{"name": "Nothing to run", "stages": []any{map[string]any{"type": "search"}}}, &made)
	e.Call(http.MethodPost, "/api/v1/rules", map[string]any{"name": "Run nothing", "trigger_config": trigger, "pipeline_name": "nothing to run"}, nil)
	e.Call(http.MethodDelete, "/api/v1/pipelines/"+made.PipelineH, nil, nil)
	for range library.MaxRuleFailures {
		e.Call(http.MethodPost, "/api/v1/rules/trigger", map[string]any{"trigger_type": "event", "event_type": "saved_search.deleted"}, nil)
	}
	e.Call(http.MethodDelete, "/api/v1/rules/"+made.RuleID, nil, &made)
	undo(made.OperationID)
}

// changeWebhooks makes every kind of change of a webhook.
func changeWebhooks(e *servicetest.Env, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		WebhookID   string `json:"webhook_id"`
	}
	e.Call(http.MethodPost, "/api/v1/webhooks", map[string]any{"name": "relay", "url": "https://hooks.example.com", "events": []string{"*"}, "enabled": false}, &made)
	of := "/api/v1/webhooks/" + made.WebhookID
	e.Call(http.MethodPatch, of, map[string]any{"events": []string{"asset.*"}}, &made)
	e.Call(http.MethodDelete, of, nil, &made)
	undo(made.OperationID)
}

// changeAnnotations makes every kind of change of an annotation.
func changeAnnotations(e *servicetest.Env, asset string, undo func(operation string) string) {
	var made struct {
		OperationID  string `json:"operation_id"`
		AnnotationID string `json:"annotation_id"`
	}
	e.Call(http.MethodPost, "/api/v1/annotations", map[string]any{"workflow_node_id": asset, "content": "too dark"}, &made)
	of := "/api/v1/annotations/" + made.AnnotationID
	e.Call(http.MethodPatch, of, map[string]any{"resolved": true}, &made)
	e.Call(http.MethodDelete, of, nil, &made)
	undo(made.OperationID)
}

// changeExperiments makes every kind of change of an experiment, its runs, scores and comparisons.
func changeExperiments(e *servicetest.Env, one, other string, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		CollectionH string `json:"collection_h"`
		Run         string `json:"collection_item_h"`
	}
	e.Call(http.MethodPost, "/api/v1/experiments", map[string]any{"display_name": "Light", "hypothesis": "More steps are better."}, &made)
	experiment, created := "/api/v1/experiments/"+made.CollectionH, made.OperationID
	e.Call(http.MethodPatch, experiment, map[string]any{"hypothesis": "Fewer steps are better."}, &made)
	undo(made.OperationID)
	e.Call(http.MethodPost, experiment+"/runs", map[string]any{"asset_h": one}, &made)
	first := made.Run
	e.Call(http.MethodPost, experiment+"/runs", map[string]any{"asset_h": one, "condition_id": "few steps"}, &made)
	e.Call(http.MethodPost, experiment+"/runs", map[string]any{"asset_h": other}, &made)
	second, registered := made.Run, made.OperationID
	e.Call(http.MethodPost, "/api/v1/runs/"+first+"/scores", map[string]any{"scores": map[string]any{"light": 4}}, &made)
	undo(made.OperationID)
	e.Call(http.MethodPost, experiment+"/comparisons", map[string]any{"item_a": first, "item_b": second, "winners": map[string]any{"light": "item_a"}}, &made)
	undo(made.OperationID)
	undo(registered)
	undo(undo(undo(created)))
}

// changeProspects makes every kind of change of a prospect.
func changeProspects(e *servicetest.Env, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		ProspectH   string `json:"prospect_h"`
	}
	e.Call(http.MethodPost, "/api/v1/prospects", map[string]any{"prospect": map[string]any{"email": "fox@example.com"}, "record_source": "test"}, &made)
	of := "/api/v1/prospects/" + made.ProspectH
	e.Call(http.MethodPut, of+"/owner", map[string]any{"owner": "ada", "record_source": "test"}, &made)
	e.Call(http.MethodPost, of+"/touches", map[string]any{"touch": map[string]any{"channel": "email"}, "record_source": "test"}, &made)
	e.Call(http.MethodPost, of+"/replies", map[string]any{"reply": map[string]any{"classification": "positive"}, "record_source": "test"}, &made)
	e.Call(http.MethodPost, of+"/suppressions", map[string]any{"reason": "not_now", "record_source": "test"}, &made)
	undo(made.OperationID)
}

// changePrompts makes every kind of change of a prompt and what belongs to it.
func changePrompts(e *servicetest.Env, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		PromptH     string `json:"prompt_h"`
	}
	e.Call(http.MethodPost, "/api/v1/prompts", map[string]any{"prompt_text": "a {{color}} fox in snow"}, &made)
	of := "/api/v1/prompts/" + made.PromptH
	e.Call(http.MethodPatch, of, map[string]any{"name": "Foxes"}, &made)
	e.Call(http.MethodPatch, of, map[string]any{"prompt_text": "a {{color}} fox in deep snow"}, &made)
	undo(made.OperationID)
	e.Call(http.MethodPatch, of, map[string]any{"labels": []any{"production"}}, &made)
	e.Call(http.MethodPatch, of, map[string]any{"remove_labels": []any{"production"}}, &made)
	e.Call(http.MethodPatch, of, map[string]any{"evaluation": map[string]any{"scores": map[string]any{"light": 4}}}, &made)
	undo(made.OperationID)
	e.Call(http.MethodDelete, of, nil, &made)
	undo(made.OperationID)
}

// changeCollections makes every kind of change of a collection and what is in it.
func changeCollections(e *servicetest.Env, asset string, undo func(operation string) string) {
	var made struct {
		OperationID string `json:"operation_id"`
		CollectionH string `json:"collection_h"`
		CardH       string `json:"card_h"`
	}
	e.Call(http.MethodPost, "/api/v1/collections", map[string]any{"name": "Foxes"}, &made)
	of := "/api/v1/collections/" + made.CollectionH
	e.Call(http.MethodPatch, of, map[string]any{"name": "Red foxes"}, &made)
	e.Call(http.MethodPost, of+"/assets", map[string]any{"asset_hs": []any{asset}}, &made)
	e.Call(http.MethodPost, of+"/assets/remove", map[string]any{"asset_hs": []any{asset}}, &made)
	e.Call(http.MethodPost, of+"/cards", map[string]any{"heading": "Foxes"}, &made)
	e.Call(http.MethodPatch, of+"/cards/"+made.CardH, map[string]any{"heading": "Red foxes"}, &made)
	e.Call(http.MethodDelete, of+"/cards/"+made.CardH, nil, &made)
	e.Call(http.MethodPost, of+"/publication", map[string]any{"preset": "share"}, &made)
	e.Call(http.MethodPost, of+"/publication", map[string]any{"unpublish": true}, &made)
	e.Call(http.MethodDelete, of, nil, &made)
	undo(made.OperationID)
}
