package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/service/servicetest"
)

// modelShelf calls the tools of the model library.
type modelShelf struct{ *servicetest.Env }

// TestModels_LibraryAsItsSixToolsShowIt stores two files with one checkpoint and one
// LoRA, and follows them through every tool of the Model Library.
func TestModels_LibraryAsItsSixToolsShowIt(t *testing.T) {
	t.Parallel()
	e := modelShelf{servicetest.Shared(t)}
	withModels := func(n int, lora string) servicetest.Stored {
		return e.StoreFile("", "fox.png", "image/png", withText(picture(n, ""), "parameters",
			"a fox <lora:"+lora+":0.6>\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 1, Size: 48x32, Model: base_v1, Model hash: abcdef1234"))
	}
	first, second := withModels(1, "detail"), withModels(2, "other")
	checkpoint, lora := library.NewModelHash("checkpoint", "base_v1"), library.NewModelHash("lora", "detail")
	silent := e.StoreFile("", "silent.png", "image/png", picture(3, ""))

	if all := e.search(""); len(all) != 3 || all[checkpoint].Uses != 2 || all[lora].Uses != 1 || len(all[checkpoint].Hashes) != 1 {
		t.Errorf("the library holds %+v", all)
	}
	if found := e.search("query=base-V1&model_type=checkpoint"); len(found) != 1 || found[checkpoint].Type != "checkpoint" {
		t.Errorf("by name and type: %+v", found)
	}

	if list := e.uses(first); len(list) != 2 || list[0].Hash != checkpoint || list[0].Weight != nil || list[1].Hash != lora || *list[1].Weight != 0.6 || list[1].Source != "extracted" {
		t.Errorf("the first file's models: %s", servicetest.JSON(list))
	}

	if !e.link(silent, map[string]any{"model_hash": lora, "model_weight": 0.8, "detection_source": "agent"}) ||
		e.link(silent, map[string]any{"model_hash": lora, "model_weight": 0.8, "detection_source": "agent"}) ||
		!e.link(silent, map[string]any{"model_hash": lora, "model_weight": 0.9, "detection_source": "agent"}) {
		t.Error("a link is a change once, and again with another weight")
	}
	if list := e.uses(silent); len(list) != 1 || *list[0].Weight != 0.9 || list[0].Source != "agent" {
		t.Errorf("the linked model: %s", servicetest.JSON(list))
	}
	if n := e.search("query=detail")[lora].Uses; n != 2 {
		t.Errorf("a linked model is used by %d assets, want 2", n)
	}

	e.checkVersions(lora)
	e.Call(http.MethodPost, "/api/v1/operations/"+second.OperationID+"/undo", map[string]any{}, nil)
	if n := e.search("")[checkpoint].Uses; n != 1 {
		t.Errorf("with one asset in the trash the checkpoint is used by %d, want 1", n)
	}
}

// shownModel is a model as SearchModels shows it.
type shownModel struct {
	Hash   library.ModelHash `json:"model_hash"`
	Type   string            `json:"type"`
	Uses   int               `json:"usage_count"`
	Count  int               `json:"version_count"`
	Hashes []string          `json:"content_hashes"`
}

// search returns the models that a query string finds.
func (e modelShelf) search(query string) map[library.ModelHash]shownModel {
	t := e.T
	t.Helper()
	var out struct {
		Data  []shownModel `json:"data"`
		Total int          `json:"total"`
	}
	e.Call("GET", "/api/v1/models?"+query, nil, &out)
	found := map[library.ModelHash]shownModel{}
	for _, m := range out.Data {
		found[m.Hash] = m
	}
	if out.Total != len(found) {
		t.Errorf("%s: total %d of %d", query, out.Total, len(found))
	}
	return found
}

// modelUse is a model as GetAssetModels shows it.
type modelUse struct {
	Hash   library.ModelHash `json:"model_hash"`
	Weight *float64          `json:"model_weight"`
	Source string            `json:"detection_source"`
}

// uses returns the models of an asset.
func (e modelShelf) uses(asset servicetest.Stored) []modelUse {
	var out struct {
		Models []modelUse `json:"models"`
	}
	e.Call("GET", "/api/v1/assets/"+string(asset.Asset.AssetH)+"/models", nil, &out)
	return out.Models
}

// link links a model to an asset, and returns whether that changed anything.
func (e modelShelf) link(asset servicetest.Stored, args map[string]any) bool {
	var out struct {
		Changed bool `json:"changed"`
	}
	e.Call(http.MethodPost, "/api/v1/assets/"+string(asset.Asset.AssetH)+"/models", args, &out)
	return out.Changed
}

