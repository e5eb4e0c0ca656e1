package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/internal/echo"
	sample "vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// drawn is a picture of a scene with a seed.
func drawn(kind int, seed uint64, w, h int) image.Image {
	p := scene.New(scene.Kinds()[kind], sample.NewRand(uint64(kind))).Variation(seed).Draw(w, h)
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(out.Pix[4*i:], p.Pix[3*i:3*i+3])
		out.Pix[4*i+3] = 255
	}
	return out
}

// prompted is a picture as PNG with the generation data of a prompt.
func prompted(t *testing.T, img image.Image, prompt string, seed int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return withText(b.Bytes(), "parameters", fmt.Sprintf("%s\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: %d, Size: 48x32, Model: m, Version: v1.10.1", prompt, seed))
}

// TestFindDuplicates_GroupsWhatLooksAlikeAndSuggestsTheBest stores two pictures, copies of
// them and others with the same prompt.
func TestFindDuplicates_GroupsWhatLooksAlikeAndSuggestsTheBest(t *testing.T) {
	t.Parallel()
	w := worldOf(servicetest.Shared(t))
	api := w.Client("")
	store := func(name, mime string, data []byte) string {
		return w.StoreFile("", name, mime, data, "twins").Asset.AssetH
	}
	smaller := func(img image.Image) []byte {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 60}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	first, second, third := drawn(0, 1, 384, 320), drawn(0, 2, 384, 320), drawn(3, 3, 384, 320)
	best := store("best.png", "image/png", prompted(t, first, "A  Lighthouse", 1))
	copied := store("copy.jpg", "image/jpeg", smaller(first))
	again := store("again.png", "image/png", prompted(t, first, "another prompt", 2))
	sameWords := store("seed2.png", "image/png", prompted(t, second, "a lighthouse ", 2))
	alone := store("alone.png", "image/png", prompted(t, third, "a garden", 3))

	var got client.FindDuplicatesOutput
	servicetest.Eventually(t, 60*time.Second, "the pictures are compared", func() (err error) {
		got, err = api.FindDuplicates(t.Context(), client.FindDuplicatesInput{AssetH: best})
		if err == nil && (got.Total != 1 || got.Groups[0].Total != 3) {
			err = fmt.Errorf("the groups are %+v", got)
		}
		return err
	})
	hashes := func(g client.SearchDuplicateGroup) (list []string) {
		for _, a := range g.Assets {
			list = append(list, a.AssetH)
		}
		slices.Sort(list)
		return list
	}
	want := []string{best, copied, again}
	slices.Sort(want)
	if g := got.Groups[0]; !slices.Equal(hashes(g), want) || g.SuggestedKeeper == copied || g.Assets[0].AssetH != g.SuggestedKeeper {
		t.Errorf("the group is %+v", g)
	}
	rating := 5
	if _, err := api.RateAssets(t.Context(), client.RateAssetsInput{AssetHs: []string{copied}, Rating: &rating}); err != nil {
		t.Fatal(err)
	}
	whole, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(whole.Groups, func(g client.SearchDuplicateGroup) bool { return slices.Contains(hashes(g), best) })
	if i < 0 || whole.Groups[i].SuggestedKeeper != copied {
		t.Errorf("in the whole library the groups are %+v", whole)
	}
	for _, g := range whole.Groups {
		if slices.Contains(hashes(g), alone) || slices.Contains(hashes(g), sameWords) {
			t.Errorf("a picture that looks like no other is in %+v", g)
		}
	}
	stack, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{By: "prompt", AssetH: best})
	pair := []string{best, sameWords}
	slices.Sort(pair)
	if err != nil || stack.Total != 1 || !slices.Equal(hashes(stack.Groups[0]), pair) {
		t.Errorf("by prompt it is %+v, %v", stack, err)
	}
	token := w.StoreFile("", "alone.png", "image/png", prompted(t, third, "a garden", 3), "indexed").IndexToken
	w.Search("", "tag:indexed", token)
	among, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{Query: "tag:twins lighthouse", By: "prompt"})
	if err != nil || among.Total != 1 {
		t.Errorf("among results it is %+v, %v", among, err)
	}
	if none, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{Query: "tag:nothinghasthistag"}); err != nil || none.Total != 0 || none.Groups == nil {
		t.Errorf("among nothing it is %+v, %v", none, err)
	}
	if _, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{AssetH: best, Query: "x"}); problemCode(err) != library.CodeValidationFailed {
		t.Errorf("both are answered with %v", err)
	}
	o, _ := w.Catalog.Find("FindDuplicates")
	if isError, got := w.tool(w.mcp(echo.Modern, w.Key), o, map[string]any{"asset_h": best}); isError || len(got["groups"].([]any)) != 1 {
		t.Errorf("the tool answers %v", got)
	}
	if _, err := api.TrashAssets(t.Context(), client.TrashAssetsInput{AssetHs: []string{copied, again}, Operation: "trash"}); err != nil {
		t.Fatal(err)
	}
	if left, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{AssetH: best}); err != nil || left.Total != 0 {
		t.Errorf("once the others are in the trash it is %+v, %v", left, err)
	}
}
