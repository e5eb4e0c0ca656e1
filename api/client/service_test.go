package client_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

func picture(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// printed returns what a function prints on the standard output.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = before
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestExamples_RunOnAService runs what the documentation shows.
func TestExamples_RunOnAService(t *testing.T) {
	e := servicetest.Start(t, servicetest.Options{})
	file := filepath.Join(t.TempDir(), "harbour.png")
	if err := os.WriteFile(file, picture(t, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	var last servicetest.Stored
	for i, name := range []string{"lighthouse-1.png", "lighthouse-2.png", "lighthouse-3.png"} {
		last = e.StoreFile("", name, "image/png", picture(t, i+8), "sea")
		e.Search("", "", last.IndexToken)
	}
	t.Setenv("VITRINE_URL", e.URL)
	t.Setenv("VITRINE_API_KEY", e.Key)
	t.Setenv("FILE", file)
	t.Setenv("ASSET", last.Asset.AssetH)
	for name, c := range map[string]struct {
		run  func()
		want string
	}{
		"SearchAssets":  {ExampleClient_SearchAssets, "lighthouse-3.png [sea]\nlighthouse-2.png [sea]\nlighthouse-1.png [sea]\n"},
		"StoreAsset":    {ExampleClient_StoreAsset, "true true\n"},
		"UndoOperation": {ExampleClient_UndoOperation, "1\n"},
		"Error":         {ExampleError, "400 VALIDATION_FAILED\nlimit range\nsearch_mode enum\n"},
	} {
		if got := printed(t, c.run); got != c.want {
			t.Errorf("%s prints %q, want %q", name, got, c.want)
		}
	}
}

// TestClient_AttachmentsAndNumbersArriveWhole reads a response with a picture and a
// number of 64 bits.
func TestClient_AttachmentsAndNumbersArriveWhole(t *testing.T) {
	e := servicetest.Start(t, servicetest.Options{})
	c := e.Client("")
	seed := json.Number("18446744073709551615")
	stored, err := c.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "big.png", MIMEType: "image/png",
		AssetDataBase64: base64.StdEncoding.EncodeToString(picture(t, 32)), AssetMetadata: map[string]any{"seed": seed}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: stored.Asset.AssetH, IncludeImage: true})
	if err != nil || len(got.Attachments) != 1 || got.Attachments[0].MIMEType != "image/jpeg" || len(got.Attachments[0].Data) < 100 {
		t.Fatalf("%v, attachments %.200v", err, got.Attachments)
	}
	if got.AssetMetadata["seed"] != seed {
		t.Errorf("the seed is %v, want %v", got.AssetMetadata["seed"], seed)
	}
}
