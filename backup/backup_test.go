package backup_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/backup"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func TestBackup_RestoredLibraryEqualsTheOriginal(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	to := target(t)
	m := create(t, x, to)
	if damaged, err := backup.Verify(t.Context(), to, m, backup.Options{}); err != nil || len(damaged) > 0 {
		t.Fatalf("the fresh backup does not verify: %v %v", damaged, err)
	}
	url := testenv.Postgres(t)
	into, dir := empty(t, url)
	got, err := backup.Restore(t.Context(), to, m, into, backup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Assets != 7 || got.Files != 7 || len(got.Damaged) > 0 {
		t.Errorf("restored %+v", got)
	}
	if diff := cmp.Diff(rows(t, x.url), rows(t, url)); diff != "" {
		t.Errorf("rows (-original +restored):\n%s", diff)
	}
	if diff := cmp.Diff(files(t, x.dir), files(t, dir)); diff != "" {
		t.Errorf("files (-original +restored):\n%s", diff)
	}
	s, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, found, err := s.Keys.Find(t.Context(), sha256.Sum256([]byte("secret"))); err != nil || !found {
		t.Errorf("the key is found: %v (%v)", found, err)
	}
	y := shelfAt(t, s, url)
	y.actor.Tenant = x.actor.Tenant
	y.add("after the restore", "image/png") // sequences go on
	if waiting, err := s.IndexState.RestoreToIndex(t.Context()); err != nil || !waiting {
		t.Errorf("the indexer is told: %v (%v)", waiting, err)
	}
}

func TestBackup_CopiesFilesOnceAndSharesThem(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	to := target(t)
	first := create(t, x, to)
	x.add("one more", "image/png")
	second := create(t, x, to)
	if first.Files.Copied != 7 || second.Files.Copied != 1 || second.Files.Count != 8 {
		t.Errorf("the first copied %d files, the second %d of %d", first.Files.Copied, second.Files.Copied, second.Files.Count)
	}
	all, err := backup.List(t.Context(), to)
	if err != nil || len(all) != 2 || all[0].ID != first.ID || all[1].ID != second.ID {
		t.Fatalf("the list has %d backups (%v)", len(all), err)
	}
	into, _ := empty(t, testenv.Postgres(t))
	if got, err := backup.Restore(t.Context(), to, first, into, backup.Options{}); err != nil || got.Assets != 7 {
		t.Errorf("the first backup restores %d assets (%v)", got.Assets, err)
	}
}

