package main

import (
	"bytes"
	"os"
	"testing"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/service/servicetest"
)

// TestDemo_DeckIsWrittenOfTheSampleLibrary makes the deck twice: the second time its collection is there.
func TestDemo_DeckIsWrittenOfTheSampleLibrary(t *testing.T) {
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
	if _, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Portfolio"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		path, err := demoDeck(ctx, api, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) || !bytes.HasSuffix(data, []byte("%%EOF\n")) {
			t.Errorf("%v, %d bytes", err, len(data))
		}
	}
	out, err := api.ExportCollectionAsPdf(ctx, client.ExportCollectionAsPdfInput{CollectionH: demoPitch})
	if err != nil || out.PageCount != 1+len(demoChapters)+out.Pictures || out.Pictures < 2 || len(out.Failed) != 0 {
		t.Errorf("%+v %v", out, err)
	}
}
