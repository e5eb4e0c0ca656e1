package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"vitrine/api/client"
)

// demoPitch is the collection that the demo makes a deck of, below demoCollection.
const demoPitch = demoCollection + ".pitch"

// demoChapters are what the deck of the demo shows: a text card, and what a query finds behind it.
var demoChapters = []struct {
	card  client.AddTextCardToCollectionInput
	query string
}{
	{client.AddTextCardToCollectionInput{Heading: "Light after dark", HeadingSize: "xl", AccentText: "Chapter one", Body: "Cities that do not sleep: signs, rain and wet asphalt.", Background: "gradient", AccentColor: "#7b3ff2"}, "prompt:neon"},
	{client.AddTextCardToCollectionInput{Heading: "Color and lead", AccentText: "Chapter two", Bullets: []string{"Windows as the only source of light", "A palette of five colors", "Close views beside the whole"}, Layout: "left-aligned", AccentColor: "#e8b04a"}, `prompt:"stained glass"`},
	{client.AddTextCardToCollectionInput{Heading: "What comes next", HeadingSize: "md", Body: "Choose three directions. We work them out in print resolution.", Background: "light", AccentColor: "#1e90ff"}, ""},
}

// demoDeck makes a collection of text cards and pictures, and writes its deck into the folder
// of the demo. It returns the path of the file.
func demoDeck(ctx context.Context, api *client.Client, dir string) (string, error) {
	var missing *client.Error
	_, err := api.GetCollection(ctx, client.GetCollectionInput{CollectionH: demoPitch})
	if errors.As(err, &missing) && missing.Status == http.StatusNotFound {
		err = demoFillPitch(ctx, api)
	}
	if err != nil {
		return "", err
	}
	out, err := api.ExportCollectionAsPdf(ctx, client.ExportCollectionAsPdfInput{CollectionH: demoPitch})
	if err != nil {
		return "", err
	}
	if out.DownloadURL == "" {
		return "", fmt.Errorf("the deck is %s", out.State)
	}
	path := filepath.Join(dir, "pitch.pdf")
	return path, download(ctx, out.DownloadURL, path)
}

func demoFillPitch(ctx context.Context, api *client.Client) error {
	if _, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Pitch", DisplayName: "Night and glass", ParentPath: demoCollection, Description: "A first selection of key visuals, for review.", Color: "#7b3ff2"}); err != nil {
		return err
	}
	for _, c := range demoChapters {
		c.card.CollectionH = demoPitch
		if _, err := api.AddTextCardToCollection(ctx, c.card); err != nil {
			return err
		}
		if c.query == "" {
			continue
		}
		found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: c.query, OrderBy: "filename", Limit: 5})
		if err != nil {
			return err
		}
		var assets []string
		for _, hit := range found.Data {
			assets = append(assets, hit.AssetH)
		}
		if len(assets) == 0 {
			continue
		}
		if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: demoPitch, AssetHs: assets}); err != nil {
			return err
		}
	}
	return nil
}

// download writes what a link has to a file.
func download(ctx context.Context, url, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the download answered %s", res.Status)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, res.Body)
	return errors.Join(err, f.Close())
}
