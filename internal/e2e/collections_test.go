package e2e

import (
	"fmt"
	"slices"
	"testing"

	"vitrine/api/client"
)

// TestCollections_SearchesFollowEveryChange adds, moves, renames, deletes and undoes, and
// searches after each with the operation's token.
func TestCollections_SearchesFollowEveryChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	var hashes []string
	for i := range 3 {
		hashes = append(hashes, w.StoreFile("", fmt.Sprintf("street-%d.png", i), "image/png", picture(900+i, "a neon street")).Asset.AssetH)
	}
	portfolio, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Portfolio"})
	noError(t, err)
	neon, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Neon Street!", ParentPath: "Portfolio"})
	noError(t, err)
	if neon.Path != "portfolio.neonstreet" || neon.DisplayName != "Neon Street!" {
		t.Errorf("the collection is %+v", neon)
	}
	added, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: neon.Path, AssetHs: hashes[:2]})
	noError(t, err)
	w.findsCount("collection:portfolio", added.IndexToken, 2)
	w.findsCount(`collection:"Portfolio/Neon Street"`, added.IndexToken, 2)
	w.findsCount("collection:=portfolio", added.IndexToken, 0)
	w.findsCount("collection:=portfolio.neonstreet", added.IndexToken, 2)
	w.findsCount("collection:"+portfolio.CollectionH, added.IndexToken, 2)
	w.findsCount("collection:="+neon.CollectionH, added.IndexToken, 2)
	w.findsCount("street -has:collection", added.IndexToken, 1)
	facets, err := api.GetFacets(ctx, client.GetFacetsInput{Facets: []string{"collection"}, Query: "neon"})
	noError(t, err)
	if n := len(facets.Facets); n != 1 {
		t.Errorf("%d facets", n)
	}
	details, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: hashes[0]})
	noError(t, err)
	if !slices.Equal(details.Collections, []string{"portfolio.neonstreet"}) {
		t.Errorf("the asset is in %v", details.Collections)
	}
	w.findsAfterChanges(neon.CollectionH, hashes[0])
}

// findsCount counts what a search finds behind a write.
func (w world) findsCount(query, token string, want int) {
	t := w.T
	t.Helper()
	if found := w.Search("", query, token); found.Total != want {
		t.Errorf("%s finds %d, want %d", query, found.Total, want)
	}
}

// findsAfterChanges moves, renames, deletes and brings back a collection of two assets, removes one of
// them, and searches behind each change.
func (w world) findsAfterChanges(collection, removedAsset string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	moved, err := api.MoveCollection(ctx, client.MoveCollectionInput{SourcePath: collection})
	noError(t, err)
	w.findsCount("collection:portfolio", moved.IndexToken, 0)
	w.findsCount("collection:neonstreet", moved.IndexToken, 2)
	name := "Rain"
	renamed, err := api.UpdateCollection(ctx, client.UpdateCollectionInput{CollectionH: collection, Name: &name})
	noError(t, err)
	w.findsCount("collection:rain", renamed.IndexToken, 2)
	deleted, err := api.DeleteCollection(ctx, client.DeleteCollectionInput{CollectionH: collection})
	noError(t, err)
	w.findsCount("collection:rain", deleted.IndexToken, 0)
	undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: deleted.OperationID})
	noError(t, err)
	w.findsCount("collection:rain", undone.IndexToken, 2)
	removed, err := api.RemoveFromCollection(ctx, client.RemoveFromCollectionInput{CollectionPath: "rain", AssetHs: []string{removedAsset}})
	noError(t, err)
	w.findsCount("collection:rain", removed.IndexToken, 1)
}

// TestRatings_AreFoundSortedAndTakenBack rates assets, searches and undoes.
func TestRatings_AreFoundSortedAndTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	var hashes []string
	for i := range 3 {
		hashes = append(hashes, w.StoreFile("", fmt.Sprintf("rated-%d.png", i), "image/png", picture(950+i, "a rated street")).Asset.AssetH)
	}
	four, five, yes := 4, 5, true
	rated, err := api.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: hashes[2], Rating: &five})
	if err != nil {
		t.Fatal(err)
	}
	w.Search("", "", rated.IndexToken) // each token waits for its own change
	bulk, err := api.RateAssets(ctx, client.RateAssetsInput{AssetHs: hashes[:2], Rating: &four, Favorite: &yes})
	if err != nil || len(bulk.Changed) != 2 {
		t.Fatal(bulk, err)
	}
	for query, want := range map[string]int{"rating:>=4": 3, "rating:5": 1, "is:favorite": 2, "favorite:false rated": 1, "rated -has:rating": 0, "rated has:rating": 3} {
		if found := w.Search("", query, bulk.IndexToken); found.Total != want {
			t.Errorf("%s finds %d, want %d", query, found.Total, want)
		}
	}
	sorted, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "has:rating", OrderBy: "rating"})
	if err != nil || len(sorted.Data) != 3 || sorted.Data[0].AssetH != hashes[2] {
		t.Errorf("by rating: %+v %v", sorted.Data, err)
	}
	undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: bulk.OperationID})
	if err != nil {
		t.Fatal(err)
	}
	if found := w.Search("", "is:favorite", undone.IndexToken); found.Total != 0 {
		t.Errorf("%d are favorites after the undo", found.Total)
	}
	if d, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: hashes[2]}); err != nil || d.Rating != 5 || d.Favorite {
		t.Errorf("the asset has %d stars, %v", d.Rating, err)
	}
}

