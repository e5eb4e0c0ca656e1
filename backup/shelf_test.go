package backup_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/backup"
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
	s, url := storetest.Open(t)
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
	key := library.Key{ID: "key_1", Tenant: x.actor.Tenant, Name: "k", Hint: "abcd", Permissions: []library.Permission{library.PermRead}}
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

var errStopped = errors.New("stopped")

func posterName() string {
	sum := sha256.Sum256([]byte("a poster"))
	return hex.EncodeToString(sum[:])
}
