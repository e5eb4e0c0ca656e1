package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/echo"
	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// bin is a product whose assets go to the trash.
type bin struct {
	world
	api *client.Client
}

func newBin(t *testing.T) bin {
	w := newWorld(t)
	return bin{w, w.Client("")}
}

func (b bin) keep(n int, name string) string {
	b.T.Helper()
	return b.StoreFile("", name+".png", "image/png", picture(n, "a "+name), "trash-test").Asset.AssetH
}

func (b bin) move(operation string, hashes ...string) client.TrashAssetsOutput {
	b.T.Helper()
	out, err := b.api.TrashAssets(b.T.Context(), client.TrashAssetsInput{AssetHs: hashes, Operation: operation})
	if err != nil {
		b.T.Fatal(err)
	}
	return out
}

func (b bin) purge(hashes ...string) client.PurgeTrashOutput {
	b.T.Helper()
	out, err := b.api.PurgeTrash(b.T.Context(), client.PurgeTrashInput{AssetHs: hashes, Confirm: true})
	if err != nil {
		b.T.Fatal(err)
	}
	return out
}

// files lists the files of the blob folder whose path names a hash.
func (b bin) files(hash string) (list []string) {
	b.T.Helper()
	err := filepath.WalkDir(b.Cfg.DataDir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(path, hash) {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		b.T.Fatal(err)
	}
	return list
}

func TestTrash_AssetsVanishFromSearchesAndComeBackWithAllTheyHad(t *testing.T) {
	t.Parallel()
	b := newBin(t)
	one, two := b.keep(7001, "walrus"), b.keep(7002, "seal")
	out := b.move("trash", one, two, strings.Repeat("0", 40))
	if len(out.Changed) != 2 || len(out.NotFound) != 1 || out.OperationID == "" {
		t.Fatalf("moving answers %+v", out)
	}
	if again := b.move("trash", one); len(again.Unchanged) != 1 || again.OperationID != "" {
		t.Errorf("moving again answers %+v", again)
	}
	if f := b.Search("", "tag:trash-test", out.IndexToken); f.Total != 0 {
		t.Errorf("%d assets are found in the trash", f.Total)
	}
	for _, path := range []string{"", "/download", "/thumbnail"} {
		if status, _, _ := b.Raw("GET", "/api/v1/assets/"+one+path, b.Key, nil, nil); status != http.StatusNotFound {
			t.Errorf("GET %s of an asset in the trash is answered %d", path, status)
		}
	}
	first, err := b.api.ListTrash(t.Context(), client.ListTrashInput{Limit: 1})
	if err != nil || len(first.Data) != 1 || first.NextCursor == "" || first.Data[0].Size == 0 || first.Data[0].PurgeAt != nil {
		t.Fatalf("the trash lists %+v, %v", first, err)
	}
	second, err := b.api.ListTrash(t.Context(), client.ListTrashInput{Limit: 10, Cursor: first.NextCursor})
	if err != nil || len(second.Data) != 1 || second.NextCursor != "" || second.Data[0].AssetH == first.Data[0].AssetH {
		t.Errorf("the second page lists %+v, %v", second, err)
	}
	back := b.move("restore", one)
	if f := b.Search("", "walrus tag:trash-test", back.IndexToken); f.Total != 1 || !f.Has(one) {
		t.Errorf("what was restored is not found: %+v", f)
	}
	undone, err := b.api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: out.OperationID})
	if err != nil || undone.Counts.Reverted+undone.Counts.Kept != 2 {
		t.Fatalf("undoing answers %+v, %v", undone, err)
	}
	if f := b.Search("", "tag:trash-test", undone.IndexToken); f.Total != 2 {
		t.Errorf("%d of 2 assets are found after undoing", f.Total)
	}
	o, _ := b.Catalog.Find("TrashAssets")
	if isError, got := b.tool(b.mcp(echo.Modern, b.Key), o, map[string]any{"asset_hs": []any{two}, "operation": "trash"}); isError || len(got["changed"].([]any)) != 1 {
		t.Errorf("the tool answers %v", got)
	}
	if isError, got := b.tool(b.mcp(echo.Modern, b.NewKey(b.Tenant, library.PermWrite)), o, map[string]any{"asset_hs": []any{one}, "operation": "trash"}); !isError || codeOf(got) != library.CodePermissionRequired {
		t.Errorf("a key that may write alone gets %v", got)
	}
}

