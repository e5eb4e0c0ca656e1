package main

import (
	"context"
	"fmt"

	"vitrine/api/client"
)

// demoMetadata keeps metadata of the kind that studios have with some assets of the
// sample library, so that metadata.key:value finds something. Doing it again changes
// nothing.
func demoMetadata(ctx context.Context, api *client.Client) error {
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:sample media:image", OrderBy: "filename", Limit: 30})
	if err != nil {
		return err
	}
	clients := []string{"Acme", "Northwind", "Globex"}
	for i, hit := range found.Data {
		metadata := map[string]any{
			"client": clients[i%len(clients)],
			"rating": 1 + i%5,
			"due":    fmt.Sprintf("2026-%02d-15", 1+i%12),
			"shot":   map[string]any{"scene": 1 + i/6, "take": 1 + i%6},
		}
		if _, err := api.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: hit.AssetH, AssetMetadata: metadata}); err != nil {
			return err
		}
	}
	return nil
}
