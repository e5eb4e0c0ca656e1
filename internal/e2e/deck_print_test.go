package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestDeck_ChromiumDrawsItWhereItIsAskedForOrNeeded prints decks with the browser of this machine.
func TestDeck_ChromiumDrawsItWhereItIsAskedForOrNeeded(t *testing.T) {
	t.Parallel()
	testenv.Tool(t, "chromium")
	w := newWorld(t)
	api := w.Client("")
	hash := w.deckOf(t, "Printed", 2)
	out, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash, Renderer: "chromium"})
	if err != nil || out.Renderer != "chromium" || out.RendererNote != "" || out.PageCount != 4 || out.Pictures != 2 || len(out.Failed) != 0 {
		t.Fatalf("%+v %v", out, err)
	}
	_, body, _ := w.Raw(http.MethodGet, strings.TrimPrefix(out.DownloadURL, w.URL), "", nil, nil)
	if !bytes.HasPrefix(body, []byte("%PDF-")) || !bytes.Contains(body, []byte("Skia")) || bytes.Contains(body, []byte("secretword")) || bytes.Contains(body, []byte("canaryModel")) || bytes.Contains(body, []byte("file:///")) {
		t.Errorf("%d bytes that Chromium did not write, or that say more than the deck", len(body))
	}
	plain, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash})
	if err != nil || plain.Renderer != "builtin" || plain.ExportID == out.ExportID || plain.PageCount != out.PageCount {
		t.Errorf("Latin text alone: %+v %v", plain, err)
	}
	if _, err := api.AddTextCardToCollection(t.Context(), client.AddTextCardToCollectionInput{CollectionH: hash, Heading: "مرحبا بالعالم"}); err != nil {
		t.Fatal(err)
	}
	joined, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash})
	if err != nil || joined.Renderer != "chromium" || joined.PageCount != 5 {
		t.Errorf("Arabic text: %+v %v", joined, err)
	}
}

// TestDeck_ABrowserThatFailsDoesNotFailTheDeck has programs print that are no browser.
func TestDeck_ABrowserThatFailsDoesNotFailTheDeck(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\n[ \"$2\" = --version ] && echo Chromium 1.2 && exit 0\necho out of memory >&2; exit 9\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) { cfg.Chromium = broken }})
	w := worldOf(e)
	hash := w.deckOf(t, "Not printed", 2)
	out, err := w.Client("").ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash, Renderer: "chromium", Layout: "full_bleed"})
	if err != nil || out.State != "completed" || out.Renderer != "builtin" || !strings.Contains(out.RendererNote, "out of memory") || out.PageCount != 4 || out.Pictures != 2 {
		t.Errorf("%+v %v", out, err)
	}
}