// keepsTraces are the tables that may name a purged asset: what happened to it, and that it
// is gone. Responses to idempotency keys are kept for 24 hours.
var keepsTraces = map[string]bool{"idempotency": true, "audit": true, "journal": true, "asset_tombstones": true, "outbox": true, "events": true, "operation_documents": true, "operation_changes": true, "index_failures": true}

// TestTrash_APurgeLeavesNothingBehind stores an asset with all that an asset can have.
func TestTrash_APurgeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	b := newBin(t)
	data := picture(7100, "an albatross over the sea")
	stored, err := b.api.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "albatross.png", MIMEType: "image/png", AssetDataBase64: encode64(data), Tags: []string{"albatross"},
		PromptMetadata: map[string]any{"prompt": "an albatross"}, AssetMetadata: map[string]any{"job": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	hash := stored.Asset.AssetH
	b.collect("", "Birds of the sea", hash)
	if status, _, _ := b.Raw("GET", "/api/v1/assets/"+hash+"/thumbnail?size=256", b.Key, nil, nil); status != http.StatusOK {
		t.Fatalf("the preview is answered %d", status)
	}
	b.Search("", "albatross", stored.IndexToken)
	if got := b.purge(hash); got.Purged != 0 || len(got.NotInTrash) != 1 {
		t.Errorf("purging an asset that is not in the trash answers %+v", got)
	}
	if _, err := b.api.PurgeTrash(t.Context(), client.PurgeTrashInput{AssetHs: []string{hash}}); problemCode(err) != library.CodeValidationFailed {
		t.Errorf("purging without confirm answers %v", err)
	}
	b.move("trash", hash)
	if len(b.files(hash)) < 2 {
		t.Fatalf("the folder has %v: the test looks at the wrong place", b.files(hash))
	}
	if got := b.purge(hash); got.Purged != 1 || got.Bytes != int64(len(data)) {
		t.Fatalf("purging answers %+v", got)
	}
	if left := b.files(hash); len(left) != 0 {
		t.Errorf("the folder still has %v", left)
	}
	b.noRowNames(t, hash)
	servicetest.Eventually(t, "the document is empty", func() error { return b.emptyDocument(hash) })
	again := b.StoreFile("", "albatross.png", "image/png", data, "again")
	if !again.Created || !b.Search("", "albatross tag:again", again.IndexToken).Has(hash) {
		t.Errorf("stored again it is %+v", again)
	}
	if detail, err := b.api.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: hash}); err != nil || len(detail.Tags) != 1 || len(detail.Collections) != 0 {
		t.Errorf("stored again it has %+v, %v", detail, err)
	}
}