// TestSmartCollections_HoldWhatTheirSearchFinds counts, pages and branches one.
func TestSmartCollections_HoldWhatTheirSearchFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	smart, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Smart", SavedSearchID: w.saved})
	if err != nil {
		t.Fatal(err)
	}
	page, err := api.GetCollectionAssets(ctx, client.GetCollectionAssetsInput{CollectionPath: "smart"})
	if err != nil || page.Total != 1 || len(page.Data) != 1 || page.Data[0].Asset.AssetH != w.asset.Asset.AssetH {
		t.Fatalf("%+v %v", page, err)
	}
	if got, err := api.GetCollection(ctx, client.GetCollectionInput{CollectionH: smart.CollectionH}); err != nil || got.AssetCount == nil || *got.AssetCount != 1 {
		t.Errorf("it counts %+v %v", got, err)
	}
	if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: "smart", AssetHs: []string{w.asset.Asset.AssetH}}); problemCode(err) != "COLLECTION_SMART" {
		t.Errorf("adding to it: %v", err)
	}
	if _, err := api.DeleteSavedSearch(ctx, client.DeleteSavedSearchInput{SavedSearchID: w.saved}); problemCode(err) != "CONFLICT" {
		t.Errorf("deleting its search: %v", err)
	}
	branch, err := api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: "smart", BranchType: "snapshot", SnapshotLabel: "v1"})
	if err != nil || branch.ItemsCopied != 1 {
		t.Fatalf("%+v %v", branch, err)
	}
	if _, err := api.RemoveFromCollection(ctx, client.RemoveFromCollectionInput{CollectionPath: branch.Path, AssetHs: []string{w.asset.Asset.AssetH}}); problemCode(err) != "COLLECTION_FROZEN" {
		t.Errorf("changing the snapshot: %v", err)
	}
}

// TestCollections_ABranchIsComparedAndMerged changes a branch, compares it, merges a part
// of the differences and takes that back.
func TestCollections_ABranchIsComparedAndMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	var hashes []string
	for i := range 4 {
		hashes = append(hashes, w.StoreFile("", fmt.Sprintf("merge-%d.png", i), "image/png", picture(970+i, "a merged street")).Asset.AssetH)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	source, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Source"})
	must(err)
	_, err = api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: "source", AssetHs: hashes[:3]})
	must(err)
	heading, changed, logo := "Chapter", "Part", "Logo"
	card, err := api.AddTextCardToCollection(ctx, client.AddTextCardToCollectionInput{CollectionH: source.CollectionH, Heading: heading})
	must(err)
	branch, err := api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: "source", NewName: "Draft"})
	must(err)
	_, err = api.RemoveFromCollection(ctx, client.RemoveFromCollectionInput{CollectionPath: "draft", AssetHs: hashes[:1]})
	must(err)
	first := 0
	_, err = api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: "draft", AssetHs: hashes[2:], Position: &first})
	must(err)
	_, err = api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: "draft", AssetHs: hashes[1:2], Role: &logo})
	must(err)
	_, err = api.UpdateTextCard(ctx, client.UpdateTextCardInput{CollectionH: branch.CollectionH, CardH: card.CardH, Heading: &changed})
	must(err)
	diff, err := api.DiffCollection(ctx, client.DiffCollectionInput{CollectionH: branch.CollectionH})
	must(err)
	if c := diff.Counts; diff.Total != 5 || c.Added != 1 || c.Removed != 1 || c.Moved != 1 || c.RoleChanged != 1 || c.CardChanged != 1 || diff.Against.Path != "source" {
		t.Fatalf("the differences are %+v of %d: %+v", c, diff.Total, diff.Data)
	}
	for _, d := range diff.Data {
		if (d.Type == "asset") != (d.Asset != nil && d.Asset.AssetH == d.Item) || d.Kind == "card_changed" && (d.Card.Heading != changed || d.OldCard.Heading != heading) || d.Kind == "role_changed" && d.Role != "Logo" {
			t.Errorf("a difference is %+v", d)
		}
	}
	merged, err := api.MergeCollection(ctx, client.MergeCollectionInput{CollectionH: branch.CollectionH, Items: []string{hashes[0], hashes[3], card.CardH, hashes[1]}, Kinds: []string{"added", "removed", "card_changed"}})
	must(err)
	if c := merged.Merged; c.Added != 1 || c.Removed != 1 || c.CardChanged != 1 || c.RoleChanged+c.Moved != 0 || !slices.Equal(merged.Unchanged, hashes[1:2]) {
		t.Errorf("merging did %+v", merged)
	}
	if found := w.Search("", "collection:=source", merged.IndexToken); found.Total != 3 {
		t.Errorf("the source has %d assets", found.Total)
	}
	undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: merged.OperationID})
	must(err)
	if found := w.Search("", "collection:=source", undone.IndexToken); found.Total != 3 || slices.ContainsFunc(found.Data, func(h client.SearchHit) bool { return h.AssetH == hashes[3] }) {
		t.Errorf("after the undo the source has %+v", found.Data)
	}
	if _, err := api.DiffCollection(ctx, client.DiffCollectionInput{CollectionH: source.CollectionH}); problemCode(err) != "CONFLICT" {
		t.Errorf("comparing what is no branch: %v", err)
	}
}
