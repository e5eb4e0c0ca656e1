package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// eventuallyMoving is servicetest.Eventually, begun anew whenever the number that check returns has
// grown: how long many files take depends on the machine.
func eventuallyMoving(t *testing.T, what string, check func() (int, error)) {
	t.Helper()
	for last, done := -1, false; !done; {
		servicetest.Eventually(t, what, func() error {
			n, err := check()
			if done = err == nil; !done && n <= last {
				return err
			}
			last = n
			return nil
		})
	}
}

// TestImport_KilledInAFolderInPlaceIsEqualToTheFolder kills the service while it imports a
// folder in place, again and again. The process that comes next goes on by itself; in the end
// the library is equal to the folder, and nothing is there or was said twice. With
// VITRINE_RANDOM_FACTOR=67 the folder has 20,000 files.
func TestImport_KilledInAFolderInPlaceIsEqualToTheFolder(t *testing.T) {
	t.Parallel()
	k := newKilledWith(t, servicetest.Config(t), library.PermRead, library.PermSearch, library.PermWrite, library.PermAdmin)
	dir := t.TempDir()
	settings.Store(k.cfg.Prefix, map[string]string{"VITRINE_IMPORT_ROOTS": "pictures=" + dir})
	want := manyPictures(t, dir, randtest.Cases(t, 300))
	distinct := map[string]bool{}
	for _, hash := range want {
		distinct[hash] = true
	}
	p := serve(t, k.cfg, "")
	started, err := k.api.StartImport(t.Context(), client.StartImportInput{Folder: "pictures", Tags: []string{"killed"}})
	if err != nil {
		t.Fatal(err)
	}
	within := 0 // kills in the middle of the import
	for _, part := range []int{1, len(distinct) / 2} {
		eventuallyMoving(t, "a part of the folder is stored", func() (n int, err error) {
			if n = k.rows(); n < part {
				err = fmt.Errorf("%d of %d", n, part)
			}
			return n, err
		})
		p.kill()
		if k.rows() < len(distinct) {
			within++
		}
		// Others wait until the claim of a killed process has run out.
		k.exec(`UPDATE imports SET held_until = now()`)
		p = serve(t, k.cfg, "")
	}
	defer p.stop()
	if within == 0 {
		t.Error("no process was killed before all was stored: nothing was tried")
	}
	eventuallyMoving(t, "the import is completed", func() (int, error) {
		got, err := k.api.GetImport(t.Context(), client.GetImportInput{ImportID: started.ImportID})
		if err == nil && got.State != "completed" {
			err = fmt.Errorf("it is %s with %d stored: %s", got.State, got.Stored, got.Error)
		}
		return k.rows(), err
	})
	if got := k.places(); !maps.Equal(got, want) {
		t.Errorf("the library knows %d files of %d, or others than there are", len(got), len(want))
	}
	k.checkImported(len(distinct))
	servicetest.Eventually(t, "all are found", func() error {
		found, err := k.api.SearchAssets(t.Context(), client.SearchAssetsInput{Query: "tag:killed", Limit: 1})
		if err == nil && found.Total != int64(len(distinct)) {
			err = fmt.Errorf("%d of %d are found", found.Total, len(distinct))
		}
		return err
	})
}

// checkImported counts what an import leaves in the tables: as much for each of n assets.
func (k killed) checkImported(n int) {
	t := k.t
	t.Helper()
	for what, sql := range map[string]string{
		"assets":                      `SELECT count(*) FROM assets`,
		"assets with lineage":         `SELECT count(*) FROM lineage WHERE source = 'extracted'`,
		"assets that use the model":   `SELECT count(DISTINCT asset_h) FROM asset_models`,
		"entries of the journal":      `SELECT count(*) FROM journal WHERE noun = 'asset'`,
		"assets of which jobs remain": `SELECT count(DISTINCT args ->> 'asset_h') FROM river_job WHERE kind = 'preview'`,
		"jobs of previews":            `SELECT count(*) FROM river_job WHERE kind = 'preview'`,
	} {
		if got := k.count(sql); got != n {
			t.Errorf("%s: %d, want %d", what, got, n)
		}
	}
}

// manyPictures writes pictures into a folder, every tenth of them twice, and returns the name
// that each file has in a library.
func manyPictures(t *testing.T, dir string, count int) map[string]string {
	t.Helper()
	names := map[string]string{}
	before := time.Now().Add(-time.Hour)
	var data []byte
	for i := range count {
		if i%10 != 9 {
			data = picture(i, fmt.Sprintf("a fox number%d", i))
		}
		name := fmt.Sprintf("%02d/picture %d.png", i%7, i)
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, before, before); err != nil { // it is not being written
			t.Fatal(err)
		}
		names[name] = sha1Hex(data)
	}
	return names
}

// places returns where the library says that files lie now: path → asset. A path that is
// there twice is an error.
func (k killed) places() map[string]string {
	k.t.Helper()
	c, err := pgx.Connect(k.t.Context(), k.cfg.PostgresURL)
	if err != nil {
		k.t.Fatal(err)
	}
	defer c.Close(k.t.Context())
	rows, err := c.Query(k.t.Context(), `SELECT path, asset_h FROM originals WHERE until IS NULL AND state = 'intact'`)
	if err != nil {
		k.t.Fatal(err)
	}
	got := map[string]string{}
	var path []byte
	var hash string
	if _, err := pgx.ForEachRow(rows, []any{&path, &hash}, func() error {
		if _, twice := got[string(path)]; twice {
			k.t.Errorf("%s is there twice", path)
		}
		got[string(bytes.Clone(path))] = hash
		return nil
	}); err != nil {
		k.t.Fatal(err)
	}
	return got
}