// noRowNames fails unless no column of any table names an asset that was purged, except those that keep traces.
func (b bin) noRowNames(t *testing.T, hash string) {
	t.Helper()
	tables := 0
	owner := storetest.Owner(t, b.Cfg.PostgresURL)
	for _, table := range columns(t, owner) {
		if keepsTraces[strings.Fields(table)[0]] {
			continue
		}
		parts := strings.Fields(table)
		count := fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s::text LIKE '%%' || $1 || '%%'`, pgx.Identifier{parts[0]}.Sanitize(), pgx.Identifier{parts[1]}.Sanitize())
		servicetest.Eventually(t, "no row of "+table+" names the asset", func() error { // the rows that wait for a job go with the job
			var n int
			if err := owner.QueryRow(t.Context(), count, hash).Scan(&n); err != nil || n > 0 {
				return fmt.Errorf("there are %d, error %v", n, err)
			}
			return nil
		})
		tables++
	}
	if tables < 20 {
		t.Errorf("only %d columns were looked at", tables)
	}
}

// columns lists the columns that can hold a hash, as "table column".
func columns(t *testing.T, owner *pgx.Conn) []string {
	t.Helper()
	rows, err := owner.Query(t.Context(), `SELECT c.relname || ' ' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'river%' AND a.attnum > 0 AND NOT a.attisdropped
			AND a.atttypid IN ('text'::regtype, 'jsonb'::regtype, 'json'::regtype) ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// emptyDocument reports what a purged asset's document still says.
func (b bin) emptyDocument(hash string) error {
	var doc struct {
		Source map[string]any `json:"_source"`
	}
	index, _, err := b.Searcher.Index(b.T.Context(), b.Tenant)
	if err != nil {
		return err
	}
	err = opensearch.Call(b.T.Context(), b.OpenSearch, http.MethodGet, "/"+index+"/_doc/"+mappings.DocID(b.Tenant, library.AssetHash(hash))+"?routing="+mappings.Routing(b.Tenant), nil, &doc)
	if err != nil {
		return nil //nolint:nilerr // it is not there any more
	}
	for name := range doc.Source {
		switch name {
		case "tenant_id", "asset_h", "asset_n", "deleted", "doc_version", "version", "trashed", "indexed_at":
		default:
			return fmt.Errorf("the document says %s: %v", name, doc.Source[name])
		}
	}
	return nil
}

func TestTrash_WhatASnapshotHoldsIsKeptUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	w := worldOf(servicetest.Start(t, servicetest.Options{})) // of its own: it purges every tenant's trash
	b := bin{w, w.Client("")}
	held, free := b.keep(7201, "heron"), b.keep(7202, "crane")
	path := "waders"
	if _, err := b.api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: path, AssetHs: []string{held}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.api.BranchCollection(t.Context(), client.BranchCollectionInput{SourcePath: path, NewName: "waders2026", BranchType: "snapshot"}); err != nil {
		t.Fatal(err)
	}
	b.move("trash", held, free)
	if n, bytes, err := b.PurgeDue(t.Context(), time.Now().Add(-time.Hour)); n != 0 || bytes != 0 || err != nil {
		t.Errorf("before their time %d assets are purged, %v", n, err)
	}
	restored := b.keep(7203, "stork")
	b.move("trash", restored)
	b.move("restore", restored)
	if n, bytes, err := b.PurgeDue(t.Context(), time.Now().Add(time.Hour)); n != 1 || bytes == 0 || err != nil {
		t.Errorf("when their time is over %d assets are purged, %v", n, err)
	}
	if len(b.files(held)) == 0 || len(b.files(restored)) == 0 || len(b.files(free)) != 0 {
		t.Error("files of what is kept are gone, or of what was purged are there")
	}
	if got := b.purge(held); got.Purged != 0 || len(got.Referenced) != 1 {
		t.Errorf("purging what a snapshot holds answers %+v", got)
	}
	got, err := b.api.PurgeTrash(t.Context(), client.PurgeTrashInput{All: true, IncludeReferenced: true, Confirm: true})
	if err != nil || got.Purged != 1 || len(b.files(held)) != 0 {
		t.Errorf("told to, it answers %+v, %v", got, err)
	}
	if usage, err := b.Store.Assets.Usage(t.Context(), library.Actor{Kind: library.ActorSystem, Tenant: b.Tenant}); err != nil || usage.TrashBytes != 0 {
		t.Errorf("the trash has %d bytes, %v", usage.TrashBytes, err)
	}
}

func TestTrash_AnImportBringsNothingBackUnlessToldTo(t *testing.T) {
	t.Parallel()
	b := newBin(t)
	dir := t.TempDir()
	for i, name := range []string{"trashed", "purged", "stays"} {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), picture(7300+i, "a "+name+" owl"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(opt importer.Options) importer.Report {
		t.Helper()
		r, err := importer.Run(t.Context(), b.api, []string{dir}, opt)
		if err != nil || r.Failed != 0 {
			t.Fatalf("%+v %v", r, err)
		}
		return r
	}
	first := run(importer.Options{})
	hash := map[string]string{}
	for _, f := range first.Files {
		hash[strings.TrimSuffix(filepath.Base(f.Path), ".png")] = f.Asset
	}
	b.move("trash", hash["trashed"], hash["purged"])
	b.purge(hash["purged"])
	for _, opt := range []importer.Options{{}, {DryRun: true}, {Tags: []string{"x"}}} {
		again := run(opt)
		if again.Absent != 2 || again.Already != 1 || again.Stored != 0 {
			t.Errorf("importing again reports %+v", again.Counts)
		}
	}
	states := map[string]string{}
	for _, f := range run(importer.Options{}).Files {
		states[f.Asset] = f.Result
	}
	if states[hash["trashed"]] != "trashed" || states[hash["purged"]] != "purged" {
		t.Errorf("the report says %v", states)
	}
	no := false
	for name, h := range map[string]string{"trashed": hash["trashed"], "purged": hash["purged"]} {
		data, err := os.ReadFile(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.api.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "x.png", MIMEType: "image/png", AssetDataBase64: encode64(data), Restore: &no})
		if problemCode(err) != library.CodeTrashed {
			t.Errorf("storing %s with restore false answers %v", h, err)
		}
	}
	if back := run(importer.Options{Restore: true}); back.Stored != 2 || back.Absent != 0 {
		t.Errorf("told to restore it reports %+v", back.Counts)
	}
	if n := len(b.files(hash["purged"])); n == 0 {
		t.Error("what was purged has no file")
	}
}

// TestTrash_StoringAndPurgingTheSameBytesAtOnceLosesNothing stores bytes while they are
// trashed and purged, many times. Whatever was acknowledged last, a row has its file and a
// file its row, and the index shows it.
func TestTrash_StoringAndPurgingTheSameBytesAtOnceLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBin(t)
	const files, rounds = 3, 25
	var hashes []string
	for n := range files {
		hashes = append(hashes, b.keep(7400+n, "swift"))
	}
	var all sync.WaitGroup
	var refused, purged int64
	var mu sync.Mutex
	for range 2 {
		for n := range files {
			all.Go(func() {
				for range rounds {
					_, err := b.api.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "swift.png", MIMEType: "image/png", AssetDataBase64: encode64(picture(7400+n, "a swift"))})
					if code := problemCode(err); err != nil && code != library.CodeConflict {
						t.Errorf("storing answers %v", err)
					} else if err != nil {
						mu.Lock()
						refused++
						mu.Unlock()
					}
				}
			})
		}
	}
	for range 2 {
		all.Go(func() {
			for range rounds {
				if _, err := b.api.TrashAssets(t.Context(), client.TrashAssetsInput{AssetHs: hashes, Operation: "trash"}); err != nil {
					t.Errorf("moving answers %v", err)
				}
				got, err := b.api.PurgeTrash(t.Context(), client.PurgeTrashInput{AssetHs: hashes, Confirm: true})
				if err != nil {
					t.Errorf("purging answers %v", err)
				}
				mu.Lock()
				purged += got.Purged
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d purged, %d uploads refused", purged, refused)
	if purged == 0 {
		t.Error("nothing was purged")
	}
	for n, h := range hashes {
		b.checkWhole(h, picture(7400+n, "a swift"))
	}
	last := b.keep(7400, "swift")
	out := b.StoreFile("", "swift.png", "image/png", picture(7400, "a swift"), "settled")
	if f := b.Search("", "tag:settled", out.IndexToken); !f.Has(last) {
		t.Error("what was stored last is not found")
	}
}

// checkWhole fails unless an asset has a row and its file, or neither.
func (b bin) checkWhole(h string, data []byte) {
	t := b.T
	t.Helper()
	_, err := b.Store.Assets.Get(context.Background(), library.Actor{Kind: library.ActorSystem, Tenant: b.Tenant}, library.AssetHash(h))
	switch {
	case err == nil:
		if status, got, _ := b.Raw("GET", "/api/v1/assets/"+h+"/download", b.Key, nil, nil); status != http.StatusOK || !bytes.Equal(got, data) {
			t.Errorf("an asset has a row, and its file is answered %d", status)
		}
	default:
		for _, f := range b.files(h) {
			if strings.Contains(f, string(filepath.Separator)+"assets"+string(filepath.Separator)) {
				if have, err := b.Store.Assets.ExistingOrTrashed(context.Background(), b.Tenant, []library.AssetHash{library.AssetHash(h)}); err != nil || !have[library.AssetHash(h)] {
					t.Errorf("%s has no row", f)
				}
			}
		}
	}
}

func encode64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
