package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service/servicetest"
)

// canary is a word that only another tenant's data holds.
const canary = "zyxcanary"

// TestTenants_NothingOfAnotherIsEverSeen plants canaries in every text of one
// tenant's assets and calls every operation and resource as another tenant, with
// that tenant's identifiers, names and words in every argument that takes them.
// No answer may hold a canary, and each must equal the answer for an identifier
// that exists nowhere.
func TestTenants_NothingOfAnotherIsEverSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victimTenant := w.NewTenant("victim")
	victimKey := w.NewKey(victimTenant, allPermissions...)
	theirs, changed := w.plantCanaries(victimKey)
	saved := w.save(victimKey, canary+" search", canary)
	v := victimOf(t, w, victimTenant, victimKey, theirs[0], changed, saved)

	calls, leaks := 0, 0
	scan := func(what string, answer any) {
		calls++
		raw := servicetest.JSON(answer)
		if bytes.Contains(bytes.ToLower(raw), []byte(canary)) {
			leaks++
			t.Errorf("%s leaks: %.300s", what, raw)
		}
	}
	clients := []*echo.Client{w.mcp(echo.Modern, w.Key), w.mcp(echo.Legacy, w.Key)}
	for _, o := range w.Catalog.Operations {
		for _, args := range v.hostile(t, o, w.args(o)) {
			if q, _ := args["query"].(string); !o.ReadOnly && strings.Contains(q, canary) {
				continue // what one keeps oneself is no leak when it comes back
			}
			status, answer := w.rest(o, w.Key, maps.Clone(args))
			if !onlyEchoes(args, answer) {
				scan(fmt.Sprintf("REST %s %v (%d)", o.Name, args, status), answer)
			}
			if o.RESTOnly {
				continue
			}
			for _, c := range clients {
				_, result := w.tool(c, o, maps.Clone(args))
				if !onlyEchoes(args, result) {
					scan(fmt.Sprintf("MCP %s %v", o.Name, args), result)
				}
			}
		}
		calls += w.tellsNoneFrom(o, v)
	}
	for _, r := range w.Catalog.Resources {
		uri := strings.ReplaceAll(r.URI, "{asset_h}", theirs[0].Asset.AssetH)
		for _, c := range clients {
			scan("resource "+uri, string(c.Send(t, "resources/read", map[string]any{"uri": uri}).Body))
		}
	}
	calls += w.filesTellNone(theirs[0].Asset.AssetH)
	w.refusesTenant(victimTenant)
	t.Logf("%d answers looked at, %d leaks", calls, leaks)
	if calls < 80 {
		t.Errorf("only %d answers looked at", calls)
	}
	w.victimIsUntouched(victimKey, theirs)
	kept, err := w.Client(victimKey).GetSavedSearch(t.Context(), client.GetSavedSearchInput{SavedSearchID: saved})
	if err != nil || kept.Name != canary+" search" || kept.Query != canary {
		t.Errorf("the victim's saved search was changed: %+v %v", kept, err)
	}
}

// refusesTenant searches with a header that names a tenant which is not the key's.
func (w world) refusesTenant(tenant library.TenantID) {
	t := w.T
	t.Helper()
	status, answer, _ := w.Raw(http.MethodPost, "/api/v1/assets/search", w.Key, []byte(`{"query":""}`), http.Header{"X-Tenant-Id": {string(tenant)}})
	if status < 400 {
		t.Errorf("a key chose a tenant that is not its own: %d %s", status, answer)
	}
}

