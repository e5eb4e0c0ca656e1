package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/importer"
	"vitrine/internal/echo"
	"vitrine/internal/sample"
	"vitrine/media/extract"
	"vitrine/reextract"
	"vitrine/service/servicetest"
)

// folderToImport holds the corpus of real files where it is, under the names that
// they bore at their makers' and by which they name each other; and generated
// files.
func folderToImport(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "folder")
	if _, err := sample.Write(t.Context(), dir, sample.Options{Count: 60, Seed: 5, MaxEdge: 64}, nil); err != nil {
		t.Fatal(err)
	}
	corpus := filepath.Join("..", "..", "..", "shared", "corpus")
	list, err := os.ReadFile(filepath.Join(corpus, "manifest.json"))
	if err != nil {
		t.Log("the corpus of real files is not here (expected in ../shared/corpus beside the project): only generated files are imported")
		return dir
	}
	var manifest struct{ Files []struct{ File, Path string } }
	if err := json.Unmarshal(list, &manifest); err != nil {
		t.Fatal(err)
	}
	for i, f := range manifest.Files {
		data, err := os.ReadFile(filepath.Join(corpus, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "real", fmt.Sprint(i))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, path.Base(f.Path)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSearch_HowFilesWereMadeIsFoundAgain imports a folder and asks the index for what the
// files say: seed, node, LoRA, parent. Then the whole library is read again, which
// must change nothing, and the index must agree with the database.
func TestSearch_HowFilesWereMadeIsFoundAgain(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	dir := folderToImport(t)
	report := runImport(t, e, dir, importer.Options{})
	e.Search("", "is:image", report.LastWrite)

	questions, pairs := map[string][]string{}, [][2]string{} // query → assets that it must find; child and parent
	for _, f := range report.Files {
		if f.Asset == "" || f.Result != "stored" {
			continue
		}
		for _, q := range questionsAbout(t, f.Path) {
			questions[q] = append(questions[q], f.Asset)
		}
		var line lineageAnswer
		e.Call("GET", "/api/v1/assets/"+f.Asset+"/lineage?direction=ancestors&max_depth=1", nil, &line)
		for _, x := range line.Edges {
			if x.Resolved && x.Child == f.Asset {
				pairs = append(pairs, [2]string{f.Asset, x.Parent})
				for _, q := range []string{"parent:" + x.Parent, "chain:" + x.Parent, "has:parent", "chain:true"} {
					questions[q] = append(questions[q], f.Asset)
				}
				questions["has:child"] = append(questions["has:child"], x.Parent)
			}
		}
	}
	if len(questions) < 40 || len(pairs) == 0 {
		t.Fatalf("only %d questions and %d pairs of parent and child: the folder tells too little", len(questions), len(pairs))
	}
	ask := func(when string) {
		for q, want := range questions {
			found := e.Search("", q, "")
			for _, hash := range want {
				if found.Total <= 100 && !found.Has(hash) {
					t.Errorf("%s: %s does not find %s among %d", when, q, hash, found.Total)
				}
			}
		}
	}
	ask("imported")
	t.Logf("%d questions about %d files, %d pairs of parent and child", len(questions), report.Stored, len(pairs))

	checkSameChain(t, e, pairs[0][0])
	checkOthersSeeNothing(t, e, pairs[0], slices.Sorted(keysOf(questions)))

	for _, version := range []int{extract.ParserVersion, extract.ParserVersion + 1} {
		counts, err := reextract.Run(t.Context(), e.Store.Extraction, reextract.Options{All: true, Version: version})
		if err != nil || counts.Changed != 0 || counts.Failed != 0 || counts.Same < int64(report.Stored) {
			t.Errorf("reading the library again as version %d: %+v, %v; nothing may change", version, counts, err)
		}
	}
	ask("read again")
	indexIsRight(t, e)
}

// indexIsRight compares the index with the database, and what it says of chains
// with an index built anew.
func indexIsRight(t *testing.T, e *servicetest.Env) {
	t.Helper()
	servicetest.Eventually(t, "the index agrees with the database", func() error {
		r, err := e.Indexer.Reconcile(context.WithoutCancel(t.Context()), nil)
		if err == nil && r.Repaired()+r.Remaining != 0 {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

func keysOf(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// questionsAbout returns searches that must find a file, out of what it says itself.
func questionsAbout(t *testing.T, path string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	res, err := extract.Read(t.Context(), bytes.NewReader(data), int64(len(data)), extract.Options{Filename: filepath.Base(path)})
	if err != nil {
		t.Fatal(err)
	}
	l := res.Lineage
	if l.Parameters != nil && l.Parameters.Seed != nil {
		out = append(out, fmt.Sprintf("seed:%d", *l.Parameters.Seed))
	}
	for _, m := range l.Models {
		if m.Type == "lora" {
			out = append(out, fmt.Sprintf("lora:%q", m.Name))
		}
	}
	if l.Workflow != nil {
		for _, n := range l.Workflow.Nodes[:min(len(l.Workflow.Nodes), 3)] {
			out = append(out, fmt.Sprintf("graphtool_node:%q", n.Class))
		}
	}
	return out
}

// checkSameChain opens one asset's chain over REST and over MCP.
func checkSameChain(t *testing.T, e *servicetest.Env, hash string) {
	t.Helper()
	w := world{Env: e}
	for _, o := range e.Catalog.Operations {
		if o.Name != "GetAssetLineage" && o.Name != "GetImagetoolEvolutionChain" {
			continue
		}
		args := map[string]any{"asset_h": hash}
		if o.Name == "GetImagetoolEvolutionChain" {
			args = map[string]any{"asset_id": hash}
		}
		status, rest := w.rest(o, e.Key, args)
		for _, era := range echo.Eras {
			failed, tool := w.tool(w.mcp(era, e.Key), o, args)
			if diff := cmp.Diff(volatile(rest), volatile(tool)); status != 200 || failed || diff != "" {
				t.Errorf("%s: REST %d, MCP error %v (-REST +MCP)\n%s", o.Name, status, failed, diff)
			}
		}
	}
}

// checkOthersSeeNothing asks as another tenant, who holds nothing.
func checkOthersSeeNothing(t *testing.T, e *servicetest.Env, pair [2]string, questions []string) {
	t.Helper()
	key := e.NewKey(e.NewTenant("other"), allPermissions...)
	for _, q := range questions {
		if f := e.Search(key, q, ""); f.Total != 0 {
			t.Errorf("another tenant finds %d by %s", f.Total, q)
		}
	}
	for _, hash := range pair {
		for _, route := range []string{"lineage", "evolution-chain", "session"} {
			if status, answer, _ := e.Raw("GET", "/api/v1/assets/"+url.PathEscape(hash)+"/"+route, key, nil, nil); status != 404 {
				t.Errorf("another tenant's %s: %d %.200s", route, status, answer)
			}
		}
	}
}

// TestLineage_ChainsFollowTheTrashThroughTheIndex takes a parent away by undoing its
// upload, and brings it back.
func TestLineage_ChainsFollowTheTrashThroughTheIndex(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	graph := func(seed int, parent string) []byte { return repainted(seed, seed, parent) }
	child := e.StoreFile("", "child.png", "image/png", graph(1, "parent.png"))
	grandchild := e.StoreFile("", "grandchild.png", "image/png", graph(2, "child.png"))
	parent := e.StoreFile("", "parent.png", "image/png", picture(3, ""))
	hash := func(s servicetest.Stored) string { return string(s.Asset.AssetH) }
	expect := func(when, token string, want map[string][]string) {
		t.Helper()
		for q, hashes := range want {
			servicetest.Eventually(t, when+": "+q, func() error {
				found := e.Search("", q, token)
				for _, h := range hashes {
					if !found.Has(h) {
						return fmt.Errorf("%s is not among %d", h, found.Total)
					}
				}
				if found.Total != len(hashes) {
					return fmt.Errorf("%d found, want %d", found.Total, len(hashes))
				}
				return nil
			})
		}
		indexIsRight(t, e)
	}
	whole := map[string][]string{
		"has:parent": {hash(child), hash(grandchild)}, "has:child": {hash(parent), hash(child)},
		"chain:" + hash(parent): {hash(parent), hash(child), hash(grandchild)}, "parent:" + hash(parent): {hash(child)},
	}
	expect("stored", parent.IndexToken, whole)
	var undone struct {
		OperationID string `json:"operation_id"`
		IndexToken  string `json:"index_token"`
	}
	e.Call("POST", "/api/v1/operations/"+parent.OperationID+"/undo", map[string]any{}, &undone)
	expect("in the trash", undone.IndexToken, map[string][]string{
		"has:parent": {hash(grandchild)}, "has:child": {hash(child)}, "parent:" + hash(parent): nil, "chain:" + hash(child): {hash(child), hash(grandchild)}})
	var line lineageAnswer
	e.Call("GET", "/api/v1/assets/"+hash(child)+"/lineage", nil, &line)
	for _, n := range line.Nodes {
		if n.ID == hash(parent) || n.Name == "parent.png" && n.InLibrary {
			t.Errorf("the parent in the trash is shown: %+v", n)
		}
	}
	e.StoreFile("", "parent.png", "image/png", picture(3, ""))
	expect("stored again", "", whole)
}
