package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestExport_OfAProcessThatWasKilledIsWrittenByAnother kills the process that writes a zip and a deck
// when their last bytes are written but not in their place. Nothing of them is served, and another
// process writes them.
func TestExport_OfAProcessThatWasKilledIsWrittenByAnother(t *testing.T) {
	t.Parallel()
	k := newKilledWith(t, servicetest.Config(t), library.PermRead, library.PermSearch, library.PermWrite, library.PermExport)
	serve(t, k.cfg, "", "api")
	var assets []string
	for n := range 6 {
		out, err := k.store(pictureOf(n, "a secretword garden", "canaryModel"))
		if err != nil {
			t.Fatal(err)
		}
		assets = append(assets, out.Asset.AssetH)
	}
	c, err := k.api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "Killed"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: c.CollectionH, AssetHs: assets}); err != nil {
		t.Fatal(err)
	}
	none := 0
	packed, err := k.api.ExportAssets(t.Context(), client.ExportAssetsInput{AssetHs: assets, Preset: "portfolio", WaitSeconds: &none})
	if err != nil {
		t.Fatal(err)
	}
	deck, err := k.api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: c.CollectionH, WaitSeconds: &none})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, k.cfg, "blob.written", "work").awaitDeath("blob.written")
	for _, id := range []string{packed.ExportID, deck.ExportID} {
		if out, err := k.api.GetExport(t.Context(), client.GetExportInput{ExportID: id}); err != nil || out.State == "completed" || out.State == "failed" || out.DownloadURL != "" {
			t.Errorf("after the kill: %+v %v", out, err)
		}
	}
	if n := k.count(`SELECT count(*) FROM exports WHERE claimed_until > now()`); n == 0 {
		t.Error("the killed process had no export")
	}
	k.exec(`UPDATE exports SET claimed_until = now() - interval '1 second', created_at = created_at - interval '1 minute'`) // others wait 45 seconds before they take a process for dead
	serve(t, k.cfg, "", "work")
	for _, id := range []string{packed.ExportID, deck.ExportID} {
		body := k.awaitExport(t, id)
		if id == deck.ExportID {
			if !bytes.HasPrefix(body, []byte("%PDF-")) || !bytes.HasSuffix(body, []byte("%%EOF\n")) {
				t.Error("the deck is not whole")
			}
		} else if z, err := zip.NewReader(bytes.NewReader(body), int64(len(body))); err != nil || len(z.File) != 8 {
			t.Errorf("the zip is not whole: %v", err)
		}
	}
}

// awaitExport waits until an export of six files is written, and returns its bytes.
func (k killed) awaitExport(t *testing.T, id string) []byte {
	t.Helper()
	var out client.GetExportOutput
	servicetest.Eventually(t, "the export is written", func() (err error) {
		if out, err = k.api.GetExport(t.Context(), client.GetExportInput{ExportID: id}); err == nil && out.State != "completed" {
			err = fmt.Errorf("it is %s", out.State)
		}
		return err
	})
	body := k.get(out.DownloadURL)
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != out.SHA256 || out.Files != 6 {
		t.Errorf("%+v, %d bytes", out, len(body))
	}
	return body
}

// get returns what a link has.
func (k killed) get(link string) []byte {
	k.t.Helper()
	req, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, link, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		k.t.Fatalf("%d %v", res.StatusCode, err)
	}
	return body
}
