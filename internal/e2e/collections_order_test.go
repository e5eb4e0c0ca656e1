package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"vitrine/api/client"
)

// TestCollections_SearchesSortByPosition compares searches in the order of a collection
// with the collection itself, after random moves of its assets, renames and undos, page by
// page.
func TestCollections_SearchesSortByPosition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	r := rand.New(rand.NewPCG(4, 2))
	var hashes []string
	for i := range 6 {
		hashes = append(hashes, w.StoreFile("", fmt.Sprintf("placed-%d.png", i), "image/png", picture(500+i, "a placed lighthouse")).Asset.AssetH)
	}
	for _, name := range []string{"First", "Second"} {
		if _, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	name := "first"
	token := ""
	for step := range 12 {
		of := []string{name, "second"}[r.IntN(2)]
		at := r.IntN(5)
		done, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: of, AssetHs: hashes[r.IntN(4) : 4+r.IntN(3)], Position: &at})
		if err != nil {
			t.Fatal(err)
		}
		token = done.IndexToken
		switch step % 4 {
		case 1:
			undone, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: done.OperationID})
			if err != nil {
				t.Fatal(err)
			}
			token = undone.IndexToken
		case 3:
			next := fmt.Sprintf("renamed%d", step)
			renamed, err := api.UpdateCollection(ctx, client.UpdateCollectionInput{CollectionH: name, Name: &next})
			if err != nil {
				t.Fatal(err)
			}
			name, token = next, renamed.IndexToken
		}
		for _, c := range []string{name, "second"} {
			w.checkPositions("collection:="+c, token, "", w.members(c))
			w.checkPositions("lighthouse collection:="+c, token, "desc", w.members(c))
		}
	}
	if _, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "collection:second", OrderBy: "position"}); problemCode(err) != "VALIDATION_FAILED" {
		t.Errorf("by position below a collection: %v", err)
	}
}

// members returns the assets of a collection in its order.
func (w world) members(of string) (list []string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	page, err := api.GetCollectionAssets(ctx, client.GetCollectionAssetsInput{CollectionPath: of})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range page.Data {
		if i.Asset != nil {
			list = append(list, i.Asset.AssetH)
		}
	}
	return list
}

// checkPositions pages through a search in the order of the collection that it names, behind
// a write, and compares what it finds.
func (w world) checkPositions(query, token, order string, want []string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	var got []string
	cursor := "*"
	w.Search("", query, token) // waits for the write
	for cursor != "" {
		page, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: query, OrderBy: "position", Order: order, Limit: 2, Cursor: cursor, MinIndexToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Data {
			got = append(got, h.AssetH)
		}
		cursor = page.NextCursor
	}
	if order == "desc" {
		slices.Reverse(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s %s finds\n%v, the collection has\n%v", query, order, got, want)
	}
}
