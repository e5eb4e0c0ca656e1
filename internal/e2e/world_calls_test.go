package e2e

import (
	"encoding/json"
	"iter"
	"net/url"
	"slices"
	"strings"

	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service/servicetest"
)

// examples yields every operation with arguments that work in this world when they are called in
// this order: what deletes something comes last, and the parts of a thing are deleted before it.
func (w world) examples(list []op.Operation) iter.Seq2[op.Operation, map[string]any] {
	w.T.Helper()
	deletes := func(o op.Operation) int {
		if o.Method != "DELETE" {
			return 0
		}
		return 100 - strings.Count(o.Path, "/")
	}
	list = slices.SortedStableFunc(slices.Values(list), func(a, b op.Operation) int { return deletes(a) - deletes(b) })
	return func(yield func(op.Operation, map[string]any) bool) {
		for _, o := range list {
			if o.Name == "StartImport" {
				continue // it needs a folder that the operator allows this tenant; package service tests it
			}
			args := w.args(o)
			switch o.Name {
			case "GetWorkflow": // the world's own picture carries no graph
				graph := withText(picture(8, ""), "prompt", `{"1":{"class_type":"EmptyLatentImage","inputs":{"width":64}}}`)
				args["asset_h"] = w.StoreFile("", "graph.png", "image/png", graph).Asset.AssetH
			case "ConfirmComfyUpload":
				args["path"] = w.comfyUpload()
			case "UnlinkDuplicates": // a pair
				other := w.StoreFile("", "pair.png", "image/png", picture(9, "a pair"))
				args["asset_hs"] = []any{w.asset.Asset.AssetH, other.Asset.AssetH}
			}
			if !yield(o, args) {
				return
			}
		}
	}
}

// args returns valid arguments for an operation, about what this world has.
func (w world) args(o op.Operation) map[string]any {
	w.T.Helper()
	var args map[string]any
	if err := json.Unmarshal(servicetest.JSON(o.Example), &args); err != nil {
		w.T.Fatalf("the example of %s is no object: %v", o.Name, err)
	}
	mine := w.identifiers()
	if slices.ContainsFunc(o.Identifiers, func(id op.Identifier) bool { return id.Kind == op.IDExperiment || id.Kind == op.IDRun }) {
		w.runs()
		mine[op.IDExperiment], mine[op.IDRun], mine[op.IDOtherRun] = w.lab.experiment, w.lab.run, w.lab.other
	}
	if slices.ContainsFunc(o.Identifiers, func(id op.Identifier) bool { return id.Kind == op.IDPipeline || id.Kind == op.IDPipelineRun }) && o.Name != "ClonePipelineTemplate" {
		mine[op.IDPipeline], mine[op.IDPipelineRun], mine[op.IDEarlierRun] = w.pipelines()
	}
	if slices.ContainsFunc(o.Identifiers, func(id op.Identifier) bool { return id.Kind == op.IDExport }) {
		mine[op.IDExport] = w.exports()
	}
	if slices.ContainsFunc(o.Identifiers, func(id op.Identifier) bool { return id.Kind == op.IDShare }) {
		mine[op.IDShare] = w.shares()
	}
	for _, id := range o.Identifiers {
		if value, ok := mine[id.Kind]; ok && id.In(args) {
			args = id.With(args, value)
		}
	}
	if pair, ok := args["asset_hs"].([]any); ok && o.Name == "UnlinkDuplicates" { // both are this world's asset now
		args["asset_hs"] = append(pair[:1:1], nowhere[op.IDAsset])
	}
	return args
}

// identifiers are the things of this world that operations can be about.
func (w world) identifiers() map[op.IDKind]string {
	return map[op.IDKind]string{op.IDAsset: w.asset.Asset.AssetH, op.IDModel: string(worldModel), op.IDSavedSearch: w.saved, op.IDOperation: w.operation,
		op.IDCollection: w.collection, op.IDTextCard: w.card, op.IDRule: w.rule, op.IDWebhook: w.webhook,
		op.IDNode: w.asset.Asset.AssetH, op.IDAnnotation: w.annotation, op.IDPrompt: w.prompt, op.IDProspect: w.prospect, op.IDImport: w.importOf(w.Tenant, "harbours")}
}

