package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"vitrine/api/client"
	"vitrine/embed"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// gallery is the gallery in a browser.
type gallery struct {
	t   *testing.T
	ctx context.Context
}

// openGallery opens the gallery in Chromium and signs in with a key.
func openGallery(t *testing.T, url, key string) gallery {
	t.Helper()
	g := gallery{t, newBrowser(t)}
	g.do(chromedp.Navigate(url), chromedp.WaitVisible("#key"), chromedp.SendKeys("#key", key+"\r"), chromedp.WaitVisible(".shot"))
	return g
}

// newBrowser starts Chromium, which ends with the test.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(testenv.Tool(t, "chromium")), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

func (g gallery) do(steps ...chromedp.Action[chromedp.Void]) {
	g.t.Helper()
	if err := chromedp.Do(g.ctx, steps...); err != nil {
		g.t.Fatal(err)
	}
}

// await waits until an expression of the page is true.
func (g gallery) await(what, expression string) {
	g.t.Helper()
	servicetest.Eventually(g.t, what, func() error {
		got, err := chromedp.Run(g.ctx, chromedp.Evaluate[bool](expression))
		if err == nil && !got {
			page, _ := chromedp.Run(g.ctx, chromedp.Evaluate[string](`document.body.innerText`))
			err = fmt.Errorf("the page shows %q", page)
		}
		return err
	})
}

// search types a query.
func (g gallery) search(query string) {
	g.t.Helper()
	g.await("the query is sent", fmt.Sprintf(`(document.querySelector("#query").value = %q, document.querySelector("#search").requestSubmit(), true)`, query))
}

// picture keeps a picture of the page where VITRINE_GALLERY_PICTURES names a folder.
func (g gallery) picture(name string) {
	g.t.Helper()
	dir := os.Getenv("VITRINE_GALLERY_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(g.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// TestGallery_SearchesFiltersAndRates uses the gallery as a person does, in Chromium.
func TestGallery_SearchesFiltersAndRates(t *testing.T) {
	t.Parallel()
	dir := testenv.Model(t)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.Builtin, Dir: dir}
	}})
	hashes := hangPictures(t, e)
	g := openGallery(t, e.URL, e.Key)
	count := func(n int, of string) string {
		return fmt.Sprintf(`document.querySelectorAll("%s").length === %d`, of, n)
	}
	g.await("all pictures are shown", count(5, ".shot")+` && [...document.querySelectorAll(".shot img")].every((i) => i.naturalWidth > 0)`)
	g.await("the tree of collections has counts", `document.querySelector("#collections").innerText.includes("Animals & more") && [...document.querySelectorAll("#collections li li button")].some((b) => b.innerText.replace(/\s+/g, " ").trim() === "Cats 2")`)
	g.picture("all")
	g.search("kitten")
	g.await("what is only similar is marked", count(1, ".shot:not(.similar)")+` && document.querySelectorAll(".shot.similar em").length > 0
		&& getComputedStyle(document.querySelector(".shot.similar")).outlineStyle === "dashed" && getComputedStyle(document.querySelector(".shot:not(.similar)")).outlineStyle === "none"
		&& document.querySelector("#notes").innerText.includes("1 by words")`)
	g.picture("similar")
	g.search("")
	g.await("all pictures are back", count(5, ".shot"))
	g.do(chromedp.Click(`#collections li li button`))
	g.await("the collection is shown in its order", count(2, ".shot")+` && document.querySelector("#query").value === "collection:=animalsmore.cats" && document.querySelector("#collections button[aria-pressed=true]").innerText.includes("Cats")
		&& document.querySelector(".shot img").alt === "1.png"`)
	g.picture("collection")
	g.do(chromedp.Click(`#collections li li button`))
	g.await("the filter is taken back", count(5, ".shot"))
	g.do(chromedp.Click(`[aria-label="4 stars or more"]`))
	g.await("what has four stars is shown", count(2, ".shot"))
	g.do(chromedp.Click(`#favorites`))
	g.await("favorites with four stars are shown", count(1, ".shot")+` && document.querySelector("#favorites").ariaPressed === "true"`)
	g.do(chromedp.Click(".shot"), chromedp.WaitVisible(`#detail [aria-label="2 stars"]`), chromedp.Click(`#detail [aria-label="2 stars"]`))
	g.await("the click rated it", `[...document.querySelectorAll("#detail .marks button")].filter((b) => b.innerText === "★").length === 2`)
	g.picture("detail")
	if d, err := e.Client("").GetAssetDetails(t.Context(), client.GetAssetDetailsInput{AssetH: hashes[3]}); err != nil || d.Rating != 2 {
		t.Errorf("the asset has %d stars, %v", d.Rating, err)
	}
}

