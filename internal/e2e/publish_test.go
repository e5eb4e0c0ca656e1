package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/media/extract"
)

// visit gets a path without a key.
func (w world) visit(path string, header http.Header) (int, string, http.Header) {
	w.T.Helper()
	status, body, h := w.Raw(http.MethodGet, strings.TrimPrefix(path, w.URL), "", nil, header)
	return status, string(body), h
}

func TestPublish_APageShowsWhatThePresetKeepsAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	hostile := `"><script>alert(1)</script>{{7*7}}</title>`
	second := w.StoreFile("", "second.png", "image/png", pictureOf(9, "a secretword garden", "canaryModel"))
	w.Call("PATCH", "/api/v1/assets/"+second.Asset.AssetH, map[string]any{"title": hostile}, nil)
	private, err := api.StoreAsset(ctx, client.StoreAssetInput{Filename: "mine.png", MIMEType: "image/png", Visibility: "private", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(41, "private"))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: w.collection, AssetHs: []string{second.Asset.AssetH, private.Asset.AssetH}}); err != nil {
		t.Fatal(err)
	}
	w.checkUnpublished(second.Asset.AssetH)
	out, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: w.collection, Title: &hostile})
	if err != nil || out.Assets != 2 || out.PrivateLeftOut != 1 {
		t.Fatalf("%+v %v", out, err)
	}
	status, body, h := w.visit(out.PublicURL, nil)
	if status != http.StatusOK || strings.Contains(body, "<script>alert") || strings.Count(body, "<title>") != 1 || strings.Contains(body, "49") && !strings.Contains(body, "{{7*7}}") {
		t.Errorf("%d %s", status, body)
	}
	if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") || h.Get("X-Robots-Tag") == "" {
		t.Errorf("headers %v", h)
	}
	for _, leak := range []string{"secretword", "canaryModel", second.Asset.AssetH, private.Asset.AssetH, "second.png", string(w.Tenant)} {
		if strings.Contains(body, leak) {
			t.Errorf("the page holds %s", leak)
		}
	}
	w.checkPagePictures(body)
	urls, err := api.GetCollectionPublicUrls(ctx, client.GetCollectionPublicUrlsInput{CollectionH: w.collection})
	if err != nil || !urls.Published || urls.Total != 2 || len(urls.Data) != 2 {
		t.Fatalf("%+v %v", urls, err)
	}
	one, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: second.Asset.AssetH})
	if err != nil || one.Status != "published" || one.PublicURL != urls.Data[1].PublicURL || one.Preset != "share" {
		t.Errorf("%+v %v", one, err)
	}
	if _, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: w.collection, Unpublish: true}); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{out.PublicURL, one.PublicURL} {
		if status, _, _ := w.visit(gone, nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d after it was taken away", gone, status)
		}
	}
	w.publishesAgain(out.PublicURL, one.PublicURL)
}

// checkUnpublished asks for the addresses of assets that are on no page: one in a collection, and one in none.
func (w world) checkUnpublished(collected string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	for _, none := range []string{"in_collections", "in_no_collection"} {
		hash := collected
		if none == "in_no_collection" {
			hash = w.StoreFile("", "alone.png", "image/png", picture(77, "alone")).Asset.AssetH
		}
		if got, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: hash}); err != nil || got.Status != none || got.PublicURL != "" {
			t.Errorf("want %s: %+v %v", none, got, err)
		}
	}
}

// checkPagePictures visits the pictures of a page, which have no generation data.
func (w world) checkPagePictures(body string) {
	t, ctx := w.T, w.T.Context()
	t.Helper()
	pictures := regexp.MustCompile(`(?:src|href)="(/p/[^"]+/[\w-]{40}(?:-small)?)"`).FindAllStringSubmatch(body, -1)
	if len(pictures) != 4 {
		t.Errorf("the page has %d links to pictures: %s", len(pictures), body)
	}
	for _, m := range pictures {
		status, data, h := w.visit(m[1], nil)
		if status != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "image/") || h.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %v", m[1], status, h)
		}
		got, err := extract.Read(ctx, bytes.NewReader([]byte(data)), int64(len(data)), extract.Options{})
		if err != nil || got.Lineage.HasGenerationData() || strings.Contains(data, "secretword") {
			t.Errorf("%s holds generation data", m[1])
		}
	}
}

