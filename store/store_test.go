package store_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// bench is a store on a database of its own, with two tenants.
type bench struct {
	*store.Store
	url  string
	a, b library.Actor

	Models      *store.Models
	Experiments *store.Experiments
}

func open(t *testing.T, settings ...string) bench {
	t.Helper()
	s, url := storetest.Open(t, settings...)
	return benchOf(t, s, url)
}

// openAsOwner is open with a library whose owner is no superuser, as on a managed server.
func openAsOwner(t *testing.T) bench {
	t.Helper()
	storetest.Database(t) // the service's roles exist
	url := testenv.Postgres(t)
	role := storetest.OwnerRole(t, testenv.Stack(t).PostgresURL, url)
	cfg := store.Config{URL: storetest.WithUser(url, role)}
	if _, err := store.Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return benchOf(t, s, url)
}

func benchOf(t *testing.T, s *store.Store, url string) bench {
	t.Helper()
	actor := func(name string) library.Actor {
		id, err := s.Tenants.Create(t.Context(), system, name)
		if err != nil {
			t.Fatal(err)
		}
		return library.Actor{Kind: library.ActorKey, ID: "key-" + name, Tenant: id.ID, Permissions: library.Permissions}
	}
	return bench{Store: s, url: url, a: actor("a"), b: actor("b"), Models: store.NewModels(s), Experiments: store.NewExperiments(s)}
}

// anyone lets everybody undo everything.
func anyone(library.Operation) error { return nil }

var system = library.Actor{Kind: library.ActorSystem, ID: "test"}