// plantCanaries stores three assets with canaries in their texts, and waits until they are found.
// changed is the last write of the first one.
func (w world) plantCanaries(key string) (theirs []servicetest.Stored, changed client.UpdateAssetOutput) {
	t := w.T
	t.Helper()
	for i := range 3 {
		s := w.StoreFile(key, fmt.Sprintf("%s-%d.png", canary, i), "image/png", picture(100+i, canary+" prompt"), canary+"-tag")
		theirs = append(theirs, s)
	}
	title, description, approved := canary+" title", canary+" description", "Approved"
	changed, err := w.Client(key).UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: theirs[0].Asset.AssetH, Title: &title, Description: &description, Status: &approved})
	if err != nil {
		t.Fatal(err)
	}
	// The same model by its identity, for it follows from type and name.
	_, err = w.Client(key).AddModelVersion(t.Context(), client.AddModelVersionInput{ModelHash: string(worldModel), VersionTag: canary + "-1", VersionNotes: canary})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range theirs { // a token waits for its own write only
		w.Search(key, canary, s.IndexToken)
	}
	if f := w.Search(key, canary, changed.IndexToken); f.Total != 3 {
		t.Fatalf("the canaries are planted badly: the victim finds %d", f.Total)
	}
	return theirs, changed
}

// filesTellNone compares what the routes of files, which are no operations, answer for another
// tenant's asset and for none. It returns how many it compared.
func (w world) filesTellNone(asset string) (compared int) {
	t := w.T
	t.Helper()
	for _, path := range []string{"/api/v1/assets/%s/download", "/api/v1/assets/%s/thumbnail"} { // routes that are no operations
		status, theirAnswer, _ := w.Raw(http.MethodGet, fmt.Sprintf(path, asset), w.Key, nil, nil)
		none, noAnswer, _ := w.Raw(http.MethodGet, fmt.Sprintf(path, strings.Repeat("d", 40)), w.Key, nil, nil)
		if status != none || !sameProblem(theirAnswer, noAnswer) {
			t.Errorf("%s tells another tenant's asset (%d %s) from none (%d %s)", path, status, theirAnswer, none, noAnswer)
		}
		compared++
	}
	return compared
}

// victim has the identifiers of another tenant, by what they name.
type victim map[op.IDKind][]string

// victimOf plants one of each kind of thing.
func victimOf(t *testing.T, w world, tenant library.TenantID, key string, asset servicetest.Stored, changed client.UpdateAssetOutput, saved string) victim {
	t.Helper()
	api := w.Client(key)
	ticket, err := api.CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: canary + ".png", MIMEType: "image/png"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := api.SearchAssets(t.Context(), client.SearchAssetsInput{Cursor: "*", Limit: 1})
	if err != nil || page.NextCursor == "" {
		t.Fatalf("the victim's walk has no cursor: %v", err)
	}
	second := w.StoreFile(key, canary+"-model.png", "image/png", pictureOf(200, canary+" model", canary+"-model"), canary+"-tag")
	model := string(library.NewModelHash("checkpoint", canary+"-model"))
	if _, err := api.GetModelDetails(t.Context(), client.GetModelDetailsInput{ModelHash: model}); err != nil {
		t.Fatalf("the victim does not have its own model: %v", err)
	}
	collection, card := w.collect(key, canary+" collection", asset.Asset.AssetH)
	prompt := w.template(key, canary+" prompt", "a "+canary+" prompt with {{subject|words}}")
	experiment, run, other := w.experiment(key, canary+" experiment", asset.Asset.AssetH, second.Asset.AssetH)
	pipeline, ran, earlier := w.pipeline(key, canary+" pipeline", ofAsset(asset.Asset.AssetH))
	return victim{
		op.IDRule: {w.makeRule(key, canary+" rule")}, op.IDPipeline: {pipeline}, op.IDPipelineRun: {ran}, op.IDEarlierRun: {earlier},
		op.IDExport: {w.export(key, asset.Asset.AssetH)}, op.IDPrompt: {prompt}, op.IDProspect: {w.lead(key, "ada@"+canary+".example")}, op.IDExperiment: {experiment, canary + "experiment"}, op.IDRun: {run}, op.IDOtherRun: {other}, op.IDImport: {w.importOf(tenant, canary)},
		op.IDShare: {w.share(key, asset.Asset.AssetH).ShareID}, op.IDWebhook: {w.hook(key, canary+" hook")}, op.IDDelivery: {"0b5c7d6e-0000-4000-8000-000000000000"},
		op.IDTenant: {string(tenant)}, op.IDAsset: {asset.Asset.AssetH}, op.IDOperation: {changed.OperationID, asset.OperationID},
		op.IDSavedSearch: {saved}, op.IDUpload: {ticket.StoragePath}, op.IDIndexToken: {changed.IndexToken, changed.OperationID}, op.IDCursor: {page.NextCursor},
		op.IDModel: {model, string(worldModel)}, op.IDNone: {}, op.IDCollection: {collection, canary + "collection"}, op.IDTextCard: {card},
		op.IDNode: {asset.Asset.AssetH}, op.IDAnnotation: {w.annotate(key, asset.Asset.AssetH, canary+" annotation", "public").AnnotationID},
		op.IDQuery: {"", canary, "tag:" + canary + "*", "filename:" + canary, "tenant_id:" + string(tenant), `title:"` + canary + ` title"`, "NOT zzz", "-tag:zzz",
			"chain:" + asset.Asset.AssetH, "status:Approved OR " + canary, "(" + canary + ") OR (*png)"},
	}
}