// publishesAgain publishes the collection anew, with downloads, and then with prompts and without them: the page
// and the picture have their old addresses.
func (w world) publishesAgain(page, picture string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	yes, no := true, false
	again, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: w.collection, Preset: "portfolio", AllowDownload: &yes})
	if err != nil || again.PublicURL != page {
		t.Errorf("published again at %s, was %s: %v", again.PublicURL, page, err)
	}
	if status, _, h := w.visit(picture+"?download=1", nil); status != http.StatusOK || !strings.Contains(h.Get("Content-Disposition"), "attachment") {
		t.Errorf("the picture's old address answers %d %v", status, h)
	}
	if _, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: w.collection, HidePrompts: &no, AllowDownload: &no}); err != nil {
		t.Fatal(err)
	}
	if _, body, _ := w.visit(page, nil); !strings.Contains(body, "secretword garden") || strings.Contains(body, "?download") {
		t.Error("prompts are hidden although they are to be shown, or downloads are shown")
	}
}

func TestPublish_APasswordIsAskedForAndGuessingIsSlowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := "correct horse"
	soon := time.Now().Add(time.Hour).Format(time.RFC3339)
	out, err := w.Client("").PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: w.collection, Password: &secret, ExpiresAt: &soon})
	if err != nil || !out.PasswordProtected {
		t.Fatalf("%+v %v", out, err)
	}
	urls, err := w.Client("").GetCollectionPublicUrls(t.Context(), client.GetCollectionPublicUrlsInput{CollectionH: w.collection})
	if err != nil {
		t.Fatal(err)
	}
	if status, body, _ := w.visit(out.PublicURL, nil); status != http.StatusOK || !strings.Contains(body, `type="password"`) || strings.Contains(body, "Lighthouses") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := w.visit(urls.Data[0].PublicURL, nil); status != http.StatusForbidden {
		t.Errorf("a picture without the password answers %d", status)
	}
	send := func(password string) *http.Response {
		t.Helper()
		c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := c.PostForm(out.PublicURL, url.Values{"password": {password}})
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	good := send(secret)
	cookies := good.Cookies()
	if good.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].HttpOnly || !strings.HasPrefix(cookies[0].Path, "/p/") {
		t.Fatalf("%d %v", good.StatusCode, cookies)
	}
	cookie := http.Header{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
	if status, body, _ := w.visit(out.PublicURL, cookie); status != http.StatusOK || strings.Contains(body, `type="password"`) || strings.Contains(body, "og:image") {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := w.visit(urls.Data[0].PublicURL, cookie); status != http.StatusOK {
		t.Errorf("a picture with the password answers %d", status)
	}
	codes := map[int]int{}
	for n := range 12 {
		codes[send(fmt.Sprint("guess ", n)).StatusCode]++
	}
	if codes[http.StatusForbidden] != 8 || codes[http.StatusTooManyRequests] != 4 {
		t.Errorf("guesses were answered %v", codes)
	}
	other := "another one"
	if _, err := w.Client("").PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: w.collection, Password: &other}); err != nil {
		t.Fatal(err)
	}
	if _, body, _ := w.visit(out.PublicURL, cookie); !strings.Contains(body, `type="password"`) {
		t.Error("the cookie of the old password still opens the page")
	}
}

func TestPublish_WhatCannotBePublishedIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api := w.Client("")
	past := "2001-01-01T00:00:00Z"
	for code, in := range map[string]client.PublishCollectionInput{
		library.CodeNotFound:         {CollectionH: strings.Repeat("c", 40)},
		library.CodeValidationFailed: {CollectionH: w.collection, ExpiresAt: &past},
	} {
		if _, err := api.PublishCollection(t.Context(), in); codeOfError(err) != code {
			t.Errorf("want %s, got %v", code, err)
		}
	}
	if _, err := api.PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: w.collection, Slug: "lights"}); err != nil {
		t.Fatal(err)
	}
	other, _ := w.collect("", "Others", w.asset.Asset.AssetH)
	if _, err := api.PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: other, Slug: "lights"}); codeOfError(err) != library.CodeNameTaken {
		t.Errorf("a slug that is taken: %v", err)
	}
	read := w.NewKey(w.Tenant, library.PermWrite)
	if _, err := w.Client(read).PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: w.collection}); codeOfError(err) != library.CodePermissionRequired {
		t.Errorf("a key without export: %v", err)
	}
	for _, path := range []string{"/p/x/y", "/p/aaaaaaaaaaaaaaaa/lights", "/p/%27%22/..%2f/z"} {
		if status, _, h := w.visit(path, nil); status != http.StatusNotFound || h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s answers %d %s", path, status, h.Get("Content-Type"))
		}
	}
	status, body, h := w.visit("/p/aaaaaaaaaaaaaaaa/lights", http.Header{"Accept": {"text/html,*/*;q=0.8"}})
	if status != http.StatusNotFound || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || !strings.Contains(body, "Page not found") || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("a browser gets %d %v", status, h)
	}
}

