package backup_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/backup"
	"vitrine/internal/testenv"
	"vitrine/store"
	"vitrine/store/storetest"
)

// TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing damages a backup in every
// place, one after the other.
func TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	dir := filepath.Join(t.TempDir(), "backups")
	to, err := backup.CreateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	m := create(t, x, to)
	url := testenv.Postgres(t)
	into, blobs := empty(t, url)
	tries := 0
	for name := range files(t, dir) {
		if name == "lock" || name == "vitrine-backups" || strings.HasSuffix(name, posterName()) {
			continue
		}
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := slices.Clone(good)
		changed[len(changed)/2] ^= 1
		for _, bad := range [][]byte{good[:len(good)-1], changed, nil} {
			tries++
			if err := restoreWith(t, path, bad, to, m, into); err == nil {
				t.Errorf("%s with %d of %d bytes was restored", name, len(bad), len(good))
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if tries < 60 {
		t.Errorf("only %d damages were tried", tries)
	}
	for name := range files(t, blobs) {
		if !strings.HasPrefix(name, "assets/") && !strings.HasPrefix(name, "derived/") { // good files may have come before a bad one was met
			t.Errorf("%s is left in the blob store", name)
		}
	}
	var tables int
	if err := storetest.Owner(t, url).QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were made (%v)", tables, err)
	}
	if _, err := backup.Restore(t.Context(), to, m, into, backup.Options{Replace: true}); err != nil {
		t.Errorf("the mended backup does not restore: %v", err)
	}
}

// restoreWith restores a backup with other bytes in one of its files, or without the file where they are nil.
func restoreWith(t *testing.T, path string, bad []byte, to backup.Target, m backup.Manifest, into backup.Library) error {
	t.Helper()
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if bad == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	read, err := backup.ReadManifest(t.Context(), to, m.ID)
	if err == nil {
		_, err = backup.Restore(t.Context(), to, read, into, backup.Options{})
	}
	return err
}

func TestRestore_RefusesALibraryThatIsNotEmptyUnlessTold(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	to := target(t)
	m := create(t, x, to)
	before := rows(t, x.url)

	other := newShelf(t)
	other.add("somebody else's", "image/png")
	theirs := rows(t, other.url)
	if _, err := backup.Restore(t.Context(), to, m, other.library(), backup.Options{}); err == nil || !strings.Contains(err.Error(), "stop every vitrine serve") {
		t.Errorf("restoring below a running service gave %v", err)
	}
	other.store.Close()
	if _, err := backup.Restore(t.Context(), to, m, other.library(), backup.Options{}); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("restoring over a library gave %v", err)
	}
	if diff := cmp.Diff(theirs, rows(t, other.url)); diff != "" {
		t.Errorf("a refused restore changed rows:\n%s", diff)
	}
	fresh, _ := empty(t, testenv.Postgres(t))
	if _, err := backup.Restore(t.Context(), to, m, backup.Library{Database: fresh.Database, Blobs: other.blobs}, backup.Options{}); err == nil || !strings.Contains(err.Error(), "blob store is not empty") {
		t.Errorf("restoring into a filled blob store gave %v", err)
	}
	if _, err := backup.Restore(t.Context(), to, m, other.library(), backup.Options{Replace: true}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, rows(t, other.url)); diff != "" {
		t.Errorf("rows (-original +restored):\n%s", diff)
	}
	if n := len(files(t, other.dir)); n != 9 { // seven files, a poster, and the one that was there
		t.Errorf("the blob store holds %d files; a restore must not delete any", n)
	}
}

