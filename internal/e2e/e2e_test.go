// Package e2e tests the whole product from outside: real servers, real HTTP, and
// where crashes matter, the real binary.
package e2e

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// picture makes a PNG whose bytes differ for every n, with generation data.
func picture(n int, prompt string) []byte { return pictureOf(n, prompt, "canaryModel") }

// pictureOf is picture with another model.
func pictureOf(n int, prompt, model string) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 48, 32))
	for i := range img.Pix {
		img.Pix[i] = byte(i * (n + 1))
	}
	img.SetNRGBA(0, 0, color.NRGBA{byte(n), byte(n >> 8), byte(n >> 16), 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	if prompt == "" {
		return b.Bytes()
	}
	return withText(b.Bytes(), "parameters", prompt+"\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 48x32, Model: "+model+", Version: v1.10.1")
}

// worldModel is the model that every picture with a prompt names.
var worldModel = library.NewModelHash("checkpoint", "canaryModel")

// world is a product with one asset and one operation for calls to speak of.
type world struct {
	*servicetest.Env
	asset     servicetest.Stored
	operation string
	data      []byte
	saved     string // a saved search
	// a collection with the asset and a text card, which it also names
	collection, card string
	annotation       string // on the asset
	prompt           string // a prompt of the library whose render the asset is
	prospect         string
	rule             string // that is disabled
	webhook          string // that is disabled
	lab              *lab
	studio           *studio
	exported         *exported
	shared           *exported // a share link, made as an export is
}

// exported is an export, made when a call first speaks of it.
type exported struct {
	once sync.Once
	id   string
}

// studio is a saved pipeline with two runs, made when a call first speaks of it.
type studio struct {
	once                      sync.Once
	pipeline, run, earlierRun string
}

// pipelines makes the world's pipeline and its runs, once.
func (w world) pipelines() (pipeline, run, earlier string) {
	w.T.Helper()
	w.studio.once.Do(func() {
		w.studio.pipeline, w.studio.run, w.studio.earlierRun = w.pipeline(w.NewKey(w.Tenant, library.Permissions...), "Lighthouses", ofAsset(w.asset.Asset.AssetH))
	})
	return w.studio.pipeline, w.studio.run, w.studio.earlierRun
}

// ofAsset selects one asset.
func ofAsset(hash string) map[string]any {
	return map[string]any{"type": "ids", "config": map[string]any{"asset_ids": []any{hash}}}
}

// pipeline saves a pipeline that begins with a stage and runs it twice.
func (w world) pipeline(key, name string, first map[string]any) (pipeline, run, earlier string) {
	w.T.Helper()
	api, ctx := w.Client(key), w.T.Context()
	saved, err := api.SavePipeline(ctx, client.SavePipelineInput{Name: name, Description: name, Tags: []string{name}, Stages: []map[string]any{
		first, {"type": "group_by", "config": map[string]any{"field": "title"}}}})
	if err != nil {
		w.T.Fatal(err)
	}
	var ids []string
	for range 2 {
		r, err := api.RunSavedPipeline(ctx, client.RunSavedPipelineInput{PipelineDefinitionH: saved.PipelineDefinitionH, DryRun: new(true)})
		if err != nil || r.State != "completed" {
			w.T.Fatalf("the pipeline %s is %s: %v", name, r.State, err)
		}
		ids = append(ids, r.RunID)
	}
	return saved.PipelineDefinitionH, ids[1], ids[0]
}

// lab is an experiment with two runs, made when a call first speaks of it: its assets would
// be found by other tests.
type lab struct {
	once       sync.Once
	experiment string
	run, other string
}

func newWorld(t *testing.T) world {
	t.Helper()
	return worldOf(servicetest.Shared(t))
}

// newWorldAt is newWorld on servers that the test chose.
func newWorldAt(t *testing.T, cfg service.Config) world {
	t.Helper()
	return worldOf(servicetest.StartWith(t, cfg, nil))
}

func worldOf(e *servicetest.Env) world {
	e.T.Helper()
	w := world{Env: e}
	w.data = picture(7, "a lighthouse in fog")
	w.asset = w.StoreFile("", "lighthouse.png", "image/png", w.data, "sea")
	w.saved = w.save("", "Lighthouses", "lighthouse")
	w.collection, w.card = w.collect("", "Lighthouses", w.asset.Asset.AssetH)
	w.lab, w.studio, w.exported, w.shared = &lab{}, &studio{}, &exported{}, &exported{}
	w.annotation = w.annotate("", w.asset.Asset.AssetH, "the fog is too dense", "team").AnnotationID
	w.prospect = w.lead("", "keeper@lighthouses.example")
	w.rule = w.makeRule("", "Lighthouses")
	w.prompt = w.template("", "Lighthouses", "a lighthouse in {{weather|fog}} {{subject|}} {{light|}}")
	w.webhook = w.hook("", "Lighthouses")
	w.operation = w.tag("fog", w.asset.Asset.AssetH)
	return w
}

// tag adds a tag to assets, waits until searches show it and with it every earlier change to
// them, and returns the operation.
func (w world) tag(name string, assets ...string) string {
	w.T.Helper()
	var changed struct {
		OperationID string `json:"operation_id"`
	}
	w.Call("PATCH", "/api/v1/assets/bulk-tag", map[string]any{"asset_hs": assets, "operation": "add", "tags": []string{name}}, &changed)
	w.Search("", "", changed.OperationID)
	return changed.OperationID
}

// save keeps a search and gives its identifier.
func (w world) save(key, name, text string) string {
	w.T.Helper()
	out, err := w.Client(key).CreateSavedSearch(w.T.Context(), client.CreateSavedSearchInput{Name: name, Query: text, Description: name})
	if err != nil {
		w.T.Fatal(err)
	}
	return out.SavedSearchID
}

// collect makes a branch of an empty collection, with an asset and a text card of its own, and
// gives their identifiers.
func (w world) collect(key, name, asset string) (collection, card string) {
	w.T.Helper()
	api := w.Client(key)
	source, err := api.CreateCollection(w.T.Context(), client.CreateCollectionInput{Name: name + " from", Description: name})
	if err != nil {
		w.T.Fatal(err)
	}
	made, err := api.BranchCollection(w.T.Context(), client.BranchCollectionInput{SourcePath: source.CollectionH, NewName: name})
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := api.AddToCollection(w.T.Context(), client.AddToCollectionInput{CollectionPath: made.Path, AssetHs: []string{asset}}); err != nil {
		w.T.Fatal(err)
	}
	added, err := api.AddTextCardToCollection(w.T.Context(), client.AddTextCardToCollectionInput{CollectionH: made.CollectionH, Heading: name})
	if err != nil {
		w.T.Fatal(err)
	}
	return made.CollectionH, added.CardH
}

// annotate adds an annotation to a node, an asset or a run.
func (w world) annotate(key, target, content, visibility string) client.CreateAnnotationOutput {
	w.T.Helper()
	made, err := w.Client(key).CreateAnnotation(w.T.Context(), client.CreateAnnotationInput{WorkflowNodeID: target, Content: content, Visibility: visibility})
	if err != nil {
		w.T.Fatal(err)
	}
	return made
}

// makeRule makes a rule that is disabled and returns its identifier.
func (w world) makeRule(key, name string) string {
	w.T.Helper()
	in := client.CreateRuleInput{Name: name, Description: name, Enabled: new(false)}
	in.TriggerConfig.Type, in.TriggerConfig.EventType = "event", "prompt.trashed"
	out, err := w.Client(key).CreateRule(w.T.Context(), in)
	if err != nil {
		w.T.Fatal(err)
	}
	return out.RuleID
}

// hook registers a webhook that is disabled and returns its identifier.
func (w world) hook(key, name string) string {
	w.T.Helper()
	disabled := false
	out, err := w.Client(key).RegisterWebhook(w.T.Context(), client.RegisterWebhookInput{Name: name, URL: "https://hooks.example.com/" + url.PathEscape(name), Events: []string{"asset.created"}, Description: name, Enabled: &disabled})
	if err != nil {
		w.T.Fatal(err)
	}
	return out.WebhookID
}

// share shares assets by a link.
func (w world) share(key string, assets ...string) client.CreateShareLinkOutput {
	w.T.Helper()
	out, err := w.Client(key).CreateShareLink(w.T.Context(), client.CreateShareLinkInput{AssetHs: assets})
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}

// shares makes the world's share link, once, and returns its identifier.
func (w world) shares() string {
	w.T.Helper()
	w.shared.once.Do(func() { w.shared.id = w.share("", w.published()).ShareID })
	return w.shared.id
}

// template saves a prompt and returns its identifier.
func (w world) template(key, name, text string) string {
	w.T.Helper()
	out, err := w.Client(key).CreatePrompt(w.T.Context(), client.CreatePromptInput{PromptText: text, Name: name, Description: name, Tags: []string{name}, Message: name, Labels: []string{"production"}})
	if err != nil {
		w.T.Fatal(err)
	}
	return out.PromptH
}

// lead registers a prospect and returns its identifier.
func (w world) lead(key, email string) string {
	w.T.Helper()
	out, err := w.Client(key).RegisterProspect(w.T.Context(), client.RegisterProspectInput{Prospect: client.ProspectPerson{Email: email, Name: email, Account: email, Summary: email}, RecordSource: email})
	if err != nil {
		w.T.Fatal(err)
	}
	return out.ProspectH
}

// experiment makes an experiment with two runs, scored and compared.
func (w world) experiment(key, name, first, second string) (experiment, run, other string) {
	w.T.Helper()
	api, ctx := w.Client(key), w.T.Context()
	made, err := api.CreateExperiment(ctx, client.CreateExperimentInput{DisplayName: name, Hypothesis: name, IndependentVariable: "cfg"})
	if err != nil {
		w.T.Fatal(err)
	}
	var runs []string
	for i, asset := range []string{first, second} {
		r, err := api.RegisterRun(ctx, client.RegisterRunInput{CollectionH: made.CollectionH, AssetH: asset, VariantLabel: name, RunParams: map[string]any{"cfg": i}})
		if err != nil {
			w.T.Fatal(err)
		}
		if _, err := api.ScoreRun(ctx, client.ScoreRunInput{CollectionItemH: r.CollectionItemH, Scores: map[string]int{"sharpness": i + 3}, Comments: name}); err != nil {
			w.T.Fatal(err)
		}
		runs = append(runs, r.CollectionItemH)
	}
	if _, err := api.CompareRuns(ctx, client.CompareRunsInput{CollectionH: made.CollectionH, ItemA: runs[0], ItemB: runs[1], Winners: map[string]string{"sharpness": "item_b"}, Notes: name}); err != nil {
		w.T.Fatal(err)
	}
	return made.CollectionH, runs[0], runs[1]
}

// export exports an asset and returns the export's identifier.
func (w world) export(key, asset string) string {
	w.T.Helper()
	out, err := w.Client(key).ExportAssets(w.T.Context(), client.ExportAssetsInput{AssetHs: []string{asset}})
	if err != nil {
		w.T.Fatal(err)
	}
	return out.ExportID
}

// published returns an asset that no call but those for exports and share links is about, so that
// it may leave the house whatever became of the others.
func (w world) published() string {
	w.T.Helper()
	asset := w.StoreFile("", "exported.png", "image/png", picture(10, "a quiet harbour")).Asset.AssetH
	w.tag("harbour", asset)
	return asset
}

// exports returns the world's export, which is made once, of an asset that no other call is about.
func (w world) exports() string {
	w.T.Helper()
	w.exported.once.Do(func() {
		w.exported.id = w.export("", w.published())
	})
	return w.exported.id
}

// runs makes the world's experiment, once.
func (w world) runs() {
	w.T.Helper()
	w.lab.once.Do(func() {
		first, second := w.StoreFile("", "field.png", "image/png", picture(8, "a quiet field")), w.StoreFile("", "meadow.png", "image/png", picture(9, "a quiet meadow"))
		w.lab.experiment, w.lab.run, w.lab.other = w.experiment("", "Fields", first.Asset.AssetH, second.Asset.AssetH)
		w.tag("field", first.Asset.AssetH, second.Asset.AssetH)
	})
}

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

var allPermissions = library.Permissions
