package e2e

import (
	"path"
	"path/filepath"
	"testing"

	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/library"
	"vitrine/service/servicetest"
)

type lineageAnswer struct {
	Nodes []struct {
		ID        string `json:"id"`
		Depth     int    `json:"depth"`
		InLibrary bool   `json:"in_library"`
		Name      string `json:"name"`
	} `json:"nodes"`
	Edges []struct {
		Child, Parent, Kind, Evidence string
		Source                        string `json:"lineage_source"`
		Resolved                      bool
	} `json:"edges"`
}

type chainAnswer struct {
	Steps []struct {
		ID       string   `json:"id"`
		MadeFrom []string `json:"made_from"`
		Depth    int      `json:"depth"`
		Redacted bool     `json:"redacted"`
		JobID    string   `json:"job_id"`
		Prompt   *string  `json:"prompt"`
		Asset    *struct {
			Hash     string `json:"asset_h"`
			Filename string `json:"filename"`
		} `json:"asset"`
	} `json:"steps"`
	Note string `json:"note"`
}

type sessionAnswer struct {
	Tool     string `json:"tool"`
	Total    int    `json:"total"`
	Sessions []struct {
		Current bool `json:"contains_asset"`
		Assets  []struct {
			Hash   string  `json:"asset_h"`
			Prompt *string `json:"prompt"`
			JobID  string  `json:"job_id"`
		} `json:"assets"`
	} `json:"sessions"`
}

// importSample imports a generated folder and gives what is in it by path, and
// which asset each file became.
func importSample(t *testing.T, e *servicetest.Env, options sample.Options) (byPath map[string]sample.Truth, asset map[string]string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	truth, err := sample.Write(t.Context(), folder, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := importer.Run(t.Context(), e.Client(""), []string{folder}, importer.Options{})
	if err != nil || report.Failed > 0 {
		t.Fatalf("%d failed, %v", report.Failed, err)
	}
	byPath, asset = map[string]sample.Truth{}, map[string]string{}
	for _, f := range truth.Files {
		byPath[f.Path] = f
	}
	for _, f := range report.Files {
		label, err := filepath.Rel(folder, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		asset[filepath.ToSlash(label)] = f.Asset
	}
	return byPath, asset
}

// TestLineage_ChainsOfAnImportedFolderAreFound: whatever order the files were sent in,
// every parent that is in the folder is recognised.
func TestLineage_ChainsOfAnImportedFolderAreFound(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	files, asset := importSample(t, e, sample.Options{Count: 60, Seed: 11, MaxEdge: 64,
		Writers: []string{"comfyui", "comfyui-img2img", "invokeai", "invokeai-img2img", "imagetool", "imagetool-variation"}})
	chains, jobs := 0, 0
	for at, f := range files {
		if f.ParentPath == "" {
			continue
		}
		parent := asset[f.ParentPath]
		var got lineageAnswer
		e.Call("GET", "/api/v1/assets/"+asset[at]+"/lineage?direction=ancestors&max_depth=20", nil, &got)
		found := false
		for _, x := range got.Edges {
			found = found || x.Child == asset[at] && x.Parent == parent && x.Resolved && x.Source == string(library.LineageExtracted)
		}
		if !found {
			t.Errorf("%s was made from %s, which is not among its ancestors: %+v", at, f.ParentPath, got.Edges)
		}
		chains++
		if f.Writer != "imagetool-variation" {
			continue
		}
		jobs++
		var chain chainAnswer
		e.Call("GET", "/api/v1/assets/"+asset[at]+"/evolution-chain", nil, &chain)
		checkChain(t, chain, f, files[f.ParentPath], asset)
	}
	if chains < 8 || jobs < 3 {
		t.Fatalf("only %d files with a parent, %d of the image tool: the sample tells too little", chains, jobs)
	}
}

// checkChain wants the job, behind the job of its parent.
func checkChain(t *testing.T, chain chainAnswer, file, parent sample.Truth, asset map[string]string) {
	t.Helper()
	place := map[string]int{}
	for i, s := range chain.Steps {
		place[s.JobID] = i
		if s.Redacted || s.Prompt == nil || s.Asset == nil {
			t.Errorf("a step of the library's own is not shown: %+v", s)
		}
	}
	child, ok := place[file.JobID]
	mother, both := place[parent.JobID]
	if !ok || !both || mother >= child {
		t.Fatalf("%s: steps %+v", file.Path, chain.Steps)
	}
	step := chain.Steps[child]
	if len(step.MadeFrom) != 1 || step.MadeFrom[0] != parent.JobID || step.Depth != 0 || step.Asset.Hash != asset[file.Path] {
		t.Errorf("%s: %+v", file.Path, step)
	}
	if got := chain.Steps[mother].Asset; got.Filename != path.Base(parent.Path) {
		t.Errorf("%s was made from %s, and the chain goes through %s", file.Path, parent.Path, got.Filename)
	}
}

// TestLineage_SessionIsWhatOneSittingMade: the sample's sessions are at least 25 minutes
// apart and have about a minute between files.
func TestLineage_SessionIsWhatOneSittingMade(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	files, asset := importSample(t, e, sample.Options{Count: 40, Seed: 3, MaxEdge: 64, Writers: []string{"imagetool", "comfyui"}})
	largest := 0
	for at, f := range files {
		if f.Writer != "imagetool" {
			continue
		}
		var got sessionAnswer
		e.Call("GET", "/api/v1/assets/"+asset[at]+"/session", nil, &got)
		if len(got.Sessions) != 1 || !got.Sessions[0].Current || got.Tool != "midjourney" || got.Total != len(got.Sessions[0].Assets) {
			t.Fatalf("%s: %+v", at, got)
		}
		for _, a := range got.Sessions[0].Assets {
			if a.JobID == "" || a.Prompt == nil {
				t.Errorf("a picture of the session lacks its job or prompt: %+v", a)
			}
		}
		largest = max(largest, got.Total)
		var wide sessionAnswer
		e.Call("GET", "/api/v1/assets/"+asset[at]+"/session?time_window=30%20days&limit=200", nil, &wide)
		if len(wide.Sessions) < 2 || wide.Total < got.Total {
			t.Errorf("%s: 30 days around hold %d sessions with %d files", at, len(wide.Sessions), wide.Total)
		}
	}
	if largest < 2 {
		t.Error("no session has more than one picture")
	}
	status, answer, _ := e.Raw("GET", "/api/v1/assets/"+asset[anyKey(asset)]+"/session?time_window=90", e.Key, nil, nil)
	if status != 400 {
		t.Errorf("a number without a unit: %d %s", status, answer)
	}
}

func anyKey(m map[string]string) string {
	for k, v := range m {
		if v != "" {
			return k
		}
	}
	return ""
}
