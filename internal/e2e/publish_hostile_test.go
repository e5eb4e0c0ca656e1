package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vitrine/api/client"
	"vitrine/internal/randtest"
)

// hostilePieces are what breaks out of texts, attributes, scripts, styles, templates and URLs where it
// is not escaped.
var hostilePieces = []string{`</title>`, `</script>`, `<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `" onmouseover="alert(1)`, `' autofocus onfocus='alert(1)`, `</style>`, `-->`, `<!--`, `]]>`,
	`{{.}}`, `${7*7}`, `\u003cscript\u003e`, `javascript:alert(1)`, `&lt;b&gt;`, `&#60;i&#62;`, "`", `\`, `\"`, "\u2028", "\n", "\t", `%3Cscript%3E`, `../../`, `<svg/onload=alert(1)>`, `<a href="//evil.example">`,
	`<base href=//evil.example>`, `<meta http-equiv=refresh content=0>`, `é`, `漢字`, `🐾`, `x`, ` `, `</li></ul>`, `<iframe src=//evil.example>`, `}</style><link rel=stylesheet href=//evil.example>`}

func hostileText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		b.WriteString(hostilePieces[r.IntN(len(hostilePieces))])
	}
	return strings.ToValidUTF8(b.String()[:min(b.Len(), most)], "")
}

// known are the elements of a page, with their attributes; what is not here, or elsewhere, has escaped.
var known = map[string]string{"html": "lang", "head": "", "meta": "charset name content property", "title": "", "link": "rel href", "style": "", "script": "type", "body": "", "header": "", "h1": "", "p": "class", "main": "",
	"ul": "class", "li": "id class", "figure": "", "a": "href download rel", "img": "src alt loading width height", "figcaption": "", "strong": "", "small": "", "span": "class", "details": "", "summary": "", "h2": "", "nav": "aria-label"}

// escapes parses a page as browsers do and returns what does not belong on it.
func escapes(t *testing.T, page, base string) (wrong []string, texts string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			all.WriteString(n.Data + "\n")
			if n.Parent.Data == "script" && !json.Valid([]byte(n.Data)) {
				wrong = append(wrong, "structured data is no JSON")
			}
		case html.CommentNode:
			wrong = append(wrong, "a comment: "+n.Data)
		case html.ElementNode:
			allowed, ok := known[n.Data]
			if !ok {
				wrong = append(wrong, "the element "+n.Data)
			}
			for _, a := range n.Attr {
				if !strings.Contains(" "+allowed+" ", " "+a.Key+" ") {
					wrong = append(wrong, "the attribute "+a.Key+" of "+n.Data)
				}
				if u, err := url.Parse(a.Val); (a.Key == "href" || a.Key == "src") && (err != nil || u.Path == "" || u.Host != "" && !strings.HasPrefix(a.Val, base) || !strings.HasPrefix(u.Path, "/p/")) {
					wrong = append(wrong, "the address "+a.Val)
				}
				if n.Data == "script" && a.Val != "application/ld+json" {
					wrong = append(wrong, "a script")
				}
			}
		}
	}
	return wrong, all.String()
}

// TestPublish_HostileTextsStayTexts publishes titles, cards, credits and names that try to break out.
func TestPublish_HostileTextsStayTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	no, yes := false, true
	texts := 0
	for seed, rounds := range map[uint64]int{17: 12, randtest.Fresh(t): randtest.Cases(t, 2)} {
		r := rand.New(rand.NewPCG(seed, 1))
		for round := range rounds {
			made, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: fmt.Sprint("x", hostileText(r, 100), " ", seed, round)})
			if err != nil {
				t.Fatal(err)
			}
			texts++
			var assets []string
			for n := range 6 {
				h := w.StoreFile("", fmt.Sprint("x", n, url.PathEscape(hostileText(r, 60)), ".png"), "image/png", picture(int(seed%1000)*100+round*10+n, hostileText(r, 200))).Asset.AssetH
				w.Call("PATCH", "/api/v1/assets/"+h, map[string]any{"title": hostileText(r, 200), "asset_metadata": map[string]any{"creator": hostileText(r, 90), "license": hostileText(r, 90)}}, nil)
				assets, texts = append(assets, h), texts+5
			}
			for range 3 {
				card := client.AddTextCardToCollectionInput{CollectionH: made.CollectionH, Heading: "x" + hostileText(r, 100), Body: hostileText(r, 200), AccentText: hostileText(r, 100), Bullets: []string{hostileText(r, 100), "x"}}
				if _, err := api.AddTextCardToCollection(ctx, card); err != nil {
					t.Fatal(err)
				}
				texts += 4
			}
			if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: made.Path, AssetHs: assets}); err != nil {
				t.Fatal(err)
			}
			title := "x" + hostileText(r, 150)
			out, err := api.PublishCollection(ctx, client.PublishCollectionInput{CollectionH: made.CollectionH, Title: &title, Preset: "portfolio", HidePrompts: &no, AllowDownload: &yes})
			if err != nil {
				t.Fatal(err)
			}
			texts++
			status, page, h := w.visit(out.PublicURL, nil)
			wrong, shown := escapes(t, page, w.URL)
			if status != http.StatusOK || len(wrong) > 0 || !strings.Contains(strings.Join(strings.Fields(shown), " "), strings.Join(strings.Fields(title), " ")) {
				t.Fatalf("seed %d: %d, escaped: %q\n%s", seed, status, wrong, page)
			}
			if u, err := url.Parse(out.PublicURL); err != nil || strings.Trim(u.Path, "abcdefghijklmnopqrstuvwxyz0123456789-/") != "" || strings.ContainsAny(h.Get("Content-Security-Policy"), "<>\n") {
				t.Fatalf("the address is %s", out.PublicURL)
			}
			one, err := api.GetAssetPublicUrl(ctx, client.GetAssetPublicUrlInput{AssetH: assets[0]})
			if err != nil {
				t.Fatal(err)
			}
			status, _, h = w.visit(one.PublicURL+"?download=1", nil)
			if name := h.Get("Content-Disposition"); status != http.StatusOK || !strings.HasPrefix(name, "attachment") || strings.ContainsAny(name, "<>\r\n/\\") {
				t.Fatalf("the download is called %q", name)
			}
		}
	}
	if texts < 500 {
		t.Errorf("only %d texts were published", texts)
	}
}