// checkVersions adds two versions of a model, and takes the first away again by undoing.
func (e modelShelf) checkVersions(lora library.ModelHash) {
	t := e.T
	t.Helper()
	versions := "/api/v1/models/" + string(lora) + "/versions"
	var added struct {
		OperationID string `json:"operation_id"`
	}
	e.Call(http.MethodPost, versions, map[string]any{"version_tag": "v1", "quality_score": 7.5, "trained_at": "2026-01-01T00:00:00Z", "training_config": map[string]any{"rank": 32}}, &added)
	e.Call(http.MethodPost, versions, map[string]any{"version_tag": "v2", "is_recommended": true, "trained_at": "2026-02-01T00:00:00Z"}, nil)
	if got := e.versionTags(versions); got != "v2, v1" {
		t.Errorf("versions: %s; the newest first", got)
	}
	if got := e.versionTags("/api/v1/models/" + string(lora)); got != "v2, v1" {
		t.Errorf("versions in the model's details: %s", got)
	}
	e.Call(http.MethodPost, "/api/v1/operations/"+added.OperationID+"/undo", map[string]any{}, nil)
	if got := e.versionTags(versions); got != "v2" {
		t.Errorf("versions after the undo: %s", got)
	}
	if got := e.versionTags(versions + "?include_deleted=true"); got != "v2, v1 deleted" {
		t.Errorf("with those taken away: %s", got)
	}
}

// versionTags returns the tags of the versions at a path, joined by commas, with those that are deleted marked.
func (e modelShelf) versionTags(path string) string {
	var out []string
	var got struct {
		Versions []struct {
			Tag     string          `json:"version_tag"`
			Config  json.RawMessage `json:"training_config"`
			Deleted *string         `json:"deleted_at"`
		} `json:"versions"`
	}
	e.Call("GET", path, nil, &got)
	for _, v := range got.Versions {
		tag := v.Tag
		if v.Deleted != nil {
			tag += " deleted"
		}
		out = append(out, tag)
	}
	return strings.Join(out, ", ")
}

// TestModels_ToolsRefuseWhatCannotBe calls each tool with arguments that it must refuse,
// with the code and field that say why.
func TestModels_ToolsRefuseWhatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asset, model := "/api/v1/assets/"+string(w.asset.Asset.AssetH)+"/models", "/api/v1/models/"+string(worldModel)
	nobody := strings.Repeat("0", 40)
	w.Call(http.MethodPost, model+"/versions", map[string]any{"version_tag": "v1"}, nil)
	other := w.NewKey(w.NewTenant("other"), allPermissions...)
	reader := w.NewKey(w.Tenant, library.PermRead)
	for name, c := range map[string]struct {
		method, path, key string
		body              map[string]any
		status            int
		says              string
	}{
		"details of no model":             {"GET", "/api/v1/models/" + nobody, w.Key, nil, 404, "model"},
		"details of another tenant's":     {"GET", model, other, nil, 404, "model"},
		"versions of no model":            {"GET", "/api/v1/models/" + nobody + "/versions", w.Key, nil, 404, "model"},
		"a model that is no hash":         {"GET", "/api/v1/models/base", w.Key, nil, 400, "model_hash"},
		"models of no asset":              {"GET", "/api/v1/assets/" + nobody + "/models", w.Key, nil, 200, `"models":[]`},
		"models of another tenant's":      {"GET", asset, other, nil, 200, `"models":[]`},
		"a page too long":                 {"GET", "/api/v1/models?limit=1000", w.Key, nil, 400, "limit"},
		"a link to no model":              {"POST", asset, w.Key, map[string]any{"model_hash": nobody}, 404, "model"},
		"a link of no asset":              {"POST", "/api/v1/assets/" + nobody + "/models", w.Key, map[string]any{"model_hash": worldModel}, 404, "asset"},
		"a link as the file's own word":   {"POST", asset, w.Key, map[string]any{"model_hash": worldModel, "detection_source": "extracted"}, 400, "detection_source"},
		"a weight of a checkpoint":        {"POST", asset, w.Key, map[string]any{"model_hash": worldModel, "model_weight": 0.5}, 400, "model_weight"},
		"a weight beyond all":             {"POST", asset, w.Key, map[string]any{"model_hash": worldModel, "model_weight": 1000}, 400, "model_weight"},
		"a link with a key that reads":    {"POST", asset, reader, map[string]any{"model_hash": worldModel}, 403, "write"},
		"a version without a tag":         {"POST", model + "/versions", w.Key, map[string]any{"version_tag": "  "}, 400, "version_tag"},
		"a version twice":                 {"POST", model + "/versions", w.Key, map[string]any{"version_tag": "v1"}, 409, "NAME_TAKEN"},
		"a score above 10":                {"POST", model + "/versions", w.Key, map[string]any{"version_tag": "v2", "quality_score": 11}, 400, "quality_score"},
		"a version from the future":       {"POST", model + "/versions", w.Key, map[string]any{"version_tag": "v2", "trained_at": "2999-01-01T00:00:00Z"}, 400, "trained_at"},
		"a configuration of 100 KB":       {"POST", model + "/versions", w.Key, map[string]any{"version_tag": "v2", "training_config": map[string]any{"a": strings.Repeat("x", 100_000)}}, 400, "training_config"},
		"a version with a key that reads": {"POST", model + "/versions", reader, map[string]any{"version_tag": "v2"}, 403, "write"},
	} {
		var body []byte
		if c.body != nil {
			body = servicetest.JSON(c.body)
		}
		status, answer, _ := w.Raw(c.method, c.path, c.key, body, nil)
		if status != c.status || !strings.Contains(string(answer), c.says) {
			t.Errorf("%s: %d %.300s; want %d about %s", name, status, answer, c.status, c.says)
		}
	}
}
