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
	victim := w.NewTenant("victim")
	victimKey := w.NewKey(victim, allPermissions...)
	var theirs []servicetest.Stored
	for i := range 3 {
		s := w.StoreFile(victimKey, fmt.Sprintf("%s-%d.png", canary, i), "image/png", picture(100+i, canary+" prompt"), canary+"-tag")
		theirs = append(theirs, s)
	}
	title, description, approved := canary+" title", canary+" description", "Approved"
	changed, err := w.Client(victimKey).UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: theirs[0].Asset.AssetH, Title: &title, Description: &description, Status: &approved})
	if err != nil {
		t.Fatal(err)
	}
	// The same model by its identity, for it follows from type and name.
	_, err = w.Client(victimKey).AddModelVersion(t.Context(), client.AddModelVersionInput{ModelHash: string(worldModel), VersionTag: canary + "-1", VersionNotes: canary})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range theirs { // a token waits for its own write only
		w.Search(victimKey, canary, s.IndexToken)
	}
	if f := w.Search(victimKey, canary, changed.IndexToken); f.Total != 3 {
		t.Fatalf("the canaries are planted badly: the victim finds %d", f.Total)
	}

	saved := w.save(victimKey, canary+" search", canary)

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
	for _, o := range w.Catalogue.Operations {
		for _, args := range hostile(w.args(o), theirs[0], changed.OperationID, saved, victim) {
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
	}
	for _, r := range w.Catalogue.Resources {
		uri := strings.ReplaceAll(r.URI, "{asset_h}", theirs[0].Asset.AssetH)
		for _, c := range clients {
			scan("resource "+uri, string(c.Send(t, "resources/read", map[string]any{"uri": uri}).Body))
		}
	}
	for _, path := range []string{"/api/v1/assets/%s", "/api/v1/assets/%s/download", "/api/v1/assets/%s/thumbnail", "/api/v1/assets/%s/workflow",
		"/api/v1/assets/%s/lineage", "/api/v1/assets/%s/evolution-chain", "/api/v1/assets/%s/session"} {
		status, theirAnswer, _ := w.Raw(http.MethodGet, fmt.Sprintf(path, theirs[0].Asset.AssetH), w.Key, nil, nil)
		none, noAnswer, _ := w.Raw(http.MethodGet, fmt.Sprintf(path, strings.Repeat("d", 40)), w.Key, nil, nil)
		if status != none || !sameProblem(theirAnswer, noAnswer) {
			t.Errorf("%s tells another tenant's asset (%d %s) from none (%d %s)", path, status, theirAnswer, none, noAnswer)
		}
		calls++
	}
	status, answer, _ := w.Raw(http.MethodPost, "/api/v1/assets/search", w.Key, []byte(`{"query":""}`), http.Header{"X-Tenant-Id": {string(victim)}})
	if status < 400 {
		t.Errorf("a key chose a tenant that is not its own: %d %s", status, answer)
	}
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

// hostile varies arguments so that each that can name something names the victim's.
func hostile(good map[string]any, theirs servicetest.Stored, operation, saved string, victim library.TenantID) []map[string]any {
	out := []map[string]any{good}
	with := func(changes map[string]any) {
		m := maps.Clone(good)
		for k, v := range changes {
			if _, has := m[k]; has || k == "tenant_id" || k == "parent_asset_h" || k == "min_index_token" {
				m[k] = v
			}
		}
		out = append(out, m)
	}
	with(map[string]any{"asset_h": string(theirs.Asset.AssetH)})
	with(map[string]any{"asset_id": string(theirs.Asset.AssetH)})
	with(map[string]any{"asset_hash": string(theirs.Asset.AssetH)})
	with(map[string]any{"asset_hs": []any{string(theirs.Asset.AssetH)}})
	with(map[string]any{"operation_id": operation})
	with(map[string]any{"saved_search_id": saved})
	with(map[string]any{"tenant_id": string(victim)})
	with(map[string]any{"min_index_token": operation})
	for _, q := range []string{"", canary, "tag:" + canary + "*", "filename:" + canary, "tenant_id:" + string(victim), `title:"` + canary + ` title"`, "NOT zzz", "-tag:zzz",
		"chain:" + string(theirs.Asset.AssetH), "status:Approved OR " + canary, "(" + canary + ") OR (*png)"} {
		with(map[string]any{"query": q})
	}
	return out
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
