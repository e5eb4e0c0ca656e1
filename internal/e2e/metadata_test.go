package e2e

import (
	"testing"

	"vitrine/api/client"
)

// TestMetadata_IsSearchedAsItIsChangedAndUndone: what an uploader keeps with an asset is
// found by key, single keys change and go, and an undo brings them back.
func TestMetadata_IsSearchedAsItIsChangedAndUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asset := w.StoreFile("", "kept.png", "image/png", picture(62, ""))
	h := string(asset.Asset.AssetH)
	api := w.Client("")
	update := func(m map[string]any) client.UpdateAssetOutput {
		t.Helper()
		out, err := api.UpdateAsset(t.Context(), client.UpdateAssetInput{AssetH: h, AssetMetadata: m})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	check := func(token string, want map[string]bool) {
		t.Helper()
		for text, found := range want {
			if f := w.Search("", text, token); f.Has(h) != found {
				t.Errorf("%s finds the asset: %v, want %v", text, f.Has(h), found)
			}
		}
	}
	set := update(map[string]any{"Client": "Acme", "shot": map[string]any{"take": 3, "lens": "50mm"}})
	check(set.IndexToken, map[string]bool{"metadata.client:acme": true, "metadata.shot.take:>=3": true, "has:metadata.shot.lens": true, "metadata.client:other": false})
	changed := update(map[string]any{"Client": nil, "shot": map[string]any{"take": 12}})
	check(changed.IndexToken, map[string]bool{"has:metadata.client": false, "metadata.shot.take:12": true, "metadata.shot.take:<12": false, "metadata.shot.lens:50mm": true})
	undone, err := api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: changed.OperationID})
	if err != nil {
		t.Fatal(err)
	}
	check(undone.IndexToken, map[string]bool{"metadata.client:acme": true, "metadata.shot.take:3": true, "metadata.shot.take:12": false})
}
