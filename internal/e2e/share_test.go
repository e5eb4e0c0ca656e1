package e2e

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
)

func TestShare_ALinkShowsItsAssetsUntilItEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	second := w.StoreFile("", "second.png", "image/png", pictureOf(9, "a secretword garden", "canaryModel"))
	out := w.share("", second.Asset.AssetH, w.asset.Asset.AssetH, second.Asset.AssetH)
	if out.Assets != 2 || len(out.AssetHs) != 2 || out.ExpiresAt == nil || out.ExpiresAt.Sub(time.Now().Add(7*24*time.Hour)).Abs() > time.Minute || !out.Active || !out.HidePrompts {
		t.Fatalf("%+v", out)
	}
	status, body, h := w.visit(out.PublicURL, nil)
	if status != http.StatusOK || h.Get("X-Robots-Tag") == "" || !strings.Contains(body, "2 pictures") {
		t.Errorf("%d %v %s", status, h, body)
	}
	for _, leak := range []string{"secretword", "canaryModel", second.Asset.AssetH, "second.png", string(w.Tenant), out.ShareID} {
		if strings.Contains(body, leak) {
			t.Errorf("the page holds %s", leak)
		}
	}
	pictures := regexp.MustCompile(`(?:src|href)="(/p/[^"]+/[\w-]{40}(?:-small)?)"`).FindAllStringSubmatch(body, -1)
	if len(pictures) != 4 {
		t.Fatalf("the page has %d links to pictures: %s", len(pictures), body)
	}
	for _, m := range pictures {
		if status, data, h := w.visit(m[1], nil); status != http.StatusOK || !strings.HasPrefix(h.Get("Content-Type"), "image/") || strings.Contains(data, "secretword") {
			t.Errorf("%s: %d %v", m[1], status, h)
		}
	}
	one, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: second.Asset.AssetH})
	if err != nil || one.Status != "published" || !strings.HasPrefix(one.PublicURL, out.PublicURL+"/") {
		t.Errorf("%+v %v", one, err)
	}
	list, err := api.ListShareLinks(ctx, client.ListShareLinksInput{})
	if err != nil || list.Total != 1 || list.Data[0].ShareID != out.ShareID || list.Data[0].PublicURL != out.PublicURL || list.Data[0].Assets != 2 {
		t.Errorf("%+v %v", list, err)
	}
	got, err := api.GetShareLink(ctx, client.GetShareLinkInput{ShareID: out.ShareID})
	if err != nil || got.PublicURL != out.PublicURL || got.Assets != 2 || len(got.Data) != 2 || got.Data[0].AssetH != second.Asset.AssetH || got.Data[0].PublicURL != one.PublicURL {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := api.DeleteShareLink(ctx, client.DeleteShareLinkInput{ShareID: out.ShareID}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.GetShareLink(ctx, client.GetShareLinkInput{ShareID: out.ShareID}); codeOfError(err) != library.CodeNotFound {
		t.Errorf("a deleted link: %v", err)
	}
	for _, gone := range []string{out.PublicURL, w.URL + pictures[0][1]} {
		if status, _, _ := w.visit(gone, nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d after its link was deleted", gone, status)
		}
	}
}

func TestShare_ALinkExpiresAndAsksForItsPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	secret, soon := "correct horse", time.Now().Add(3*time.Second)
	in := client.CreateShareLinkInput{AssetHs: []string{w.asset.Asset.AssetH}, ExpiresAt: soon.Format(time.RFC3339Nano)}
	short, err := api.CreateShareLink(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	in.ExpiresAt, in.Password = "", &secret
	locked, err := api.CreateShareLink(ctx, in)
	if err != nil || !locked.PasswordProtected {
		t.Fatalf("%+v %v", locked, err)
	}
	if status, body, _ := w.visit(locked.PublicURL, nil); status != http.StatusOK || !strings.Contains(body, `type="password"`) || strings.Contains(body, "/p/") && strings.Contains(body, "-small") {
		t.Errorf("%d %s", status, body)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.PostForm(locked.PublicURL, url.Values{"password": {secret}})
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		t.Fatalf("the password is answered %d", res.StatusCode)
	}
	cookie := http.Header{"Cookie": {res.Cookies()[0].Name + "=" + res.Cookies()[0].Value}}
	if status, body, _ := w.visit(locked.PublicURL, cookie); status != http.StatusOK || !strings.Contains(body, "-small") {
		t.Errorf("with the password: %d %s", status, body)
	}
	time.Sleep(time.Until(soon.Add(200 * time.Millisecond)))
	if status, _, _ := w.visit(short.PublicURL, nil); status != http.StatusGone {
		t.Errorf("an expired link answers %d", status)
	}
	list, err := api.ListShareLinks(ctx, client.ListShareLinksInput{})
	if err != nil || list.Total != 2 || list.Data[1].Active || list.Data[1].PublicURL != "" || !list.Data[0].Active {
		t.Errorf("%+v %v", list, err)
	}
}

func TestShare_AQuerySharesWhatItFindsAtThatMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	mine, err := api.StoreAsset(ctx, client.StoreAssetInput{Filename: "mine.png", MIMEType: "image/png", Visibility: "private", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(41, "private"))})
	if err != nil {
		t.Fatal(err)
	}
	first, later := w.StoreFile("", "one.png", "image/png", picture(42, "one")), w.StoreFile("", "two.png", "image/png", picture(43, "two"))
	w.tag("harvest", mine.Asset.AssetH, first.Asset.AssetH)
	out, err := api.CreateShareLink(ctx, client.CreateShareLinkInput{Query: "tag:harvest"})
	if err != nil || out.Assets != 1 || out.Matched != 1 || len(out.AssetHs) != 1 || out.AssetHs[0] != first.Asset.AssetH {
		t.Fatalf("%+v %v", out, err)
	}
	w.tag("harvest", later.Asset.AssetH)
	if _, body, _ := w.visit(out.PublicURL, nil); !strings.Contains(body, "1 picture") || strings.Contains(body, "2 pictures") {
		t.Errorf("the page shows what was found later: %s", body)
	}
	far := time.Now().Add(400 * 24 * time.Hour).Format(time.RFC3339)
	for name, wrong := range map[string]struct {
		in   client.CreateShareLinkInput
		code string
	}{
		"nothing is found":  {client.CreateShareLinkInput{Query: "tag:nosuchtag"}, library.CodeValidationFailed},
		"nothing is asked":  {client.CreateShareLinkInput{}, library.CodeValidationFailed},
		"a private asset":   {client.CreateShareLinkInput{AssetHs: []string{mine.Asset.AssetH}}, library.CodeAssetPrivate},
		"no asset":          {client.CreateShareLinkInput{AssetHs: []string{strings.Repeat("d", 40)}}, library.CodeNotFound},
		"more than a year":  {client.CreateShareLinkInput{AssetHs: []string{first.Asset.AssetH}, ExpiresAt: far}, library.CodeValidationFailed},
		"more than can be ": {client.CreateShareLinkInput{AssetHs: strings.Fields(strings.Repeat(first.Asset.AssetH+" ", 101))}, library.CodeValidationFailed},
	} {
		if _, err := api.CreateShareLink(ctx, wrong.in); codeOfError(err) != wrong.code {
			t.Errorf("%s: want %s, got %v", name, wrong.code, err)
		}
	}
	export := w.Client(w.NewKey(w.Tenant, library.PermExport))
	if _, err := export.CreateShareLink(ctx, client.CreateShareLinkInput{Query: "tag:harvest"}); codeOfError(err) != library.CodePermissionRequired {
		t.Errorf("a query with a key that may not search: %v", err)
	}
}