// file makes a NewAsset whose hash follows from its content.
func file(content string, tags ...string) store.NewAsset {
	sum := sha1.Sum([]byte(content))
	seed := uint64(1<<64 - 1)
	prompt := "a red fox\x00 in snow"
	return store.NewAsset{
		ParserVersion: 1,
		Asset: library.Asset{Hash: library.AssetHash(hex.EncodeToString(sum[:])), SHA256: strings.Repeat("a", 64), BLAKE3: strings.Repeat("b", 64),
			Filename: content + ".png", MIMEType: "image/png", Size: int64(len(content)), Width: 64, Height: 32, Tags: tags,
			CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		Lineage: library.Lineage{Tool: "comfyui", Positive: &prompt, Parameters: &library.GenerationParameters{Seed: &seed},
			Models: []library.ModelUse{
				{Type: "checkpoint", Name: `SDXL\base.safetensors`, NodeID: "4"},
				{Type: "lora", Name: "detail.safetensors", NodeID: "10", Hash: "abc"},
				{Type: "lora", Name: "detail.safetensors", NodeID: "11"}},
			Workflow: &library.Workflow{ToolName: "comfyui", JSON: []byte(`{"nodes":[NaN]}`), NodeCount: 1, CustomNodes: []string{}}},
		Chunks: []map[string]string{{"place": "png:tEXt", "key": "prompt"}},
	}
}

func add(t *testing.T, s bench, actor library.Actor, n store.NewAsset) store.AddResult {
	t.Helper()
	got, err := s.Assets.Add(t.Context(), actor, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStore_AddAssetKeepsEverythingTheFileSays(t *testing.T) {
	t.Parallel()
	s := open(t)
	got := add(t, s, s.a, file("fox", "Red  Fox", "red fox", "snow"))
	if !got.Created || got.OperationID == "" || got.Asset.DocVersion != 1 {
		t.Fatalf("added %+v", got)
	}
	d, err := s.Assets.Get(t.Context(), s.a, got.Asset.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Red Fox", "snow"}, d.Asset.Tags); diff != "" {
		t.Error("tags", diff)
	}
	if *d.Lineage.Positive != "a red fox in snow" {
		t.Errorf("prompt %q: the character U+0000 must be left out and nothing else", *d.Lineage.Positive)
	}
	if *d.Lineage.Parameters.Seed != 1<<64-1 {
		t.Errorf("seed %d lost its precision", *d.Lineage.Parameters.Seed)
	}
	if d.Source != library.LineageExtracted || len(d.Models) != 3 || d.Models[0].DisplayName != "base" {
		t.Errorf("source %s, models %+v", d.Source, d.Models)
	}
	editor, _, err := s.Assets.Workflow(t.Context(), s.a, got.Asset.Hash)
	if err != nil || string(editor) != `{"nodes":[NaN]}` {
		t.Errorf("workflow %q %v: a graph comes back byte for byte", editor, err)
	}
}

func TestStore_TheSameBytesAreOneAsset(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := add(t, s, s.a, file("fox", "one"))
	again := add(t, s, s.a, file("fox"))
	if again.Created || again.OperationID != "" {
		t.Errorf("a plain repeat changed something: %+v", again)
	}
	tagged := add(t, s, s.a, file("fox", "two"))
	if diff := cmp.Diff([]string{"one", "two"}, tagged.Asset.Tags); diff != "" || tagged.Asset.DocVersion != first.Asset.DocVersion+1 {
		t.Errorf("tags of a repeat are merged: %s, version %d", diff, tagged.Asset.DocVersion)
	}
	crafted := file("fox")
	crafted.Asset.SHA256 = strings.Repeat("c", 64)
	_, err := s.Assets.Add(t.Context(), s.a, crafted)
	var f *library.Error
	if !errors.As(err, &f) || f.Code != library.CodeHashCollision {
		t.Errorf("a SHA-1 collision gave %v", err)
	}
}

func TestStore_ConcurrentUploadsOfTheSameBytesMakeOneAsset(t *testing.T) {
	t.Parallel()
	s := open(t)
	createdOnce(t, func() (bool, error) {
		got, err := s.Assets.Add(context.Background(), s.a, file("fox"))
		return got.Created, err
	})
}

// createdOnce creates the same thing 12 times at once, and fails unless one call says that it did.
func createdOnce(t *testing.T, create func() (created bool, err error)) {
	t.Helper()
	var all sync.WaitGroup
	var times atomic.Int64
	for range 12 {
		all.Go(func() {
			created, err := create()
			if err != nil {
				t.Error(err)
			}
			if created {
				times.Add(1)
			}
		})
	}
	all.Wait()
	if n := times.Load(); n != 1 {
		t.Errorf("%d of 12 calls say that they created it", n)
	}
}

func TestStore_ChangeWritesUndoAuditAndOutboxAndUndoPutsBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox", "keep", "old")).Asset.Hash
	ctx := t.Context()
	retag, err := s.Assets.Change(ctx, s.a, []library.AssetHash{h, h, "ffffffffffffffffffffffffffffffffffffffff"}, func(a *library.Asset) {
		a.Title, a.Status, a.Tags = "Fox", library.StatusApproved, []string{"keep", "new"}
	})
	if err != nil || len(retag.Changed) != 1 || len(retag.Missing) != 1 {
		t.Fatalf("%+v %v", retag, err)
	}
	if _, err := s.Assets.Change(ctx, s.a, []library.AssetHash{h}, func(a *library.Asset) {
		a.Title, a.Tags = "Arctic fox", library.MergeTags(a.Tags, []string{"later"})
	}); err != nil {
		t.Fatal(err)
	}
	undone, err := s.Operations.Undo(ctx, s.a, retag.OperationID, anyone)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Assets.Get(ctx, s.a, h)
	if err != nil {
		t.Fatal(err)
	}
	got := d.Asset
	if want := (library.Outcome{Noun: "asset", Key: string(h), Name: "Arctic fox", Outcome: "partial", Reason: "title was changed again since"}); got.Title != "Arctic fox" ||
		!slices.Equal(undone.Outcomes, []library.Outcome{want}) {
		t.Errorf("a title changed since must stay and be reported: %q %+v", got.Title, undone.Outcomes)
	}
	if got.Status != library.StatusDraft {
		t.Errorf("status is %s", got.Status)
	}
	slices.Sort(got.Tags)
	if diff := cmp.Diff([]string{"keep", "later", "old"}, got.Tags); diff != "" {
		t.Error("tags after the undo", diff)
	}
	if _, err := s.Operations.Undo(ctx, s.a, retag.OperationID, anyone); library.AsError(err).Code != library.CodeAlreadyUndone {
		t.Errorf("a second undo gave %v", err)
	}
	var outbox, audit int
	s.asOwner(t, func(c *pgx.Conn) {
		if err := c.QueryRow(ctx, `SELECT (SELECT count(*) FROM outbox WHERE topic = 'documents' AND key = $1), (SELECT count(*) FROM audit WHERE subject = $1)`, h).Scan(&outbox, &audit); err != nil {
			t.Fatal(err)
		}
	})
	if outbox != 4 || audit != 4 { // stored, changed, changed, undone
		t.Errorf("%d outbox and %d audit rows for four writes", outbox, audit)
	}
}

func TestStore_UndoOfAnUploadMovesTheAssetToTheTrashAndUploadingAgainBringsItBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := file("fox")
	got := add(t, s, s.a, n)
	if _, err := s.Operations.Undo(t.Context(), s.a, got.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assets.Get(t.Context(), s.a, n.Asset.Hash); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("a trashed asset is not found, got %v", err)
	}
	if known, _ := s.Assets.Existing(t.Context(), s.a, []library.AssetHash{n.Asset.Hash}); known[n.Asset.Hash] {
		t.Error("a trashed asset counts as known, so an import would not bring it back")
	}
	if back := add(t, s, s.a, n); !back.Restored {
		t.Errorf("uploading again gave %+v", back)
	}
	if _, err := s.Assets.Get(t.Context(), s.a, n.Asset.Hash); err != nil {
		t.Error(err)
	}
}

func TestStore_ParentsAreResolvedWhicheverArrivesFirst(t *testing.T) {
	t.Parallel()
	for _, parentFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("parent first ", parentFirst), func(t *testing.T) {
			s := open(t)
			child, parent := file("child"), file("parent")
			child.Lineage.Parents = []library.Parent{{Kind: "input_image", Name: "PARENT.png", NodeID: "7"}}
			order := []store.NewAsset{child, parent}
			if parentFirst {
				order = []store.NewAsset{parent, child}
			}
			for _, n := range order {
				add(t, s, s.a, n)
			}
			d, err := s.Assets.Get(t.Context(), s.a, child.Asset.Hash)
			if err != nil || len(d.Parents) != 1 || d.Parents[0].Asset != parent.Asset.Hash {
				t.Fatalf("parents %+v %v", d.Parents, err)
			}
			if want := map[bool]int64{true: 1, false: 2}[parentFirst]; d.Asset.DocVersion != want {
				t.Errorf("document version %d, want %d: a late parent must reach the index", d.Asset.DocVersion, want)
			}
		})
	}
}

func TestStore_AnAmbiguousParentNameResolvesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two, child := file("one"), file("two"), file("child")
	one.Asset.Filename, two.Asset.Filename = "ComfyUI_00001_.png", "ComfyUI_00001_.png"
	child.Lineage.Parents = []library.Parent{{Kind: "input_image", Name: "ComfyUI_00001_.png"}}
	for _, n := range []store.NewAsset{one, two, child} {
		add(t, s, s.a, n)
	}
	d, err := s.Assets.Get(t.Context(), s.a, child.Asset.Hash)
	if err != nil || d.Parents[0].Asset != "" {
		t.Fatalf("%+v %v", d.Parents, err)
	}
}

// asOwner is not held by row level security.
func (s bench) asOwner(t *testing.T, fn func(*pgx.Conn)) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	fn(c)
}
