package backup_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vitrine/backup"
	"vitrine/internal/testenv"
)

func TestParseKeep_TakesTheDocumentedFormAndNothingElse(t *testing.T) {
	t.Parallel()
	got, err := backup.ParseKeep("last=3, daily=7,weekly=4,monthly=12")
	if want := (backup.Keep{Last: 3, Daily: 7, Weekly: 4, Monthly: 12}); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := backup.ParseKeep(""); err != nil || !got.All() {
		t.Errorf("an empty one: %+v %v", got, err)
	}
	for _, bad := range []string{"3", "last", "last=", "last=-1", "last=0", "yearly=1", "last=1,,", "last=1e3", "daily=99999"} {
		if got, err := backup.ParseKeep(bad); err == nil {
			t.Errorf("%q was taken as %+v", bad, got)
		}
	}
}

// TestPrune_RemovesBackupsAndFilesThatNoOtherNeeds, from a folder and from a bucket.
func TestPrune_RemovesBackupsAndFilesThatNoOtherNeeds(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) backup.Target{
		"folder": func(t *testing.T) backup.Target { return target(t) },
		"bucket": func(t *testing.T) backup.Target {
			_, to, _ := bucketTarget(t)
			return to
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newShelf(t)
			x.fill()
			to := open(t)
			first := create(t, x, to)
			lone := x.add("only in the second", "image/png")
			second := create(t, x, to)
			if err := x.store.Trash.RemoveFile(t.Context(), x.actor, lone, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			x.owner().exec(`DELETE FROM assets WHERE asset_h = '` + string(lone) + `'`)
			third := create(t, x, to)
			if got, err := backup.Prune(t.Context(), to, backup.Keep{}, backup.Options{}); err != nil || len(got.Backups) > 0 || got.Files > 0 || got.Kept != 3 {
				t.Errorf("keeping all: %+v %v", got, err)
			}
			got, err := backup.Prune(t.Context(), to, backup.Keep{Last: 1}, backup.Options{})
			if err != nil || !slices.Equal(got.Backups, []string{first.ID, second.ID}) || got.Files != 1 || got.Kept != 1 {
				t.Fatalf("%+v %v", got, err)
			}
			if damaged, err := backup.Verify(t.Context(), to, third, backup.Options{}); err != nil || len(damaged) > 0 {
				t.Errorf("the third one afterwards: %v %v", damaged, err)
			}
			into, _ := empty(t, testenv.Postgres(t))
			if got, err := backup.Restore(t.Context(), to, third, into, backup.Options{}); err != nil || got.Assets != 7 {
				t.Errorf("%+v %v", got, err)
			}
		})
	}
}

func TestPrune_RemovesNothingWhenAManifestCannotBeRead(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	dir := filepath.Join(t.TempDir(), "backups")
	to, err := backup.CreateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	first := create(t, x, to)
	create(t, x, to)
	if err := os.WriteFile(filepath.Join(dir, "backups", first.ID, "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(files(t, dir))
	if got, err := backup.Prune(t.Context(), to, backup.Keep{Last: 1}, backup.Options{}); err == nil {
		t.Errorf("%+v", got)
	}
	if now := len(files(t, dir)); now < before {
		t.Errorf("%d of %d files are left", now, before)
	}
}
