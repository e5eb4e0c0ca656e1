package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/store"
)

// deckOf makes a collection with text cards and some pictures, and returns its collection_h.
func (w world) deckOf(t *testing.T, name string, pictures int) string {
	t.Helper()
	api := w.Client("")
	c, err := api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: name, Description: "For review."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.AddTextCardToCollection(t.Context(), client.AddTextCardToCollectionInput{CollectionH: c.CollectionH, Heading: "Chapter one", Body: "Streets, улицы, δρόμοι, 通り 🎉 \U0001F9FF", Background: "gradient"}); err != nil {
		t.Fatal(err)
	}
	var assets []string
	for n := range pictures {
		a := w.StoreFile("", fmt.Sprint("deck", n, ".png"), "image/png", pictureOf(300+n, "a secretword garden", "canaryModel"))
		w.Call("PATCH", "/api/v1/assets/"+a.Asset.AssetH, map[string]any{"title": fmt.Sprint("Garden ", n)}, nil)
		assets = append(assets, a.Asset.AssetH)
	}
	if len(assets) > 0 {
		if _, err := api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: c.CollectionH, AssetHs: assets}); err != nil {
			t.Fatal(err)
		}
	}
	return c.CollectionH
}

func TestDeck_IsAPDFOfTheCollectionOverEveryTransport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash := w.deckOf(t, "Spring campaign", 3)
	out, err := w.Client("").ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash})
	if err != nil || out.State != "completed" || out.PageCount != 5 || out.Pictures != 3 || out.ProcessingTimeMS <= 0 || len(out.Failed) != 0 || !out.Attached {
		t.Fatalf("%+v %v", out, err)
	}
	status, body, header := w.Raw(http.MethodGet, strings.TrimPrefix(out.DownloadURL, w.URL), "", nil, nil)
	if status != http.StatusOK || header.Get("Content-Type") != "application/pdf" || int64(len(body)) != out.Bytes || !bytes.HasPrefix(body, []byte("%PDF-")) || !strings.HasSuffix(out.DownloadURL, "/spring-campaign.pdf") {
		t.Errorf("%d %v, %d bytes of %d", status, header, len(body), out.Bytes)
	}
	if len(out.Attachments) != 1 || out.Attachments[0].MIMEType != "application/pdf" || !bytes.Equal(out.Attachments[0].Data, body) {
		t.Error("the answer does not hold the file that its link has")
	}
	again, err := w.Client("").ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash})
	if err != nil || again.ExportID != out.ExportID {
		t.Errorf("the same call made another deck: %v", err)
	}
	other, err := w.Client("").ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash, RemoveWatermark: true})
	if err != nil || other.ExportID == out.ExportID {
		t.Errorf("a deck without the watermark is the one with it: %v", err)
	}
	result, raw := w.toolResult(t, "ExportCollectionAsPdf", map[string]any{"collection_h": hash})
	encoded := base64.StdEncoding.EncodeToString(body)
	if n := strings.Count(raw, encoded[:200]); n != 1 || strings.Contains(string(result.StructuredContent), encoded[:200]) {
		t.Errorf("the bytes stand %d times in the answer", n)
	}
	if len(result.Content) != 2 || result.Content[1].Type != "resource" || result.Content[1].Resource.MIMEType != "application/pdf" || result.Content[1].Resource.Blob != encoded {
		t.Errorf("no embedded resource: %d blocks", len(result.Content))
	}
}

