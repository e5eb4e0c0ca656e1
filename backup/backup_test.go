package backup_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/store"
	"vitrine/store/storetest"
)

var system = library.Actor{Kind: library.ActorSystem, ID: "test"}

// shelf is a library of rows and files without a service.
type shelf struct {
	t     *testing.T
	store *store.Store
	blobs *blob.Disk
	url   string
	dir   string
	actor library.Actor
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	s, url := storetest.Open(t, "store")
	return shelfAt(t, s, url)
}

func shelfAt(t *testing.T, s *store.Store, url string) *shelf {
	t.Helper()
	x := &shelf{t: t, store: s, url: url, dir: filepath.Join(t.TempDir(), "blobs")}
	var err error
	if x.blobs, err = blob.CreateDisk(x.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.blobs.Close() })
	tenant, err := s.Tenants.Create(t.Context(), system, "a")
	if err != nil {
		t.Fatal(err)
	}
	x.actor = library.Actor{Kind: library.ActorKey, ID: "key", Tenant: tenant.ID, Permissions: library.Permissions}
	return x
}

func (x *shelf) library() backup.Library {
	return backup.Library{Database: store.Config{URL: x.url}, Blobs: x.blobs}
}

// add stores a file and its rows as StoreAsset does.
func (x *shelf) add(content, mime string, tags ...string) library.AssetHash {
	x.t.Helper()
	id := blob.NewStagingID()
	staged, err := x.blobs.Stage(x.t.Context(), x.actor.Tenant, id, strings.NewReader(content), 1<<30)
	if err == nil {
		err = x.blobs.Commit(x.t.Context(), x.actor.Tenant, id, staged.SHA1)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	prompt := "tab\there \\N and\nline \x01 ünï 🦊"
	_, err = x.store.Assets.Add(x.t.Context(), x.actor, store.NewAsset{ParserVersion: 1,
		Asset: library.Asset{Hash: staged.SHA1, SHA256: staged.SHA256, BLAKE3: staged.BLAKE3, Filename: "a\\b\t.png", MIMEType: mime, Size: staged.Size, Tags: tags},
		Lineage: library.Lineage{Tool: "comfyui", Positive: &prompt, Models: []library.ModelUse{{Type: "lora", Name: "x"}},
			Workflow: &library.Workflow{ToolName: "comfyui", JSON: []byte(`{"nodes":[NaN]}`), CustomNodes: []string{}}},
		Chunks: []map[string]string{{"place": "png:tEXt", "key": "prompt"}}})
	if err != nil {
		x.t.Fatal(err)
	}
	return staged.SHA1
}

// fill makes a library with something in most tables.
func (x *shelf) fill() {
	x.t.Helper()
	for i := range 5 {
		x.add(fmt.Sprintf("picture %d", i), "image/png", "red", "fox")
	}
	model := x.add("a model", "model/gltf-binary")
	if err := x.blobs.PutDerived(x.t.Context(), x.actor.Tenant, model, preview.PosterName, []byte("a poster")); err != nil {
		x.t.Fatal(err)
	}
	h := x.add("changed", "image/png")
	if _, err := x.store.Assets.Change(x.t.Context(), x.actor, []library.AssetHash{h}, func(a *library.Asset) { a.Title = "new" }); err != nil {
		x.t.Fatal(err)
	}
	key := store.Key{ID: "key_1", Tenant: x.actor.Tenant, Name: "k", Hint: "abcd", Permissions: []library.Permission{library.PermRead}}
	if err := x.store.Keys.Create(x.t.Context(), system, &key, sha256.Sum256([]byte("secret"))); err != nil {
		x.t.Fatal(err)
	}
	limit := int64(1 << 20)
	if _, err := x.store.Limits.Set(x.t.Context(), system, x.actor.Tenant, store.LimitChange{StorageBytes: &limit}); err != nil {
		x.t.Fatal(err)
	}
	x.owner().exec(`INSERT INTO embeddings (configuration, text_h, vector) VALUES ('c', sha256('x'), '\x00ff5c')`)
}

type owner struct {
	t *testing.T
	c *pgx.Conn
}

func (x *shelf) owner() owner { return owner{x.t, storetest.Owner(x.t, x.url)} }

func (o owner) exec(sql string) {
	o.t.Helper()
	if _, err := o.c.Exec(context.Background(), sql); err != nil {
		o.t.Fatal(err)
	}
}

// rows returns every table's rows as text, in a fixed order.
func rows(t *testing.T, url string) map[string][]string {
	t.Helper()
	c := storetest.Owner(t, url)
	found, err := c.Query(t.Context(), `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
		AND relname NOT IN ('goose_db_version', 'tenant_key', 'restores', 'index_generations', 'index_state', 'blob_store')`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, table := range tables {
		found, err := c.Query(t.Context(), `SELECT x::text FROM `+pgx.Identifier{table}.Sanitize()+` x ORDER BY 1`)
		if err != nil {
			t.Fatal(err)
		}
		if out[table], err = pgx.CollectRows(found, pgx.RowTo[string]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// files returns what a folder of blobs holds, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "vitrine-blobs" {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func target(t *testing.T) *backup.Dir {
	t.Helper()
	d, err := backup.CreateDir(filepath.Join(t.TempDir(), "backups"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func create(t *testing.T, x *shelf, to backup.Target) backup.Manifest {
	t.Helper()
	m, err := backup.Create(t.Context(), x.library(), to, backup.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// empty is where a library is restored to.
func empty(t *testing.T, url string) (backup.Library, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	blobs, err := blob.CreateDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return backup.Library{Database: store.Config{URL: url}, Blobs: blobs}, dir
}

func TestBackup_RestoredLibraryEqualsTheOriginal(t *testing.T) {
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
	if len(m.Excluded) != 11 {
		t.Errorf("%d tables are left out: %v; a further one needs a reason that holds after a restore", len(m.Excluded), m.Excluded)
	}
}

// stopping is a target that fails, or whose owner gives up, after some writes.
type stopping struct {
	backup.Target
	after int
}

var errStopped = errors.New("stopped")

func (s *stopping) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	if s.after--; s.after < 0 {
		return 0, errStopped
	}
	return s.Target.Put(ctx, name, r)
}

func TestBackup_OneThatWasInterruptedIsNoneAndItsRestIsRemoved(t *testing.T) {
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
	x := newShelf(t)
	to := target(t)
	unlock, err := to.Lock(t.Context())
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

// TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing damages a backup in every
// place, one after the other.
func TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing(t *testing.T) {
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
			if err == nil {
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

func posterName() string {
	sum := sha256.Sum256([]byte("a poster"))
	return hex.EncodeToString(sum[:])
}

func TestRestore_RefusesALibraryThatIsNotEmptyUnlessTold(t *testing.T) {
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

// TestRestore_HealsAFileThatIsThereDamaged restores over the original's own files.
// TestRestore_RowsThatPostgresStoresInAnotherOrderAreTheSameRows: rows of very
// different sizes among former versions of themselves, as answers that are kept for
// repeated requests are, do not fill pages one after the other when they are loaded.
func TestRestore_RowsThatPostgresStoresInAnotherOrderAreTheSameRows(t *testing.T) {
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

func TestRestore_HealsAFileThatIsThereDamaged(t *testing.T) {
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
	url := storetest.Database(t, "store") // current, and empty
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

// TestBackup_AnOwnerThatIsNoSuperuserBacksUpAndRestoresEveryRow is the case of a
// managed server, where row level security binds the owner too.
func TestBackup_AnOwnerThatIsNoSuperuserBacksUpAndRestoresEveryRow(t *testing.T) {
	storetest.Database(t, "store") // the service's roles exist
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
