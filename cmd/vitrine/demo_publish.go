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

// demoShareTitle is the title of the sample library's share link.
const demoShareTitle = "Three for your review"

// demoShare shares three pictures of the sample library that prompts may be read of. It returns the address of the page,
// which is that of an earlier run's while that link works.
func demoShare(ctx context.Context, api *client.Client) (string, error) {
	have, err := api.ListShareLinks(ctx, client.ListShareLinksInput{})
	if err != nil {
		return "", err
	}
	for _, link := range have.Data {
		if link.Active && link.Title == demoShareTitle {
			return link.PublicURL, nil
		}
	}
	list, err := api.GetCollectionPublicUrls(ctx, client.GetCollectionPublicUrlsInput{CollectionH: demoCollection + ".neon", Limit: 3})
	if err != nil || len(list.Data) == 0 {
		return "", err
	}
	in, no := client.CreateShareLinkInput{}, false
	for _, a := range list.Data {
		in.AssetHs = append(in.AssetHs, a.AssetH)
	}
	title := demoShareTitle
	in.Title, in.HidePrompts = &title, &no
	link, err := api.CreateShareLink(ctx, in)
	return link.PublicURL, err
}

// demoPreset is the export preset that the sample library uses.
const demoPreset = "portfolio"