func TestPublish_ThePageOfASmartCollectionShowsWhatItFoundWhenItWasPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	hidden, err := api.StoreAsset(ctx, client.StoreAssetInput{Filename: "mine.png", MIMEType: "image/png", Visibility: "private", AssetDataBase64: base64.StdEncoding.EncodeToString(pictureOf(371, "quince mine", "canaryModel"))})
	if err != nil {
		t.Fatal(err)
	}
	first := w.StoreFile("", "one.png", "image/png", pictureOf(372, "quince one", "canaryModel"))
	w.Search("", "prompt:quince", hidden.IndexToken)
	w.Search("", "prompt:quince", first.IndexToken)
	c := w.smartCollection("All quinces", "prompt:quince")
	publish := func(want int) client.PublishCollectionOutput {
		t.Helper()
		out, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: c.CollectionH})
		if err != nil || out.Assets != want || !out.Published {
			t.Fatalf("%+v %v", out, err)
		}
		return out
	}
	page := publish(1)
	w.refusesEmptyPages()
	before, err := api.GetCollectionPublicUrls(ctx, client.GetCollectionPublicUrlsInput{CollectionH: c.CollectionH})
	if err != nil || before.Total != 1 || before.Data[0].AssetH != first.Asset.AssetH {
		t.Fatalf("%+v %v", before, err)
	}
	second := w.StoreFile("", "two.png", "image/png", pictureOf(373, "quince two", "canaryModel"))
	w.Search("", "prompt:quince", second.IndexToken)
	if status, body, _ := w.visit(page.PublicURL, nil); status != http.StatusOK || !strings.Contains(body, "1 picture") {
		t.Errorf("an asset that matches later is on the page: %d %s", status, body)
	}
	if got, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: second.Asset.AssetH}); err != nil || got.Status != "in_no_collection" {
		t.Errorf("%+v %v", got, err)
	}
	if again := publish(2); again.PublicURL != page.PublicURL {
		t.Errorf("published again at %s, was %s", again.PublicURL, page.PublicURL)
	}
	got, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: first.Asset.AssetH})
	if err != nil || got.PublicURL != before.Data[0].PublicURL || got.CollectionPath != c.Path {
		t.Errorf("%+v %v", got, err)
	}
	if status, _, _ := w.visit(before.Data[0].PublicURL, nil); status != http.StatusOK {
		t.Errorf("the picture answers %d", status)
	}
	if _, err := api.TrashAssets(ctx, client.TrashAssetsInput{AssetHs: []string{first.Asset.AssetH}, Operation: "trash"}); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := w.visit(before.Data[0].PublicURL, nil); status != http.StatusNotFound {
		t.Errorf("the picture of an asset in the trash answers %d", status)
	}
}

// refusesEmptyPages publishes smart collections that find nothing that others may see.
func (w world) refusesEmptyPages() {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	for name, query := range map[string]string{"Nothing": "prompt:nosuchfruit", "Mine alone": "prompt:mine"} {
		none := w.smartCollection(name, query)
		if _, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: none.CollectionH}); codeOfError(err) != library.CodeSmartCollection {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// smartCollection makes a collection that holds what a query finds.
func (w world) smartCollection(name, query string) client.CreateCollectionOutput {
	api, ctx := w.Client(""), w.T.Context()
	w.T.Helper()
	saved, err := api.CreateSavedSearch(ctx, client.CreateSavedSearchInput{Name: name, Query: query})
	if err != nil {
		w.T.Fatal(err)
	}
	c, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: name, SavedSearchID: saved.SavedSearchID})
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}
