package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/service/servicetest"
)

// TestDemo_APageIsPublishedOfTheSampleLibrary publishes twice, as a second make demo does.
func TestDemo_APageIsPublishedOfTheSampleLibrary(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	dir, api, ctx := t.TempDir(), e.Client(""), t.Context()
	if _, err := sample.Write(ctx, dir, sample.Options{Count: 60, Seed: 1, MaxEdge: 64}, nil); err != nil {
		t.Fatal(err)
	}
	report, err := importer.Run(ctx, api, []string{dir}, importer.Options{Tags: []string{"sample"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := untilSearchable(ctx, api, report); err != nil {
		t.Fatal(err)
	}
	if err := demoCollections(ctx, api); err != nil {
		t.Fatal(err)
	}
	var first string
	for range 2 {
		page, err := demoPublish(ctx, api)
		if err != nil || first != "" && page != first {
			t.Fatalf("published at %s, was %s: %v", page, first, err)
		}
		first = page
	}
	list, err := api.GetCollectionPublicUrls(ctx, client.GetCollectionPublicUrlsInput{CollectionH: demoCollection + ".neon"})
	if err != nil || !list.Published || list.Total == 0 || list.Watermark.Text == "" {
		t.Fatalf("%+v %v", list, err)
	}
	var share string
	for range 2 {
		link, err := demoShare(ctx, api)
		if err != nil || link == "" || share != "" && link != share {
			t.Fatalf("shared at %q, was %q: %v", link, share, err)
		}
		share = link
	}
	for _, at := range []string{first, share, list.Data[0].PublicURL} {
		res, err := http.Get(at) //nolint:noctx // of a test
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || at == first && !strings.Contains(string(body), "Neon: cities at night") {
			t.Errorf("%s answers %d, %v", at, res.StatusCode, err)
		}
	}
}
