package main

import (
	"context"

	"vitrine/api/client"
)

// demoPublish publishes a collection of the sample library as a page, and exports what is on it with the
// same preset. It returns the page's address, which stays the same however often it is published.
func demoPublish(ctx context.Context, api *client.Client) (string, error) {
	title, no := "Neon: cities at night", false
	page, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: demoCollection + ".neon", Preset: demoPreset, Title: &title, HidePrompts: &no,
		Watermark: &client.PublishingPageWatermark{Text: "For review", Position: "bottom-right"}})
	if err != nil {
		return "", err
	}
	list, err := api.GetCollectionPublicUrls(ctx, client.GetCollectionPublicUrlsInput{CollectionH: demoCollection + ".neon", Limit: 12})
	if err != nil || len(list.Data) == 0 {
		return page.PublicURL, err
	}
	var assets []string
	for _, a := range list.Data {
		assets = append(assets, a.AssetH)
	}
	_, err = api.ExportAssets(ctx, client.ExportAssetsInput{AssetHs: assets, Preset: demoPreset})
	return page.PublicURL, err
}

// demoPreset is the export preset that the sample library uses.
const demoPreset = "portfolio"
