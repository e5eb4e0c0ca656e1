package e2e

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"vitrine/library"

	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/internal/testenv"
	"vitrine/service/servicetest"
)

func runImport(t *testing.T, e *servicetest.Env, dir string, opt importer.Options) importer.Report {
	t.Helper()
	r, err := importer.Run(t.Context(), e.Client(""), []string{dir}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fingerprint is all that an import must not change about a folder.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha1.Sum(data)
		out[path] = info.ModTime().String() + info.Mode().String() + hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestImport_CorpusIsImportedOnceAndASecondRunStoresNothing imports real files of many
// tools.
func TestImport_CorpusIsImportedOnceAndASecondRunStoresNothing(t *testing.T) {
	t.Parallel()
	dir := testenv.Corpus(t)
	e := servicetest.Shared(t)
	before := fingerprint(t, dir)
	distinct := map[string]bool{}
	for path, print := range before {
		if filepath.Ext(path) != ".json" {
			distinct[print[len(print)-40:]] = true
		}
	}
	first := runImport(t, e, dir, importer.Options{})
	if first.Failed != 0 || first.Stored != len(distinct) || len(distinct) < 100 {
		t.Errorf("the first run stored %d of %d distinct files, %d failed", first.Stored, len(distinct), first.Failed)
	}
	second := runImport(t, e, dir, importer.Options{})
	if second.Stored != 0 || second.Failed != 0 || second.Already != first.Found {
		t.Errorf("the second run: %+v", second.Counts)
	}
	after := fingerprint(t, dir)
	for path := range before {
		if before[path] != after[path] {
			t.Errorf("the import changed %s", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("the folder had %d files and has %d", len(before), len(after))
	}
	if f := e.Search("", "tool:comfyui", first.LastWrite); f.Total < 50 {
		t.Errorf("only %d files of ComfyUI are found", f.Total)
	}
}

// messy writes the kind of folder that people have.
func messy(t *testing.T, count int) (string, sample.Report) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "output")
	r, err := sample.Write(t.Context(), dir, sample.Options{Count: count, Seed: 7, MaxEdge: 96}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere.png"), filepath.Join(dir, "dangling.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

func outcomes(r importer.Report) map[string][]string {
	out := map[string][]string{}
	for _, f := range r.Files {
		result := strings.Replace(f.Result, "would_store", "stored", 1)
		out[result] = append(out[result], f.Path)
	}
	return out
}

// TestImport_MessyFolderIsImportedAsADryRunSays: the dry run writes nothing and names for
// every file what the run then does; one bad file never stops the rest.
func TestImport_MessyFolderIsImportedAsADryRunSays(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	dir, _ := messy(t, 120)
	dry := runImport(t, e, dir, importer.Options{DryRun: true})
	if u, err := e.Store.Assets.Usage(t.Context(), library.Actor{Kind: library.ActorSystem, Tenant: e.Tenant}); err != nil || u.Assets != 0 {
		t.Fatalf("a dry run stored %d assets, %v", u.Assets, err)
	}
	run := runImport(t, e, dir, importer.Options{Tags: []string{"mess"}})
	want, got := outcomes(dry), outcomes(run)
	for _, result := range []string{"stored", "already_stored", "failed", "skipped"} {
		if len(want[result]) == 0 {
			t.Errorf("the folder has no file for %s: nothing was tried", result)
		}
	}
	// Which of two equal files is the first depends on who was faster, so both
	// kinds are compared together.
	both := func(m map[string][]string) []string {
		list := append(slices.Clone(m["stored"]), m["already_stored"]...)
		slices.Sort(list)
		return list
	}
	if !slices.Equal(both(want), both(got)) || len(want["stored"]) != len(got["stored"]) || !slices.Equal(want["failed"], got["failed"]) || !slices.Equal(want["skipped"], got["skipped"]) {
		t.Errorf("the dry run said %v, the run did %v", counts(want), counts(got))
	}
	for _, f := range run.Files {
		if (f.Result == "failed" || f.Result == "skipped") && f.Reason == "" {
			t.Errorf("%s %s without a reason", f.Path, f.Result)
		}
	}
	if found := e.Search("", "tag:mess", run.LastWrite); found.Total != run.Stored {
		servicetest.Eventually(t, "all is found", func() error {
			if n := e.Search("", "tag:mess", "").Total; n != run.Stored {
				return fmt.Errorf("%d of %d", n, run.Stored)
			}
			return nil
		})
	}
}

func counts(m map[string][]string) map[string]int {
	out := map[string]int{}
	for k, v := range m {
		out[k] = len(v)
	}
	return out
}

// TestImport_WhatTheSampleSaysOfItselfIsFound: the truth of each drawn file is what a
// search by seed finds and what its details say.
func TestImport_WhatTheSampleSaysOfItselfIsFound(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	dir, truth := messy(t, 90)
	run := runImport(t, e, dir, importer.Options{})
	e.Search("", "", run.LastWrite)
	assets := map[string]string{}
	for _, f := range run.Files {
		if rel, err := filepath.Rel(dir, f.Path); err == nil {
			assets[filepath.ToSlash(rel)] = f.Asset
		}
	}
	checked, chained := 0, 0
	for _, f := range truth.Files {
		hash := assets[f.Path]
		if hash == "" || f.Seed == nil || f.Prompt == "" {
			continue
		}
		checked++
		var d struct {
			Prompts *struct {
				Positive *string `json:"positive"`
			} `json:"prompts"`
			Parameters *struct {
				Seed  *uint64 `json:"seed"`
				Steps *int    `json:"steps"`
			} `json:"generation_parameters"`
			Provenance struct {
				Parents []struct {
					Asset string `json:"asset_h"`
				} `json:"parents"`
			} `json:"provenance"`
		}
		e.Call(http.MethodGet, "/api/v1/assets/"+hash, nil, &d)
		if d.Prompts == nil || d.Prompts.Positive == nil || strings.Join(strings.Fields(*d.Prompts.Positive), " ") != strings.Join(strings.Fields(f.Prompt), " ") {
			t.Errorf("%s: the prompt is not the file's", f.Path)
		}
		if d.Parameters == nil || d.Parameters.Seed == nil || *d.Parameters.Seed != *f.Seed {
			t.Errorf("%s: the seed is not the file's", f.Path)
		}
		if parent := assets[f.ParentPath]; f.ParentPath != "" && parent != "" {
			for _, p := range d.Provenance.Parents {
				if p.Asset == parent {
					chained++
				}
			}
		}
		servicetest.Eventually(t, f.Path+" is found by its seed", func() error { // LastWrite awaits the last file alone
			if !e.Search("", "seed:"+strconv.FormatUint(*f.Seed, 10), "").Has(hash) {
				return errors.New("it is not found")
			}
			return nil
		})
	}
	if checked < 40 {
		t.Errorf("only %d files were looked at", checked)
	}
	t.Logf("%d files looked at, %d parents resolved", checked, chained)
}

// TestImport_InterruptedOneGoesOnWhereItStopped cancels a run midway.
func TestImport_InterruptedOneGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	dir, _ := messy(t, 100)
	ctx, cancel := context.WithCancel(t.Context())
	first, err := importer.Run(ctx, e.Client(""), []string{dir}, importer.Options{Senders: 1, Progress: func(c importer.Counts) {
		if c.Stored >= 20 {
			cancel()
		}
	}})
	if err != nil || !first.Interrupted || first.Stored < 20 {
		t.Fatalf("%+v %v", first.Counts, err)
	}
	second := runImport(t, e, dir, importer.Options{})
	if second.Already < first.Stored {
		t.Errorf("the second run knows %d files, the first stored %d", second.Already, first.Stored)
	}
	u, err := e.Store.Assets.Usage(t.Context(), library.Actor{Kind: library.ActorSystem, Tenant: e.Tenant})
	if err != nil || int(u.Assets) < second.Stored+first.Stored || int(u.Assets) > second.Stored+first.Stored+1 { // one may have been under way
		t.Errorf("%d assets after runs of %d and %d, %v", u.Assets, first.Stored, second.Stored, err)
	}
	if third := runImport(t, e, dir, importer.Options{}); third.Stored != 0 {
		t.Errorf("a third run stored %d", third.Stored)
	}
}
