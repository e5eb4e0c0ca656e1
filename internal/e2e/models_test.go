package e2e

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/library"
)

// TestModels_LinkedOneIsFoundBySearchesUntilTheLinkIsUndone: what people add to a file
// that tells nothing is as good for a search as what other files tell.
func TestModels_LinkedOneIsFoundBySearchesUntilTheLinkIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent := w.StoreFile("", "silent.png", "image/png", picture(60, ""))
	path := "/api/v1/assets/" + string(silent.Asset.AssetH) + "/models"
	var linked struct {
		Changed     bool   `json:"changed"`
		OperationID string `json:"operation_id"`
		IndexToken  string `json:"index_token"`
		Model       struct {
			Source string `json:"detection_source"`
		} `json:"model"`
	}
	w.Call(http.MethodPost, path, map[string]any{"model_hash": worldModel}, &linked)
	if !linked.Changed || linked.Model.Source != "manual_tag" {
		t.Errorf("linked %+v", linked)
	}
	if f := w.Search("", "checkpoint:canarymodel", linked.IndexToken); !f.Has(string(silent.Asset.AssetH)) || f.Total != 2 {
		t.Errorf("the linked model finds %+v", f)
	}
	var listed struct {
		Data []struct {
			Hash library.ModelHash `json:"model_hash"`
			Uses int               `json:"usage_count"`
		} `json:"data"`
	}
	w.Call(http.MethodGet, "/api/v1/models?query=canary-model&model_type=checkpoint", nil, &listed)
	if len(listed.Data) != 1 || listed.Data[0].Hash != worldModel || listed.Data[0].Uses != 2 {
		t.Errorf("the model library says %+v", listed)
	}
	w.Call(http.MethodPost, "/api/v1/operations/"+linked.OperationID+"/undo", nil, &linked)
	if f := w.Search("", "checkpoint:canarymodel", linked.IndexToken); f.Has(string(silent.Asset.AssetH)) || f.Total != 1 {
		t.Errorf("after the undo the model still finds %+v", f)
	}
}

func TestExtractionReport_SaysWhyFilesHaveNoPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent := w.StoreFile("", "silent.png", "image/png", picture(60, ""))
	edited := w.StoreFile("", "edited.png", "image/png", withText(picture(61, ""), "Software", "GIMP 3.0"))
	var r struct {
		Assets  int `json:"assets"`
		Full    int `json:"full"`
		None    int `json:"none"`
		Reasons []struct {
			Reason   string              `json:"reason"`
			Examples []library.AssetHash `json:"examples"`
			Details  []struct {
				Name string `json:"name"`
			} `json:"details"`
		} `json:"reasons"`
	}
	w.Call(http.MethodGet, "/api/v1/lineage/report", nil, &r)
	if r.Assets != 3 || r.Full != 1 || r.None != 2 || len(r.Reasons) != 2 {
		t.Fatalf("the report says %+v", r)
	}
	for i, want := range []struct {
		reason string
		asset  string
	}{{"no_metadata", silent.Asset.AssetH}, {"stripped", edited.Asset.AssetH}} {
		if got := r.Reasons[i]; got.Reason != want.reason || len(got.Examples) != 1 || string(got.Examples[0]) != want.asset {
			t.Errorf("reason %d is %+v, want %+v", i, got, want)
		}
	}
	if d := r.Reasons[1].Details; len(d) != 1 || d[0].Name != "GIMP 3.0" {
		t.Errorf("who stripped the file is %+v", d)
	}
	var one struct {
		Extraction *struct{ State, Reason, Sentence, By string }
	}
	w.Call(http.MethodGet, "/api/v1/assets/"+string(edited.Asset.AssetH), nil, &one)
	if x := one.Extraction; x == nil || x.State != "none" || x.Reason != "stripped" || x.By != "GIMP 3.0" || !strings.Contains(x.Sentence, "GIMP 3.0") {
		t.Errorf("the asset itself says %+v", x)
	}
}
