package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"vitrine/api/client"
	"vitrine/internal/sample"
	"vitrine/internal/testenv"
)

// shownPage is what a browser makes of a published page.
type shownPage struct {
	Width, Pictures, Cards int
	Broken                 []string // addresses of pictures that were not loaded
	Rows                   []int    // heights of the pictures of the first row
	Data                   string   // JSON-LD
}

const lookAtPage = `(() => {
	const pictures = [...document.images], top = pictures[0].getBoundingClientRect().top
	return {Width: document.documentElement.scrollWidth, Pictures: pictures.length, Cards: document.querySelectorAll(".card").length,
		Broken: pictures.filter((i) => !i.complete || i.naturalWidth === 0).map((i) => i.src),
		Rows: pictures.filter((i) => Math.abs(i.getBoundingClientRect().top - top) < 2).map((i) => Math.round(i.getBoundingClientRect().height)),
		Data: document.querySelector('script[type="application/ld+json"]').textContent}
})()`

// TestPublish_ThePageFitsLargeAndSmallScreensAndEverybodyCanUseIt looks at pages in Chromium in
// which no script runs, and has axe-core look for barriers. VITRINE_PAGE_PICTURES names a folder for
// pictures of the pages.
func TestPublish_ThePageFitsLargeAndSmallScreensAndEverybodyCanUseIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	collection := w.drawn(t, 14)
	yes, no, title, password := true, false, "Lighthouses, kitchens and other places", "correct horse"
	out, err := w.Client("").PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: collection, Title: &title, AllowDownload: &yes, HidePrompts: &no})
	if err != nil {
		t.Fatal(err)
	}
	b := browse(t)
	for _, width := range []int64{1400, 390} {
		b.scripts(false)
		b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(out.PublicURL))
		b.await("all pictures are loaded", `[...document.images].every((i) => { i.loading = "eager"; return i.complete && i.naturalWidth > 0 })`)
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[shownPage](lookAtPage))
		if err != nil {
			t.Fatal(err)
		}
		if got.Width > int(width) || got.Pictures != out.Assets || got.Pictures < 12 || got.Cards != 1 || len(got.Broken) > 0 {
			t.Errorf("at %d pixels: %+v", width, got)
		}
		if columns := len(got.Rows); (columns > 1) != (width > 600) || slices.Max(got.Rows)-slices.Min(got.Rows) > 1 {
			t.Errorf("at %d pixels the first row has pictures of the heights %v", width, got.Rows)
		}
		checkGallery(t, got.Data, out)
		b.shoot(fmt.Sprintf("published-%d", width))
		b.scripts(true)
		b.noBarriers()
	}
	if _, err := w.Client("").PublishCollection(t.Context(), client.PublishCollectionInput{CollectionH: collection, Password: &password}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(out.PublicURL), chromedp.SendKeys("#password", "wrong guess\r"))
	b.await("the wrong password is refused", `document.querySelector("#fault")?.innerText === "This is not the password."`)
	b.noBarriers()
	b.shoot("published-password")
	b.scripts(false)
	b.do(chromedp.SendKeys("#password", password+"\r"))
	b.await("the page is shown to who knows the password", `document.images.length === `+fmt.Sprint(out.Assets)+` && document.images[0].complete && document.images[0].naturalWidth > 0`)
}

// drawn makes a collection of pictures of the sample library behind a text card.
func (w world) drawn(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := sample.Write(t.Context(), dir, sample.Options{Count: n, Seed: 4}, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	api := w.Client("")
	made, err := api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "Places"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.AddTextCardToCollection(t.Context(), client.AddTextCardToCollectionInput{CollectionH: made.CollectionH, Heading: "A season of places", HeadingSize: "xl",
		Body: "What we made in spring, before the sea came in.", Background: "gradient", AccentText: "First selection", AccentColor: "#1e90ff"}); err != nil {
		t.Fatal(err)
	}
	var hashes []string
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".png", ".jpg", ".webp"}, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := w.StoreFile("", d.Name(), "image/"+strings.Replace(filepath.Ext(path)[1:], "jpg", "jpeg", 1), data).Asset.AssetH
		if len(hashes)%3 == 0 {
			w.Call("PATCH", "/api/v1/assets/"+h, map[string]any{"title": fmt.Sprintf("Place %d, seen from the east", len(hashes)+1)}, nil)
		}
		hashes = append(hashes, h)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.AddToCollection(t.Context(), client.AddToCollectionInput{CollectionPath: made.Path, AssetHs: hashes}); err != nil {
		t.Fatal(err)
	}
	return made.CollectionH
}

// checkGallery reads what a page tells search engines.
func checkGallery(t *testing.T, data string, out client.PublishCollectionOutput) {
	t.Helper()
	var gallery struct {
		Type  string `json:"@type"`
		URL   string `json:"url"`
		Image []struct {
			Type       string `json:"@type"`
			ContentURL string `json:"contentUrl"`
			SourceType string `json:"digitalSourceType"`
		} `json:"image"`
	}
	if err := json.Unmarshal([]byte(data), &gallery); err != nil || gallery.Type != "ImageGallery" || gallery.URL != out.PublicURL || len(gallery.Image) != out.Assets {
		t.Fatalf("%v: %s", err, data)
	}
	generated := 0
	for _, i := range gallery.Image {
		if i.Type != "ImageObject" || !strings.HasPrefix(i.ContentURL, out.PublicURL+"/") {
			t.Errorf("%+v", i)
		}
		if strings.HasSuffix(i.SourceType, "/trainedAlgorithmicMedia") {
			generated++
		}
	}
	if generated == 0 {
		t.Error("no picture is said to be generated")
	}
}

// browse opens Chromium.
func browse(t *testing.T) gallery {
	t.Helper()
	return gallery{t, newBrowser(t)}
}

// scripts lets scripts of pages run, or not.
func (g gallery) scripts(run bool) {
	g.t.Helper()
	if _, err := chromedp.Call(g.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !run}); err != nil {
		g.t.Fatal(err)
	}
}

// shoot keeps a picture of the whole page where VITRINE_PAGE_PICTURES names a folder.
func (g gallery) shoot(name string) {
	g.t.Helper()
	dir := os.Getenv("VITRINE_PAGE_PICTURES")
	if dir == "" {
		return
	}
	time.Sleep(time.Second) // until what was loaded is drawn
	png, err := chromedp.Run(g.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// noBarriers has axe-core judge the page: nothing may keep people from using it.
func (g gallery) noBarriers() {
	g.t.Helper()
	source, err := os.ReadFile(filepath.Join(testenv.Tool(g.t, "axe"), "axe.min.js"))
	if err != nil {
		g.t.Fatal(err)
	}
	if _, err := chromedp.Run(g.ctx, chromedp.Evaluate[bool](string(source)+"\n;true")); err != nil {
		g.t.Fatal(err)
	}
	g.await("axe-core is done", `(window.judged ??= axe.run().then((r) => { window.judgement = r }), window.judgement !== undefined)`)
	type violation struct{ ID, Impact, Help, HTML string }
	type judgement struct {
		Passes     int
		Violations []violation
	}
	got, err := chromedp.Run(g.ctx, chromedp.Evaluate[judgement](`({Passes: judgement.passes.length, Violations: judgement.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, HTML: v.nodes[0].html}))})`))
	if err != nil {
		g.t.Fatal(err)
	}
	if got.Passes < 10 || len(got.Violations) > 0 {
		g.t.Errorf("%d rules are kept, and these are not: %+v", got.Passes, got.Violations)
	}
}