// hangPictures stores five pictures, two of them in a collection, two of them with four stars and one of
// these a favorite, and waits until all can be found by what they mean.
func hangPictures(t *testing.T, e *servicetest.Env) (hashes []string) {
	t.Helper()
	api, ctx := e.Client(""), t.Context()
	for i, p := range []string{"a kitten sleeping on a sofa", "a cat in the sun", "a red sports car on a mountain road", "an old sailing ship in a storm", "a bowl of ramen with an egg"} {
		hashes = append(hashes, e.StoreFile("", fmt.Sprintf("%d.png", i), "image/png", picture(i, p)).Asset.AssetH)
	}
	animals, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Animals & more", Icon: "🐾"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Cats", ParentPath: animals.Path}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: animals.Path + ".cats", AssetHs: []string{hashes[1], hashes[0]}}); err != nil {
		t.Fatal(err)
	}
	four, yes := 4, true
	rated, err := api.RateAssets(ctx, client.RateAssetsInput{AssetHs: hashes[2:4], Rating: &four})
	if err != nil {
		t.Fatal(err)
	}
	if rated, err = api.RateAssets(ctx, client.RateAssetsInput{AssetHs: hashes[3:4], Favorite: &yes}); err != nil {
		t.Fatal(err)
	}
	like := client.SearchAssetsInput{SimilarToAssetH: hashes[0], EmbeddingConfigurationH: e.Embedder.ID(), MinIndexToken: rated.IndexToken}
	servicetest.Eventually(t, "every picture has its vector", func() error {
		out, err := api.SearchAssets(ctx, like)
		if err == nil && out.Total != 4 {
			err = fmt.Errorf("%d pictures are like the first", out.Total)
		}
		return err
	})
	return hashes
}

// TestGallery_SaysHowFarSearchByMeaningIs stores a file while the provider of vectors is
// down.
func TestGallery_SaysHowFarSearchByMeaningIs(t *testing.T) {
	t.Parallel()
	url, down := models(t)
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Embed = embed.Config{Driver: embed.OpenAI, URL: url, Model: "one", Dimensions: modelDimensions}
	}})
	e.StoreFile("", "first.png", "image/png", picture(1, "number one"))
	servicetest.Eventually(t, "the first picture has its vector", func() error {
		if f := e.Search("", "any number", ""); f.Total != 1 || len(f.Degraded) > 0 {
			return fmt.Errorf("%d found, degraded %v", f.Total, f.Degraded)
		}
		return nil
	})
	down.Store(true)
	e.Search("", "one", e.StoreFile("", "second.png", "image/png", picture(2, "number two")).IndexToken)
	servicetest.Eventually(t, "the share is counted", func() error {
		if f := e.Search("", "any number", ""); f.SemanticShare == nil {
			return fmt.Errorf("%d found, degraded %v", f.Total, f.Degraded)
		}
		return nil
	})
	g := openGallery(t, e.URL, e.Key)
	g.search("any number")
	g.await("the page says how far search by meaning is", `document.querySelector("#notes").innerText.includes("search by meaning covers 50 % so far")`)
	g.picture("partial")
}