// TestBackup_EveryTableIsInItOrLeftOutByName adds a table that nobody told the backup
// of.
func TestBackup_EveryTableIsInItOrLeftOutByName(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.owner().exec(`CREATE TABLE "Added later" (id int GENERATED ALWAYS AS IDENTITY, twice int GENERATED ALWAYS AS (1 + 1) STORED, note text); INSERT INTO "Added later" (note) VALUES ('kept')`)
	m := create(t, x, target(t))
	named := map[string]bool{}
	for _, table := range m.Tables {
		named[table.Name] = true
		if table.Name == "Added later" && (table.Rows != 1 || !slices.Equal(table.Columns, []string{"id", "note"})) {
			t.Errorf("the table that was added is backed up as %+v", table)
		}
	}
	for _, e := range m.Excluded {
		if named[e.Name] || e.Reason == "" {
			t.Errorf("%s is left out for %q", e.Name, e.Reason)
		}
		named[e.Name] = true
	}
	found, err := storetest.Owner(t, x.url).Query(t.Context(), `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil || len(tables) < 20 {
		t.Fatalf("%d tables (%v)", len(tables), err)
	}
	for _, table := range tables {
		if !named[table] {
			t.Errorf("the table %s is neither in the backup nor left out by name", table)
		}
	}
	if len(m.Excluded) != 13 {
		t.Errorf("%d tables are left out: %v; a further one needs a reason that holds after a restore", len(m.Excluded), m.Excluded)
	}
}

// stopping is a target that fails, or whose owner gives up, after some writes.
type stopping struct {
	backup.Target
	after int
}

func (s *stopping) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if s.after--; s.after < 0 {
		return 0, errStopped
	}
	return s.Target.Put(ctx, name, r)
}

func TestBackup_OneThatWasInterruptedIsNoneAndItsRestIsRemoved(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	x.fill()
	to := target(t)
	complete := create(t, x, to)
	x.add("new", "image/png")
	writes := len(complete.Tables) + 1 // the list of files
	for after := 0; after <= writes+1; after += 5 {
		_, err := backup.Create(t.Context(), x.library(), &stopping{to, min(after, writes+1)}, backup.Options{})
		if !errors.Is(err, errStopped) {
			t.Fatalf("after %d writes: %v", after, err)
		}
		if all, err := backup.List(t.Context(), to); err != nil || len(all) != 1 || all[0].ID != complete.ID {
			t.Errorf("after %d writes the list has %d backups (%v)", after, len(all), err)
		}
	}
	create(t, x, to)
	if ids, err := to.List(t.Context(), "backups"); err != nil || len(ids) != 2 {
		t.Errorf("the folder holds %v (%v)", ids, err)
	}
}

func TestBackup_DoesNotGiveAFolderTwiceAtOnce(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	to := target(t)
	_, unlock, err := to.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Create(t.Context(), x.library(), to, backup.Options{}); err == nil {
		t.Error("two backups wrote to one folder at once")
	}
	unlock()
	create(t, x, to)
	if _, err := backup.CreateDir(x.dir); err == nil {
		t.Error("a folder that holds other things was taken for backups")
	}
}

func TestBackup_NamesFilesThatTheLibraryLostOrHoldsDamaged(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	lost, damaged := x.add("will be lost", "image/png"), x.add("will be damaged", "image/png")
	x.add("good", "image/png")
	at := func(h library.AssetHash) string {
		return filepath.Join(x.dir, "assets", string(x.actor.Tenant), string(h[:2]), string(h))
	}
	if err := errors.Join(os.Remove(at(lost)), os.WriteFile(at(damaged), []byte("WILL be damaged"), 0o600)); err != nil {
		t.Fatal(err)
	}
	to := target(t)
	m := create(t, x, to)
	if len(m.Damaged) != 2 || m.Files.Copied != 1 {
		t.Fatalf("the manifest names %v, and %d files were copied", m.Damaged, m.Files.Copied)
	}
	into, dir := empty(t, testenv.Postgres(t))
	got, err := backup.Restore(t.Context(), to, m, into, backup.Options{})
	if err != nil || got.Assets != 3 || got.Files != 1 || len(got.Damaged) != 2 || len(files(t, dir)) != 1 {
		t.Errorf("restored %+v (%v)", got, err)
	}
}

// TestBackup_AnOwnerThatIsNoSuperuserBacksUpAndRestoresEveryRow is the case of a
// managed server, where row level security binds the owner too.
func TestBackup_AnOwnerThatIsNoSuperuserBacksUpAndRestoresEveryRow(t *testing.T) {
	t.Parallel()
	storetest.Database(t) // the service's roles exist
	admin := testenv.Stack(t).PostgresURL
	url, restored := testenv.Postgres(t), testenv.Postgres(t)
	role := storetest.OwnerRole(t, admin, url, restored)
	cfg := store.Config{URL: storetest.WithUser(url, role)}
	if _, err := store.Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	x := shelfAt(t, s, url)
	x.fill()
	s.Close()
	to := target(t)
	m, err := backup.Create(t.Context(), backup.Library{Database: cfg, Blobs: x.blobs}, to, backup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	into, _ := empty(t, storetest.WithUser(restored, role))
	if _, err := backup.Restore(t.Context(), to, m, into, backup.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows(t, url), rows(t, restored)); diff != "" {
		t.Errorf("rows (-original +restored):\n%s", diff)
	}
	var unforced int
	if err := storetest.Owner(t, restored).QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity AND NOT relispartition`).Scan(&unforced); err != nil || unforced != 0 {
		t.Errorf("row level security is not forced on %d restored tables (%v)", unforced, err)
	}
	owner{t, storetest.Owner(t, url)}.exec(`DROP POLICY owner ON assets`)
	if _, err := backup.Create(t.Context(), backup.Library{Database: cfg, Blobs: x.blobs}, to, backup.Options{}); err == nil || !strings.Contains(err.Error(), "hides rows of assets") {
		t.Errorf("a backup that would lack rows gave %v", err)
	}
}
