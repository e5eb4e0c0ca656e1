package service_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/inplace"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// folderOf is a product with one root, and the folder of that.
func folderOf(t *testing.T, roles ...service.Role) (*servicetest.Env, string) {
	t.Helper()
	dir := t.TempDir()
	if roles == nil {
		roles = []service.Role{service.RoleAPI, service.RoleWork, service.RoleRelay, service.RoleIndex}
	}
	e := servicetest.Start(t, servicetest.Options{Roles: roles, Adjust: func(c *service.Config) {
		c.ImportRoots = []inplace.Root{{Name: "pictures", Dir: dir}}
		c.Rescan = 3 * time.Second
	}})
	return e, dir
}

// old is a time before which files are not taken for being written.
var old = time.Now().Add(-time.Hour).Truncate(time.Second)

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// actorOf is who reads the reports.
func actorOf(e *servicetest.Env) library.Actor {
	return library.Actor{Kind: library.ActorSystem, ID: "test", Tenant: e.Tenant}
}

// runImport imports a folder and waits for its end.
func runImport(t *testing.T, e *servicetest.Env, in client.StartImportInput) library.Import {
	t.Helper()
	started, err := e.Client("").StartImport(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return awaitImport(t, e, started.ImportID, func(i library.Import) bool { return !i.State.Open() })
}

func awaitImport(t *testing.T, e *servicetest.Env, id string, until func(library.Import) bool) library.Import {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		i, err := e.Store.Imports.Get(t.Context(), actorOf(e), id)
		if err != nil {
			t.Fatal(err)
		}
		if until(i) {
			return i
		}
		if time.Since(began) > 60*time.Second {
			t.Fatalf("the import does not get there: %+v", i)
		}
	}
}

// filesOf lists what a report says of single files: path → result.
func filesOf(t *testing.T, e *servicetest.Env, id string) map[string]library.ImportFile {
	t.Helper()
	list, err := e.Store.Imports.Files(t.Context(), actorOf(e), id, "", "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]library.ImportFile{}
	for _, f := range list {
		out[f.Path] = f
	}
	return out
}

func awaitSearch(t *testing.T, e *servicetest.Env, query string, want int64) {
	t.Helper()
	servicetest.Eventually(t, query, func() error {
		found, err := e.Client("").SearchAssets(t.Context(), client.SearchAssetsInput{Query: query})
		if err == nil && found.Total != want {
			err = fmt.Errorf("%d found instead of %d", found.Total, want)
		}
		return err
	})
}

func download(e *servicetest.Env, hash library.AssetHash) (int, string) {
	status, data, _ := e.Raw(http.MethodGet, "/api/v1/assets/"+string(hash)+"/download", e.Key, nil, nil)
	return status, string(data)
}

// assetAt returns the asset whose file lies at a path now.
func assetAt(t *testing.T, e *servicetest.Env, path string) store.Original {
	t.Helper()
	list, err := e.Store.Originals.At(t.Context(), e.Tenant, "pictures", []string{path})
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %v %v", path, list, err)
	}
	return list[0]
}

func TestInPlace_FilesAreServedFromWhereTheyLieAndOnlyWhileTheyAreWhatWasImported(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t)
	fox, owl := filepath.Join(dir, "a", "fox.png"), filepath.Join(dir, "owl.png")
	put(t, fox, picture(1))
	put(t, owl, picture(2))
	put(t, filepath.Join(dir, "notes.md"), []byte("# nothing"))
	put(t, filepath.Join(dir, "empty.png"), nil)
	got := runImport(t, e, client.StartImportInput{Folder: dir, Tags: []string{"mine"}})
	if c := got.Counts; got.State != library.ImportCompleted || c.Found != 3 || c.Stored != 2 || c.Failed != 1 || c.Skipped != 1 || c.Listed != 4 {
		t.Fatalf("%+v", got)
	}
	if f := filesOf(t, e, got.ID); f["empty.png"].Reason != "the file is empty" || !strings.Contains(f["notes.md"].Reason, "no media") {
		t.Errorf("%+v", f)
	}
	at := assetAt(t, e, "a/fox.png")
	if status, data := download(e, at.Hash); status != http.StatusOK || data != string(picture(1)) {
		t.Fatalf("download: %d", status)
	}
	if _, err := e.Previews.Picture(t.Context(), e.Tenant, at.Hash, 512); err != nil {
		t.Errorf("preview: %v", err)
	}
	keepsNoBytes(t, e)
	// Other bytes of the same size and time are told apart.
	changed := picture(1)
	changed[len(changed)-1] ^= 1
	put(t, fox, changed)
	if status, data := download(e, at.Hash); status != http.StatusUnprocessableEntity || strings.Contains(data, string(changed)) || !strings.Contains(data, "FILE_DAMAGED") {
		t.Errorf("a changed original: %d %.200s", status, data)
	}
	if again := assetAt(t, e, "a/fox.png"); again.State != library.OriginalChanged {
		t.Errorf("it is %s", again.State)
	}
	awaitSearch(t, e, "original:changed", 1)
	// Its own bytes at another time are what they were.
	put(t, fox, picture(1))
	if err := os.Chtimes(fox, old.Add(time.Minute), old.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond) // the stamp is relied on from now on
	if status, data := download(e, at.Hash); status != http.StatusOK || data != string(picture(1)) {
		t.Errorf("put back: %d", status)
	}
	awaitSearch(t, e, "original:in_place", 2)
	if err := os.Remove(fox); err != nil {
		t.Fatal(err)
	}
	if status, data := download(e, at.Hash); status != http.StatusNotFound || !strings.Contains(data, "FILE_MISSING") {
		t.Errorf("missing: %d %s", status, data)
	}
	awaitSearch(t, e, "original:missing", 1)
}

// keepsNoBytes fails where the library has bytes of its own.
func keepsNoBytes(t *testing.T, e *servicetest.Env) {
	t.Helper()
	count := 0
	if err := filepath.WalkDir(filepath.Join(e.Cfg.DataDir, "blobs", "assets"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			count++
		}
		return nil
	}); err != nil || count > 0 {
		t.Errorf("%d files were copied, %v", count, err)
	}
}
