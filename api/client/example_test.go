package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"vitrine/api/client"
)

// dial returns a client as programs make one.
func dial() *client.Client {
	return &client.Client{Base: os.Getenv("VITRINE_URL"), Key: os.Getenv("VITRINE_API_KEY")}
}

// Search, page by page, through everything that a query finds.
func ExampleClient_SearchAssets() {
	c := dial()
	in := client.SearchAssetsInput{Query: "lighthouse tag:sea", Cursor: "*", Limit: 2}
	for {
		page, err := c.SearchAssets(context.Background(), in)
		if err != nil {
			log.Fatal(err)
		}
		for _, asset := range page.Data {
			fmt.Println(asset.Filename, asset.Tags)
		}
		if page.NextCursor == "" {
			return
		}
		in.Cursor = page.NextCursor
	}
}

// Store a file by a signed URL, which takes files of any size.
func ExampleClient_StoreAsset() {
	c, ctx := dial(), context.Background()
	file, err := os.Open(os.Getenv("FILE"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	to, err := c.CreateUploadUrl(ctx, client.CreateUploadUrlInput{Filename: "harbour.png", MIMEType: "image/png", Size: info.Size()})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Put(ctx, to.SignedURL, "image/png", file, info.Size()); err != nil {
		log.Fatal(err)
	}
	stored, err := c.StoreAsset(ctx, client.StoreAssetInput{StoragePath: to.StoragePath, Filename: "harbour.png", MIMEType: "image/png"})
	if err != nil {
		log.Fatal(err)
	}
	// A search with the write's token shows it.
	found, err := c.SearchAssets(ctx, client.SearchAssetsInput{Query: "harbour.png", MinIndexToken: stored.IndexToken})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored.Created, found.Data[0].AssetH == stored.Asset.AssetH)
}

// Change an asset, and take it back.
func ExampleClient_UndoOperation() {
	c, ctx := dial(), context.Background()
	title := "Lighthouse in fog"
	changed, err := c.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: os.Getenv("ASSET"), Title: &title})
	if err != nil {
		log.Fatal(err)
	}
	undone, err := c.UndoOperation(ctx, client.UndoOperationInput{OperationID: changed.OperationID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(undone.Counts.Reverted)
}

// Errors have a stable code and name the fields that are wrong.
func ExampleError() {
	_, err := dial().SearchAssets(context.Background(), client.SearchAssetsInput{Limit: 1000, SearchMode: "clever"})
	var e *client.Error
	if errors.As(err, &e) {
		fmt.Println(e.Status, e.Code)
		for _, f := range e.Fields {
			fmt.Println(f.Field, f.Code)
		}
	}
}