// hostile varies arguments so that each that can name something names the victim's.
func (v victim) hostile(t *testing.T, o op.Operation, good map[string]any) []map[string]any {
	t.Helper()
	out := []map[string]any{good}
	for _, id := range o.Identifiers {
		values, planted := v[id.Kind]
		if !planted {
			t.Fatalf("%s takes %s, which names a thing of the kind %s: plant one in victimOf", o.Name, id, id.Kind)
		}
		for _, value := range values {
			out = append(out, id.With(good, value))
		}
	}
	return out
}

// tellsNoneFrom checks that an operation answers for the victim's things as for
// things that are nowhere, and returns how many answers it compared.
func (w world) tellsNoneFrom(o op.Operation, v victim) (compared int) {
	w.T.Helper()
	for _, id := range o.Identifiers {
		none, ok := nowhere[id.Kind]
		if !ok {
			continue
		}
		theirs := v[id.Kind][0]
		status, answer := w.rest(o, w.Key, id.With(w.args(o), theirs))
		noStatus, noAnswer := w.rest(o, w.Key, id.With(w.args(o), none))
		plain := func(answer map[string]any, value string) string {
			return strings.ReplaceAll(string(servicetest.JSON(volatile(answer))), value, "ID")
		}
		if got, want := plain(answer, theirs), plain(noAnswer, none); status != noStatus || got != want {
			w.T.Errorf("%s tells another tenant's %s (%d %s) from none (%d %s)", o.Name, id, status, got, noStatus, want)
		}
		compared++
	}
	return compared
}

// onlyEchoes reports whether an answer may hold the canary because the question
// did: a search tells how it read the query. What it found is looked at apart.
func onlyEchoes(args, answer map[string]any) bool {
	q, _ := args["query"].(string)
	if !strings.Contains(q, canary) {
		return false
	}
	delete(answer, "interpretation")
	delete(answer, "query")
	delete(answer, "tree")
	delete(answer, "repaired")
	delete(answer, "dsl")
	delete(answer, "warnings")
	raw, err := json.Marshal(answer)
	return err == nil && !bytes.Contains(raw, []byte(canary))
}

func sameProblem(a, b []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return bytes.Equal(a, b)
	}
	delete(x, "request_id")
	delete(y, "request_id")
	return string(servicetest.JSON(x)) == string(servicetest.JSON(y))
}

// victimIsUntouched promises that all those calls wrote nothing.
func (w world) victimIsUntouched(key string, theirs []servicetest.Stored) {
	w.T.Helper()
	for i, s := range theirs {
		d, err := w.Client(key).GetAssetDetails(w.T.Context(), client.GetAssetDetailsInput{AssetH: s.Asset.AssetH})
		if err != nil {
			w.T.Fatal(err)
		}
		if len(d.Tags) != 1 || d.Tags[0] != canary+"-tag" || !strings.HasPrefix(d.Filename, canary) || i == 0 && d.Title != canary+" title" {
			w.T.Errorf("the victim's asset was changed: %+v", d)
		}
	}
}