// TestRestore_RowsThatPostgresStoresInAnotherOrderAreTheSameRows: rows of very
// different sizes among former versions of themselves, as answers that are kept for
// repeated requests are, do not fill pages one after the other when they are loaded.
func TestRestore_RowsThatPostgresStoresInAnotherOrderAreTheSameRows(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	// As requests keep them: first that one runs, then its answer, which is random here so
	// that it does not compress.
	x.owner().exec(fmt.Sprintf(`DO $$ BEGIN PERFORM setseed(0.5); FOR i IN 1..2000 LOOP
		INSERT INTO idempotency (tenant_id, actor_id, key, request_hash) VALUES ('%[1]s', 'a', i, sha256(i::text::bytea)); COMMIT;
		UPDATE idempotency SET response = to_jsonb((SELECT string_agg(md5(random()::text), '') FROM generate_series(1, (i * 7919) %% 61 + 1)))
			WHERE tenant_id = '%[1]s' AND actor_id = 'a' AND key = i::text; COMMIT;
		END LOOP; END $$`, x.actor.Tenant))
	to := target(t)
	m := create(t, x, to)
	url := testenv.Postgres(t)
	into, _ := empty(t, url)
	if _, err := backup.Restore(t.Context(), to, m, into, backup.Options{}); err != nil {
		t.Fatal(err)
	}
	before, after := rows(t, x.url)["idempotency"], rows(t, url)["idempotency"]
	if len(before) != 2000 || !slices.Equal(before, after) {
		t.Errorf("of %d rows %d came, or not the same", len(before), len(after))
	}
}

// TestRestore_HealsAFileThatIsThereDamaged restores over the original's own files.
func TestRestore_HealsAFileThatIsThereDamaged(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	h := x.add("precious", "image/png")
	x.add("also", "image/png")
	to := target(t)
	m := create(t, x, to)
	path := filepath.Join(x.dir, "assets", string(x.actor.Tenant), string(h[:2]), string(h))
	if err := os.WriteFile(path, []byte("PRECIOUS"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.store.Close()
	got, err := backup.Restore(t.Context(), to, m, x.library(), backup.Options{Replace: true})
	if err != nil || got.Files != 1 {
		t.Errorf("restored %+v (%v)", got, err)
	}
	if raw, err := os.ReadFile(path); err != nil || !bytes.Equal(raw, []byte("precious")) {
		t.Errorf("the file holds %q (%v)", raw, err)
	}
}

// TestRestore_MigratesAnOlderSchemaForward restores a backup that was made before the
// newest migrations.
func TestRestore_MigratesAnOlderSchemaForward(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.add("old", "image/png")
	m := create(t, x, target(t))
	older := m.Versions[:6]
	old := testenv.Postgres(t)
	load, err := store.OpenLoad(t.Context(), store.Config{URL: old})
	if err != nil {
		t.Fatal(err)
	}
	if err := load.Begin(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	load.Close()
	o := owner{t, storetest.Owner(t, old)}
	o.exec(`INSERT INTO tenants (tenant_id, name) VALUES ('00000000-0000-4000-8000-0000000000aa', 'old')`)
	to := target(t)
	blobs, _ := empty(t, old)
	m, err = backup.Create(t.Context(), blobs, to, backup.Options{})
	if err != nil || !slices.Equal(m.Versions, older) {
		t.Fatalf("the backup has versions %v (%v)", m.Versions, err)
	}
	url := storetest.Database(t) // current, and empty
	into, _ := empty(t, url)
	got, err := backup.Restore(t.Context(), to, m, into, backup.Options{})
	if err != nil || got.Migrations == 0 {
		t.Fatalf("restored %+v (%v)", got, err)
	}
	s, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if all, err := s.Tenants.List(t.Context()); err != nil || len(all) != 1 || all[0].Name != "old" {
		t.Errorf("the tenants are %v (%v)", all, err)
	}
	if behind, err := store.SchemaBehind(t.Context(), store.Config{URL: url}); err != nil || behind != 0 {
		t.Errorf("the schema lacks %d migrations (%v)", behind, err)
	}
	m.Versions = append(m.Versions, 99999)
	if _, err := backup.Restore(t.Context(), to, m, into, backup.Options{Replace: true}); err == nil || !strings.Contains(err.Error(), "99999") {
		t.Errorf("a schema of the future gave %v", err)
	}
}
