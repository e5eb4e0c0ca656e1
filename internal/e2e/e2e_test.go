// Package e2e tests the whole product from outside: real servers, real HTTP, and
// where crashes matter, the real binary.
package e2e

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"sync"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
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

var allPermissions = library.Permissions

// noError ends the test where there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
