package service_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/service/servicetest"
)

// picture makes a PNG that differs for every n.
func picture(n int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range img.Pix {
		img.Pix[i] = byte(i*n + n>>8)
	}
	img.SetNRGBA(0, 0, color.NRGBA{byte(n), byte(n >> 8), byte(n >> 16), 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestService_AnAssetGoesInAndIsFoundChangedAndTakenBack(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	got := e.StoreFile("", "red fox.png", "image/png", picture(1), "winter")
	if !got.Created || got.OperationID == "" {
		t.Fatalf("%+v", got)
	}
	if f := e.Search("", "tag:winter", got.IndexToken); f.Total != 1 {
		t.Fatalf("a search given the write's token must see it: %+v", f)
	}
	var updated struct {
		IndexToken  string `json:"index_token"`
		OperationID string `json:"operation_id"`
	}
	e.Call(http.MethodPatch, "/api/v1/assets/"+string(got.Asset.AssetH), map[string]any{"title": "Red fox in snow", "status": "approved"}, &updated)
	if f := e.Search("", `status:Approved "red fox"`, updated.IndexToken); f.Total != 1 {
		t.Errorf("after the update: %+v", f)
	}
	var undone struct {
		Counts     struct{ Reverted int } `json:"counts"`
		IndexToken string                 `json:"index_token"`
	}
	e.Call(http.MethodPost, "/api/v1/operations/"+updated.OperationID+"/undo", nil, &undone)
	if f := e.Search("", "status:Approved", undone.IndexToken); undone.Counts.Reverted != 1 || f.Total != 0 {
		t.Errorf("after the undo: %+v %+v", undone, f)
	}
	e.Call(http.MethodPost, "/api/v1/operations/"+got.OperationID+"/undo", nil, &undone)
	servicetest.Eventually(t, "an undone upload is found no more", func() error {
		if f := e.Search("", "", undone.IndexToken); f.Total != 0 {
			return &library.Error{Detail: "still found"}
		}
		return nil
	})
}

func TestService_AnUploadTravelsBySignedURLs(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	var ticket struct {
		SignedURL   string `json:"signedUrl"`
		Path        string `json:"path"`
		StoragePath string `json:"storagePath"`
	}
	e.Call(http.MethodGet, "/api/v1/storage/signed-url/upload?filename=fox.png&contentType=image/png", nil, &ticket)
	if !strings.HasPrefix(ticket.StoragePath, string(e.Tenant)) || ticket.Path != ticket.StoragePath {
		t.Fatalf("a storage path begins with the tenant: %+v", ticket)
	}
	data := picture(2)
	if err := e.Client("").Put(t.Context(), ticket.SignedURL, "image/png", bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatal(err)
	}
	var stored servicetest.Stored
	e.Call(http.MethodPost, "/api/v1/assets", map[string]any{"storagePath": ticket.StoragePath, "filename": "fox.png", "mimeType": "image/png"}, &stored)
	var detail struct {
		DownloadURL  string `json:"download_url"`
		ThumbnailURL string `json:"thumbnail_url"`
	}
	e.Call(http.MethodGet, "/api/v1/assets/"+string(stored.Asset.AssetH)+"?include_download_url=true&response_format=detailed", nil, &detail)
	status, body, header := e.Raw(http.MethodGet, strings.TrimPrefix(detail.DownloadURL, e.URL), "", nil, nil)
	if status != 200 || !bytes.Equal(body, data) {
		t.Errorf("the download gave %d and %d bytes", status, len(body))
	}
	if header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment") {
		t.Errorf("a stored file must not run in a browser: %v", header)
	}
	if status, body, _ := e.Raw(http.MethodGet, strings.TrimPrefix(detail.ThumbnailURL, e.URL), "", nil, nil); status != 200 || !bytes.HasPrefix(body, []byte("\xff\xd8")) {
		t.Errorf("the thumbnail gave %d", status)
	}
	altered := strings.Replace(detail.DownloadURL, "/files/e", "/files/f", 1)
	if status, _, _ := e.Raw(http.MethodGet, strings.TrimPrefix(altered, e.URL), "", nil, nil); status != 403 {
		t.Errorf("an altered link gave %d", status)
	}
}