// importOf returns the identifier of an import of a tenant's that has ended, with a file that
// it tells of.
func (w world) importOf(tenant library.TenantID, folder string) string {
	w.T.Helper()
	actor := library.Actor{Kind: library.ActorSystem, ID: "test", Tenant: tenant}
	if list, err := w.Store.Imports.List(w.T.Context(), actor, "", 1); err == nil && len(list) == 1 {
		return list[0].ID
	}
	made, err := w.Store.Imports.Start(w.T.Context(), actor, "samples", folder, library.ImportOptions{})
	if err == nil {
		_, err = w.Store.Imports.Cancel(w.T.Context(), actor, made.ID)
	}
	if err == nil {
		_, err = w.Store.Imports.Save(w.T.Context(), library.Import{Tenant: tenant, ID: made.ID, State: library.ImportCancelled}, "", 0, []library.ImportFile{{Path: folder + ".txt", Result: "skipped", Reason: folder}})
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return made.ID
}

// nowhere has identifiers of the right form that name nothing at all.
var nowhere = map[op.IDKind]string{
	op.IDAsset: strings.Repeat("d", 40), op.IDModel: strings.Repeat("e", 40), op.IDSavedSearch: "01980000-0000-7000-8000-00000000dead",
	op.IDCollection: strings.Repeat("c", 40), op.IDTextCard: strings.Repeat("b", 40),
	op.IDExperiment: strings.Repeat("8", 40), op.IDRun: strings.Repeat("7", 40), op.IDOtherRun: strings.Repeat("6", 40),
	op.IDPipeline: strings.Repeat("4", 40), op.IDPipelineRun: "01980000-0000-7000-8000-00000000dead", op.IDEarlierRun: "01980000-0000-7000-8000-00000000deaf",
	op.IDImport: "01980000-0000-7000-8000-00000000dead", op.IDRule: "01980000-0000-7000-8000-00000000dead",
	op.IDPrompt: strings.Repeat("5", 40), op.IDProspect: strings.Repeat("4", 40), op.IDNode: strings.Repeat("a", 40), op.IDAnnotation: strings.Repeat("9", 40),
	op.IDOperation: "01980000-0000-7000-8000-00000000dead", op.IDExport: "01980000-0000-7000-8000-00000000dead", op.IDTenant: "01980000-0000-7000-8000-00000000dead",
	op.IDWebhook: "01980000-0000-7000-8000-00000000dead", op.IDShare: "01980000-0000-7000-8000-00000000dead",
}

// route puts arguments into the path, the query or the body of an operation's route.
func (w world) route(o op.Operation, args map[string]any) (path string, payload []byte) {
	path = o.Path
	body := map[string]any{}
	for name, v := range args {
		if s, ok := v.(string); ok && strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(s))
			continue
		}
		body[name] = v
	}
	if o.Method == "GET" || o.Method == "DELETE" {
		q := url.Values{}
		for name, v := range body {
			q.Set(name, strings.Trim(string(servicetest.JSON(v)), `"`))
		}
		return path + "?" + q.Encode(), nil
	}
	return path, servicetest.JSON(body)
}

// rest calls an operation by its route.
func (w world) rest(o op.Operation, key string, args map[string]any) (int, map[string]any) {
	w.T.Helper()
	path, payload := w.route(o, args)
	status, answer, _ := w.Raw(o.Method, path, key, payload, nil)
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		w.T.Fatalf("%s %s answered %d with no JSON object: %.200s", o.Method, path, status, answer)
	}
	return status, out
}

// mcp returns an MCP client of the product.
func (w world) mcp(era echo.Era, key string) *echo.Client {
	return echo.At(w.URL).Connect(w.T, era, key)
}

// tool calls an operation as a tool.
func (w world) tool(c *echo.Client, o op.Operation, args map[string]any) (isError bool, structured map[string]any) {
	w.T.Helper()
	r := c.Call(w.T, o.Name, args, nil)
	if err := json.Unmarshal(r.Answer(), &structured); err != nil {
		w.T.Fatalf("%s gave no structured result: %s", o.Name, r.Answer())
	}
	if !r.IsError {
		for _, f := range o.CheckOutput(r.Answer()) {
			w.T.Errorf("the result of %s breaks its output schema, so clients that check refuse it: %s %s", o.Name, f.Field, f.Message)
		}
	}
	return r.IsError, structured
}

// volatile drops what differs between two calls by its nature.
func volatile(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, new := v["annotation_id"]; new {
			delete(v, "annotation_id")
			delete(v, "created_at")
		}
		if _, traced := v["input_count"]; traced || v["run_id"] != nil {
			delete(v, "run_id")
			delete(v, "created_at")
			delete(v, "duration_ms")
		}
		for _, id := range []string{"webhook_id", "share_id"} {
			if _, new := v[id]; new {
				delete(v, id)
				delete(v, "created_at")
				delete(v, "expires_at")
				delete(v, "public_url")
			}
		}
		for _, k := range []string{"secret", "old_secret_until", "request_id", "took_ms", "thumbnail_url", "signedUrl", "path", "storagePath", "storage_path", "download_url",
			"download_expires_at", "operation_id", "index_token", "updated_at", "relevance_score", "url", "card_h"} {
			delete(v, k)
		}
		for k, x := range v {
			v[k] = volatile(x)
		}
	case []any:
		for i, x := range v {
			v[i] = volatile(x)
		}
	}
	return v
}

// codeOf returns a problem's code, or nothing for a success.
func codeOf(answer map[string]any) string {
	code, _ := answer["code"].(string)
	return code
}
