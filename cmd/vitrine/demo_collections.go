package main

import (
	"context"
	"errors"

	"vitrine/api/client"
)

// demoCollections rates some assets of the sample library and puts some into collections:
// a tree with text cards, a branch, a frozen snapshot, and a smart collection of
// what is rated best. A library that has the tree already is left as it is.
func demoCollections(ctx context.Context, api *client.Client) error {
	var taken *client.Error
	_, err := api.GetCollection(ctx, client.GetCollectionInput{CollectionH: demoCollection})
	if err == nil || !errors.As(err, &taken) || taken.Status != 404 {
		return err
	}
	if err := demoRatings(ctx, api); err != nil {
		return err
	}
	saved, err := api.CreateSavedSearch(ctx, client.CreateSavedSearchInput{Name: "Best rated", Description: "Assets with four stars or more.", Query: "rating:>=4", OrderBy: "rating"})
	if err != nil {
		return err
	}
	create := []client.CreateCollectionInput{
		{Name: "Portfolio", Description: "What we show.", Color: "#1e90ff"},
		{Name: "Neon", ParentPath: demoCollection, Description: "Cities at night."},
		{Name: "Glass", ParentPath: demoCollection, Description: "Windows and lamps of stained glass."},
		{Name: "Best rated", SavedSearchID: saved.SavedSearchID, Description: "Holds what its saved search finds."},
	}
	for _, in := range create {
		if _, err := api.CreateCollection(ctx, in); err != nil {
			return err
		}
	}
	if err := demoFill(ctx, api, demoCollection+".neon", "prompt:neon", "Neon", []string{"Night, rain, signs", "Wide and portrait"}); err != nil {
		return err
	}
	if err := demoFill(ctx, api, demoCollection+".glass", `prompt:"stained glass"`, "Stained glass", nil); err != nil {
		return err
	}
	if _, err := api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: demoCollection + ".neon", NewName: "Neon for print", BranchType: "branch"}); err != nil {
		return err
	}
	_, err = api.BranchCollection(ctx, client.BranchCollectionInput{SourcePath: demoCollection + ".neon", NewName: "Neon as reviewed", BranchType: "snapshot", SnapshotLabel: "first review"})
	return err
}

// demoCollection is the path of the root that demoCollections creates.
const demoCollection = "portfolio"

// demoRatings gives images of the sample library three to five stars, and favors some.
func demoRatings(ctx context.Context, api *client.Client) error {
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: "tag:sample media:image", OrderBy: "filename", Limit: 36})
	if err != nil {
		return err
	}
	byRating := map[int][]string{}
	for i, hit := range found.Data {
		byRating[3+i%3] = append(byRating[3+i%3], hit.AssetH)
	}
	for rating, assets := range byRating {
		favorite := rating == 5
		if _, err := api.RateAssets(ctx, client.RateAssetsInput{AssetHs: assets, Rating: &rating, Favorite: &favorite}); err != nil {
			return err
		}
	}
	return nil
}

// demoFill puts what a query finds into a collection, behind a text card.
func demoFill(ctx context.Context, api *client.Client, path, query, heading string, bullets []string) error {
	if _, err := api.AddTextCardToCollection(ctx, client.AddTextCardToCollectionInput{CollectionH: path, Heading: heading, HeadingSize: "xl", Bullets: bullets, Background: "gradient"}); err != nil {
		return err
	}
	found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: query, OrderBy: "filename", Limit: 24})
	if err != nil || len(found.Data) == 0 {
		return err
	}
	var assets []string
	for _, hit := range found.Data {
		assets = append(assets, hit.AssetH)
	}
	_, err = api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: path, AssetHs: assets})
	return err
}
