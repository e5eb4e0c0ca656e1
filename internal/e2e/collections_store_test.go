package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"vitrine/api/client"
	"vitrine/importer"
)

// TestStoreAsset_AddsToACollectionOrStoresNothing stores into collections that take the
// file and into those that do not.
func TestStoreAsset_AddsToACollectionOrStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	target, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Inbox"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: "inbox", NewName: "Frozen", BranchType: "snapshot"}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Smart", SavedSearchID: w.saved}); err != nil {
		t.Fatal(err)
	}
	send := func(n int, collection string) (client.StoreAssetOutput, error) {
		return api.StoreAsset(ctx, client.StoreAssetInput{Filename: fmt.Sprintf("into-%d.png", n), MIMEType: "image/png", CollectionH: collection,
			AssetDataBase64: base64.StdEncoding.EncodeToString(picture(400+n, "stored into a collection"))})
	}
	before, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "filename:into*"})
	if err != nil {
		t.Fatal(err)
	}
	for collection, code := range map[string]string{"frozen": "COLLECTION_FROZEN", "smart": "COLLECTION_SMART", "nowhere": "NOT_FOUND"} {
		if _, err := send(1, collection); problemCode(err) != code {
			t.Errorf("storing into %s: %v", collection, err)
		}
	}
	stored, err := send(2, target.CollectionH)
	if err != nil || !stored.Created || stored.CollectionPath != "inbox" {
		t.Fatalf("%+v %v", stored, err)
	}
	if found := w.Search("", "filename:into*", stored.IndexToken); int64(found.Total) != before.Total+1 {
		t.Errorf("%d assets were stored", int64(found.Total)-before.Total)
	}
	if found := w.Search("", "collection:=inbox", stored.IndexToken); found.Total != 1 {
		t.Errorf("the collection has %d", found.Total)
	}
	if again, err := send(2, "inbox"); err != nil || again.Created || again.OperationID != "" {
		t.Errorf("storing it again: %+v %v", again, err)
	}
	undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: stored.OperationID})
	if err != nil {
		t.Fatal(err)
	}
	if page, err := api.GetCollectionAssets(ctx, client.GetCollectionAssetsInput{CollectionPath: "inbox"}); err != nil || page.Total != 0 {
		t.Errorf("after the undo the collection has %d, %v", page.Total, err)
	}
	if found := w.Search("", "filename:into*", undone.IndexToken); int64(found.Total) != before.Total {
		t.Errorf("after the undo there are %d", found.Total)
	}
	if back, err := send(2, "inbox"); err != nil || !back.Restored {
		t.Errorf("storing it once more: %+v %v", back, err)
	}
	if page, err := api.GetCollectionAssets(ctx, client.GetCollectionAssetsInput{CollectionPath: "inbox"}); err != nil || page.Total != 1 {
		t.Errorf("restored, the collection has %d, %v", page.Total, err)
	}
}

// TestImport_IntoACollectionAddsEveryFile imports a folder of which one file is stored
// already.
func TestImport_IntoACollectionAddsEveryFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("shot-%d.png", i)), picture(450+i, "imported into a collection"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.StoreFile("", "shot-0.png", "image/png", picture(450, "imported into a collection"))
	into := importer.Options{Collection: "shoots.today"}
	if r, err := importer.Run(t.Context(), w.Client(""), []string{dir}, into); err == nil || r.Found != 0 {
		t.Errorf("importing into nothing: %+v %v", r, err)
	}
	api := w.Client("")
	for _, c := range []client.CreateCollectionInput{{Name: "Shoots"}, {Name: "Today", ParentPath: "shoots"}} {
		if _, err := api.CreateCollection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	in := func() int64 {
		t.Helper()
		page, err := api.GetCollectionAssets(t.Context(), client.GetCollectionAssetsInput{CollectionPath: "shoots.today"})
		if err != nil {
			t.Fatal(err)
		}
		return int64(page.Total)
	}
	if dry := runImport(t, w.Env, dir, importer.Options{Collection: "shoots.today", DryRun: true}); dry.Stored != 2 || in() != 0 {
		t.Errorf("the dry run stored %d of 3 and collected %d", dry.Stored, in())
	}
	if r := runImport(t, w.Env, dir, into); r.Stored != 2 || r.Already != 1 || r.Failed != 0 || in() != 3 {
		t.Errorf("the import stored %d, found %d there, failed with %d; the collection has %d", r.Stored, r.Already, r.Failed, in())
	}
}
