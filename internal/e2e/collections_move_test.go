package e2e

import (
	"fmt"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/service/servicetest"
	"vitrine/store/indexstate"
	"vitrine/store/storetest"
)

// TestCollections_WhileALargeSubtreeMovesItsAssetsAreAlwaysFound moves a collection with
// more assets than an operation sees to itself, and searches for them under the old path and
// the new until the index has followed.
func TestCollections_WhileALargeSubtreeMovesItsAssetsAreAlwaysFound(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	api, ctx := e.Client(""), t.Context()
	for _, c := range []client.CreateCollectionInput{{Name: "Shoots"}, {Name: "Summer", ParentPath: "shoots"}, {Name: "Archive"}} {
		if _, err := api.CreateCollection(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	const n = 1500
	fillCollection(t, e, "shoots.summer", n)
	count := func(query string) int { return e.Search("", query, "").Total }
	servicetest.Eventually(t, "the index has all assets", func() error {
		if got := count("collection:shoots"); got != n {
			return fmt.Errorf("%d are found", got)
		}
		return nil
	})
	moved, err := api.MoveCollection(ctx, client.MoveCollectionInput{SourcePath: "shoots.summer", NewParentPath: "archive"})
	if err != nil || !moved.IndexPending {
		t.Fatalf("the move is not of a large collection: %+v %v", moved, err)
	}
	searches, between, began := 0, 0, time.Now()
	servicetest.Eventually(t, "the index follows the move", func() error {
		all := count("collection:shoots.summer OR collection:archive.summer")
		if all != n {
			t.Fatalf("during the move %d of %d assets are found", all, n)
		}
		at := count("collection:=archive.summer")
		searches++
		if at == n {
			return nil
		}
		if at > 0 {
			between++
		}
		return fmt.Errorf("%d of %d assets are under the new path", at, n)
	})
	t.Logf("%d searches in %s, %d of them while some assets had followed", searches, time.Since(began).Round(time.Second), between)
	if count("collection:shoots") != 0 {
		t.Error("some assets are still found under the old path")
	}
}

// fillCollection writes rows of assets, of which there are no files, into a collection, and enqueues
// them for the index.
func fillCollection(t *testing.T, e *servicetest.Env, path string, n int) {
	t.Helper()
	ctx := t.Context()
	db := storetest.Owner(t, e.Cfg.PostgresURL)
	if _, err := db.Exec(ctx, `INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT $1, lpad(to_hex(i), 40, '0'), '', '', i || '.png', 'image/png', 1, now(), 'test', 1 FROM generate_series(1, $2) i`, string(e.Tenant), n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, added_by)
		SELECT a.tenant_id, c.collection_h, a.asset_h, a.asset_h, right(a.asset_h, 12), 'test' FROM assets a JOIN collections c USING (tenant_id) WHERE c.path = $1`, path); err != nil {
		t.Fatal(err)
	}
	for after := ""; ; {
		versions, err := e.Store.Documents.VersionsAfter(ctx, e.Tenant, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(versions) == 0 {
			break
		}
		if err := e.Store.Outbox.EnqueueReindex(ctx, indexstate.AssetIndex, "test", versions); err != nil {
			t.Fatal(err)
		}
		after = versions[len(versions)-1].Key
	}
}