// deckAnswer is the result of a tool as a client reads it.
type deckAnswer struct {
	IsError           bool            `json:"isError"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	Content           []struct {
		Type, Text, URI, Name string
		MIMEType              string `json:"mimeType"`
		Resource              struct {
			URI, Blob string
			MIMEType  string `json:"mimeType"`
		}
	}
}

// toolResult calls a tool and returns its result, parsed and as it came.
func (w world) toolResult(t *testing.T, name string, args map[string]any) (result deckAnswer, raw string) {
	t.Helper()
	a := w.mcp(echo.Modern, w.Key).Send(t, "tools/call", map[string]any{"name": name, "arguments": args})
	list := a.Messages(t)
	if err := json.Unmarshal(list[len(list)-1].Result, &result); err != nil || result.IsError {
		t.Fatalf("%d %v %.300s", a.Status, err, a.Body)
	}
	return result, string(a.Body)
}

// grain returns a picture that hardly gets smaller when it is compressed.
func grain(t *testing.T, w, h int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	copy(m.Pix, noise(7, len(m.Pix)))
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDeck_AboveOneMegabyteIsALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	c, err := api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "大きい夜"})
	if err != nil {
		t.Fatal(err)
	}
	var big []string
	for n := range 3 {
		big = append(big, w.StoreFile("", "grain.png", "image/png", grain(t, 900, 600+n)).Asset.AssetH)
	}
	if _, err := api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: c.CollectionH, AssetHs: big}); err != nil {
		t.Fatal(err)
	}
	result, raw := w.toolResult(t, "ExportCollectionAsPdf", map[string]any{"collection_h": c.CollectionH})
	var out client.ExportCollectionAsPdfOutput
	if err := json.Unmarshal(result.StructuredContent, &out); err != nil || out.Bytes <= 1<<20 || out.Attached || len(raw) > 8000 {
		t.Errorf("%+v %v, an answer of %d bytes", out, err, len(raw))
	}
	if len(result.Content) != 2 || result.Content[1].Type != "resource_link" || result.Content[1].URI != out.DownloadURL || result.Content[1].MIMEType != "application/pdf" {
		t.Errorf("no link to the file: %+v", result.Content)
	}
	if status, body, _ := w.Raw(http.MethodGet, strings.TrimPrefix(out.DownloadURL, w.URL), "", nil, nil); status != http.StatusOK || int64(len(body)) != out.Bytes {
		t.Errorf("%d: %d bytes of %d", status, len(body), out.Bytes)
	}
}

func TestDeck_LeavesOutWhatMayNotLeaveOrCannotBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash := w.deckOf(t, "With gaps", 2)
	api := w.Client("")
	private, err := api.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "mine.png", MIMEType: "image/png", Visibility: "private", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(341, "private"))})
	if err != nil {
		t.Fatal(err)
	}
	text := w.StoreFile("", "notes.txt", "text/plain", []byte("no picture at all, only words"))
	if _, err := api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: hash, AssetHs: []string{private.Asset.AssetH, text.Asset.AssetH}}); err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"share", "portfolio", "client", "archive"} {
		out, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash, Preset: preset, Layout: "full_bleed"})
		if err != nil || out.State != "completed" || out.Pictures != 2 || out.PageCount != 4 || len(out.Failed) != 2 {
			t.Errorf("%s: %+v %v", preset, out, err)
			continue
		}
		if f := out.Failed[0]; f.AssetH != private.Asset.AssetH || f.Code != library.CodeAssetPrivate {
			t.Errorf("%s: %+v", preset, f)
		}
		_, body, _ := w.Raw(http.MethodGet, strings.TrimPrefix(out.DownloadURL, w.URL), "", nil, nil)
		if bytes.Contains(body, []byte("secretword")) || bytes.Contains(body, []byte("canaryModel")) || bytes.Contains(body, []byte("Exif")) {
			t.Errorf("%s: a picture of the deck still holds its prompt", preset)
		}
	}
	operator := library.Actor{Kind: library.ActorSystem, ID: "test"}
	if _, err := w.Store.Limits.Set(t.Context(), operator, w.Tenant, store.LimitChange{ExportAssets: number(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: hash, Layout: "two"}); codeOfError(err) != library.CodeBatchLimit {
		t.Errorf("more than a batch: %v", err)
	}
	if _, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: strings.Repeat("d", 40)}); codeOfError(err) != library.CodeNotFound {
		t.Errorf("no such collection: %v", err)
	}
}

func TestDeck_OfASmartCollectionHoldsWhatItFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	var last string
	for n := range 3 {
		a := w.StoreFile("", fmt.Sprint("found", n, ".png"), "image/png", pictureOf(360+n, fmt.Sprint("tangerine ", n), "canaryModel"))
		last = a.IndexToken
	}
	w.Search("", "prompt:tangerine", last)
	saved, err := api.CreateSavedSearch(t.Context(), client.CreateSavedSearchInput{Name: "Tangerines", Query: "prompt:tangerine"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "All tangerines", SavedSearchID: saved.SavedSearchID})
	if err != nil {
		t.Fatal(err)
	}
	out, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: c.CollectionH, Layout: "grid", Language: "de"})
	if err != nil || out.Pictures != 3 || out.PageCount != 2 {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: c.CollectionH, Language: "not a language"}); codeOfError(err) != library.CodeValidationFailed {
		t.Errorf("a language that is none: %v", err)
	}
	empty, err := api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "Empty"})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := api.ExportCollectionAsPdf(t.Context(), client.ExportCollectionAsPdfInput{CollectionH: empty.CollectionH}); err != nil || out.State != "completed" || out.PageCount != 1 {
		t.Errorf("an empty collection: %+v %v", out, err)
	}
}
