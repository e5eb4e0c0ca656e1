package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/media/fetch"
	"vitrine/media/fetch/fetchtest"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestStoreAsset_AURLIsStoredWithItsGenerationData stores a file by its URL, over REST and
// as a tool, and reaches each code of one that cannot be.
func TestStoreAsset_AURLIsStoredWithItsGenerationData(t *testing.T) {
	t.Parallel()
	web := fetchtest.New(t)
	web.Resolve("media.example.com", fetchtest.Public)
	web.Resolve("inside.example.com", "127.0.0.2")
	data := picture(1234, "a harbour at dawn")
	web.Handler = mediaHost(data)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Fetch = fetch.Config{Allow: []string{"*.example.com"}, MaxBytes: 256 << 10, Port: web.Port, RootCAs: web.Roots, Resolver: web.Resolver, Reachable: fetchtest.Reachable()}
	}})
	api, base := e.Client(""), fmt.Sprintf("https://media.example.com:%d", web.Port)
	in := client.StoreAssetInput{Filename: "harbour.png", MIMEType: "image/png", AssetDataURL: base + "/harbour.png?signature=secret", Tags: []string{"sea"}}
	out, err := api.StoreAsset(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Created || out.LineageSource != "extracted" || out.Extraction.State == "" {
		t.Errorf("it was stored as %+v", out)
	}
	found := e.Search("", "harbour tag:sea", out.IndexToken)
	if !found.Has(out.Asset.AssetH) {
		t.Error("it is not found")
	}
	again, err := api.StoreAsset(t.Context(), in)
	if err != nil || !again.AlreadyStored || again.Asset.AssetH != out.Asset.AssetH {
		t.Errorf("again it is %+v, %v", again, err)
	}
	if _, body, _ := e.Raw("GET", "/api/v1/assets/"+out.Asset.AssetH, e.Key, nil, nil); bytes.Contains(body, []byte("secret")) {
		t.Error("the URL's signature was kept")
	}

	refusesURLs(t, api, base, web.Port)
	w := world{Env: e}
	if o, ok := e.Catalog.Find("StoreAsset"); !ok {
		t.Error("there is no StoreAsset")
	} else if isError, got := w.tool(w.mcp(echo.Modern, e.Key), o, map[string]any{"filename": "x.png", "mime_type": "image/png", "asset_data_url": base + "/gone.png"}); !isError || codeOf(got) != library.CodeURLExpired {
		t.Errorf("the tool answers %v", got)
	}
	if web.Private.Load() != 0 {
		t.Errorf("%d connections reached private addresses", web.Private.Load())
	}
	if files, _, err := e.Blobs.SweepStaged(t.Context(), 0); err != nil || files != 0 {
		t.Errorf("%d staged files stay, %v", files, err)
	}
}

// mediaHost serves a picture, and files that cannot be stored.
func mediaHost(data []byte) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/harbour.png":
			out.Header().Set("Content-Type", "image/png")
			_, _ = out.Write(data)
		case "/large.bin":
			_, _ = out.Write(make([]byte, 300<<10))
		case "/empty.png":
		case "/slow.png":
			<-r.Context().Done()
		default:
			http.Error(out, "gone", http.StatusGone)
		}
	})
}

// refusesURLs stores files by URLs that lead to none that can be stored.
func refusesURLs(t *testing.T, api *client.Client, base string, port uint16) {
	t.Helper()
	deny := false
	for _, c := range []struct {
		url, mime, want string
		exact           bool
	}{
		{base + "/gone.png", "image/png", library.CodeURLExpired, false},
		{"https://example.org/harbour.png", "image/png", library.CodeURLForbiddenHost, false},
		{fmt.Sprintf("https://inside.example.com:%d/harbour.png", port), "image/png", library.CodeURLForbiddenHost, false},
		{"http://media.example.com/harbour.png", "image/png", library.CodeURLForbiddenHost, false},
		{base + "/large.bin", "image/png", library.CodeURLTooLarge, false},
		{base + "/slow.png", "image/png", library.CodeURLTimeout, false},
		{base + "/harbour.png", "image/webp", library.CodeURLTypeMismatch, true},
		{base + "/empty.png", "image/png", library.CodeEmptyFile, false},
		{"https://nowhere.example.com/harbour.png", "image/png", library.CodeURLFetchFailed, false},
	} {
		in := client.StoreAssetInput{Filename: "x.png", MIMEType: c.mime, AssetDataURL: c.url, TimeoutSeconds: 5}
		if c.exact {
			in.AllowContentTypeMismatch = &deny
		}
		_, err := api.StoreAsset(t.Context(), in)
		if got := problemCode(err); got != c.want {
			t.Errorf("%s is answered with %q: %v", c.url, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "signature") {
			t.Errorf("the error repeats the URL: %v", err)
		}
	}
}

// TestStoreAsset_ADownloadLinkOfTheServiceIsStoredInAnotherTenant stores a file by the link
// that another tenant was given for it, and not once that link has ended.
func TestStoreAsset_ADownloadLinkOfTheServiceIsStoredInAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.Env
	ours := e.NewKey(e.NewTenant("url guests"), library.Permissions...)
	lender := e.NewKey(e.Tenant, library.PermRead)
	detail, err := e.Client(lender).GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: w.asset.Asset.AssetH, IncludeDownloadURL: true})
	if err != nil {
		t.Fatal(err)
	}
	link := detail.DownloadURL
	in := client.StoreAssetInput{Filename: "lent.png", MIMEType: "image/png", AssetDataURL: link}
	out, err := e.Client(ours).StoreAsset(t.Context(), in)
	if err != nil || !out.Created || out.Asset.AssetH != w.asset.Asset.AssetH {
		t.Fatalf("it was stored as %+v, %v", out, err)
	}
	in.AssetDataURL = strings.Replace(link, "/files/", "/files/x", 1)
	if _, err := e.Client(ours).StoreAsset(t.Context(), in); problemCode(err) != library.CodeURLFetchFailed {
		t.Errorf("an altered link is answered with %v", err)
	}
	in.AssetDataURL = e.URL + "/previews/x.jpg"
	if _, err := e.Client(ours).StoreAsset(t.Context(), in); problemCode(err) != library.CodeURLForbiddenHost {
		t.Errorf("a link of another purpose is answered with %v", err)
	}
	id, found, err := e.Store.Keys.Find(t.Context(), sha256.Sum256([]byte(lender)))
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if err := e.Store.Keys.Revoke(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, e.Tenant, id.ID); err != nil {
		t.Fatal(err)
	}
	in.AssetDataURL = link
	if _, err := e.Client(ours).StoreAsset(t.Context(), in); problemCode(err) != library.CodeURLExpired {
		t.Errorf("a link whose key was revoked is answered with %v", err)
	}
}
