package e2e

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestProvenance_WhatPeopleSayKeepsItsNumbers: seeds go beyond what a float64 holds, in claims
// and notes as in files.
func TestProvenance_WhatPeopleSayKeepsItsNumbers(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	const seed = "6952411511246973023"
	says := map[string]any{"seed": json.Number(seed), "steps": 20, "cfg": 7.5, "list": []any{json.Number(seed)}}
	var stored servicetest.Stored
	e.Call("POST", "/api/v1/assets", map[string]any{"filename": "fox.png", "mime_type": "image/png", "asset_data_base64": withText(picture(1, ""), "parameters",
		"a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 1, Size: 48x32, Model: base_v1"), "prompt_metadata": says, "asset_metadata": says}, &stored)
	var details struct {
		Metadata   json.RawMessage `json:"asset_metadata"`
		Provenance struct {
			Claim json.RawMessage `json:"asserted_parameters"`
		} `json:"provenance"`
	}
	e.Call("GET", "/api/v1/assets/"+string(stored.Asset.AssetH), nil, &details)
	var version struct {
		Version struct {
			Config json.RawMessage `json:"training_config"`
		} `json:"version"`
	}
	e.Call("POST", "/api/v1/models/"+string(library.NewModelHash("checkpoint", "base_v1"))+"/versions",
		map[string]any{"version_tag": "v1", "training_config": says}, &version)
	for what, got := range map[string]json.RawMessage{"asset_metadata": details.Metadata, "prompt_metadata": details.Provenance.Claim, "training_config": version.Version.Config} {
		if bytes.Count(got, []byte(seed)) != 2 || !bytes.Contains(got, []byte("7.5")) {
			t.Errorf("%s came back as %s", what, got)
		}
	}
}

// TestProvenance_SaysWhatIsMissing: a file without a graph is told from an unknown
// asset, no asset is its own parent, and a parent that is named by its hash is shown
// by it until it comes.
func TestProvenance_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	data := picture(1, "")
	sum := sha1.Sum(data)
	own := strings.ToUpper(hex.EncodeToString(sum[:]))
	body, err := json.Marshal(map[string]any{"filename": "fox.png", "mime_type": "image/png", "asset_data_base64": data, "parent_asset_h": own})
	if err != nil {
		t.Fatal(err)
	}
	status, answer, _ := e.Raw(http.MethodPost, "/api/v1/assets", e.Key, body, nil)
	var libErr struct {
		Errors []library.FieldError `json:"errors"`
	}
	if err := json.Unmarshal(answer, &libErr); err != nil || status != 400 || len(libErr.Errors) != 1 || libErr.Errors[0].Field != "parent_asset_h" || libErr.Errors[0].Hint == "" {
		t.Errorf("its own parent: %d %s", status, answer)
	}
	unknown := strings.Repeat("ab", 20)
	var stored servicetest.Stored
	e.Call("POST", "/api/v1/assets", map[string]any{"filename": "fox.png", "mime_type": "image/png", "asset_data_base64": data, "parent_asset_h": unknown}, &stored)
	var lineage struct {
		Nodes []struct {
			Hash      string `json:"hash"`
			InLibrary bool   `json:"in_library"`
		} `json:"nodes"`
	}
	path := "/api/v1/assets/" + string(stored.Asset.AssetH)
	e.Call("GET", path+"/lineage", nil, &lineage)
	if len(lineage.Nodes) != 2 || lineage.Nodes[1].InLibrary || lineage.Nodes[1].Hash != unknown {
		t.Errorf("a parent that is named and not here: %+v", lineage.Nodes)
	}
	for path, says := range map[string]string{path: "no workflow graph", "/api/v1/assets/" + unknown: "No such asset"} {
		status, answer, _ := e.Raw(http.MethodGet, path+"/workflow", e.Key, nil, nil)
		if status != 404 || !strings.Contains(string(answer), says) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}
