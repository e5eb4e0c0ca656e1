package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

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
	first, second, third := drawn(0, 1, 384, 320), drawn(0, 2, 384, 320), drawn(3, 3, 384, 320)
	best := store("best.png", "image/png", prompted(t, first, "A  Lighthouse", 1))
	copied := store("copy.jpg", "image/jpeg", smaller(t, first))
	again := store("again.png", "image/png", prompted(t, first, "another prompt", 2))
	sameWords := store("seed2.png", "image/png", prompted(t, second, "a lighthouse ", 2))
	alone := store("alone.png", "image/png", prompted(t, third, "a garden", 3))

	var got client.FindDuplicatesOutput
	servicetest.Eventually(t, "the pictures are compared", func() (err error) {
		got, err = api.FindDuplicates(t.Context(), client.FindDuplicatesInput{AssetH: best})
		if err == nil && (got.Total != 1 || got.Groups[0].Total != 3) {
			err = fmt.Errorf("the groups are %+v", got)
		}
		return err
	})
	want := []string{best, copied, again}
	slices.Sort(want)
	if g := got.Groups[0]; !slices.Equal(groupHashes(g), want) || g.SuggestedKeeper == copied || g.Assets[0].AssetH != g.SuggestedKeeper {
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
	i := slices.IndexFunc(whole.Groups, func(g client.SearchDuplicateGroup) bool { return slices.Contains(groupHashes(g), best) })
	if i < 0 || whole.Groups[i].SuggestedKeeper != copied {
		t.Errorf("in the whole library the groups are %+v", whole)
	}
	for _, g := range whole.Groups {
		if slices.Contains(groupHashes(g), alone) || slices.Contains(groupHashes(g), sameWords) {
			t.Errorf("a picture that looks like no other is in %+v", g)
		}
	}
	w.checkStacks(best, sameWords)
	token := w.StoreFile("", "alone.png", "image/png", prompted(t, third, "a garden", 3), "indexed").IndexToken
	w.Search("", "tag:indexed", token)
	w.checkDuplicatesAmong(best)
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

// checkDuplicatesAmong finds duplicates among the results of a search, which is no search from an asset.
func (w world) checkDuplicatesAmong(best string) {
	t, api := w.T, w.Client("")
	t.Helper()
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
}

// smaller returns a picture as a JPEG that lost some of it.
func smaller(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 60}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// groupHashes returns the assets of a group in the order of their hashes.
func groupHashes(g client.SearchDuplicateGroup) (list []string) {
	for _, a := range g.Assets {
		list = append(list, a.AssetH)
	}
	slices.Sort(list)
	return list
}

// checkStacks finds the stack of two assets with the same prompt.
func (w world) checkStacks(best, sameWords string) {
	t, api := w.T, w.Client("")
	t.Helper()
	stack, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{By: "prompt", AssetH: best})
	pair := []string{best, sameWords}
	slices.Sort(pair)
	if err != nil || stack.Total != 1 || !slices.Equal(groupHashes(stack.Groups[0]), pair) {
		t.Errorf("by prompt it is %+v, %v", stack, err)
	}
}

// TestDuplicates_AreFoundInSearchesAndStayApartOnceUnlinked follows two copies of a picture
// through queries, an unlink, its undo, the trash and other eyes.
func TestDuplicates_AreFoundInSearchesAndStayApartOnceUnlinked(t *testing.T) {
	t.Parallel()
	w := worldOf(servicetest.Shared(t))
	api := w.Client("")
	img := drawn(1, 71, 384, 320)
	one := w.StoreFile("", "one.png", "image/png", prompted(t, img, "a harbor", 1), "pair").Asset.AssetH
	two := w.StoreFile("", "two.png", "image/png", prompted(t, img, "a harbor at night", 2), "pair").Asset.AssetH
	w.StoreFile("", "three.png", "image/png", prompted(t, drawn(4, 72, 384, 320), "a forest", 3), "pair")
	want := func(what string, duplicates, groups int) {
		t.Helper()
		servicetest.Eventually(t, what, func() error {
			found := w.Search("", "tag:pair is:duplicate", "")
			got, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{AssetH: one})
			if err == nil && (found.Total != duplicates || got.Total != groups || w.Search("", "tag:pair -is:duplicate", "").Total != 3-duplicates && duplicates > 0) {
				err = fmt.Errorf("%d are duplicates, in %d groups", found.Total, got.Total)
			}
			return err
		})
	}
	want("the copies are duplicates", 2, 1)
	unlinked, err := api.UnlinkDuplicates(t.Context(), client.UnlinkDuplicatesInput{AssetHs: []string{one, two}})
	if err != nil || unlinked.Changed != 1 || unlinked.OperationID == "" {
		t.Fatalf("%+v, %v", unlinked, err)
	}
	want("unlinked they are none", 0, 0)
	whole, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range whole.Groups {
		for _, a := range g.Assets {
			if a.AssetH == one || a.AssetH == two {
				t.Errorf("after the unlink a group is %+v", g)
			}
		}
	}
	if again, err := api.UnlinkDuplicates(t.Context(), client.UnlinkDuplicatesInput{AssetHs: []string{two, one}}); err != nil || again.Unchanged != 1 || again.OperationID != "" {
		t.Errorf("a second time it is %+v, %v", again, err)
	}
	if _, err := api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: unlinked.OperationID}); err != nil {
		t.Fatal(err)
	}
	want("the undo links them again", 2, 1)
	if _, err := api.TrashAssets(t.Context(), client.TrashAssetsInput{AssetHs: []string{two}, Operation: "trash"}); err != nil {
		t.Fatal(err)
	}
	want("what is in the trash is like nothing", 0, 0)
	if _, err := api.TrashAssets(t.Context(), client.TrashAssetsInput{AssetHs: []string{two}, Operation: "restore"}); err != nil {
		t.Fatal(err)
	}
	want("it comes back as a duplicate", 2, 1)
	if got, err := api.UnlinkDuplicates(t.Context(), client.UnlinkDuplicatesInput{AssetHs: []string{one, strings.Repeat("0", 40)}}); err != nil || got.Changed != 0 || len(got.NotFound) != 1 {
		t.Errorf("with an unknown asset it is %+v, %v", got, err)
	}
	if got, err := api.UnlinkDuplicates(t.Context(), client.UnlinkDuplicatesInput{AssetHs: []string{one, strings.ToUpper(one)}}); err != nil || got.Changed+got.Unchanged != 0 {
		t.Errorf("one asset twice is %+v, %v", got, err)
	}
}

// TestFindDuplicates_ByWorkflow stacks what the same graph made, whatever seed and prompt
// it was given.
func TestFindDuplicates_ByWorkflow(t *testing.T) {
	t.Parallel()
	w := worldOf(servicetest.Shared(t))
	api := w.Client("")
	graph := func(img image.Image, seed int, text string, nodes string) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return withText(b.Bytes(), "prompt", fmt.Sprintf(`{"1":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"m.safetensors"}},"2":{"class_type":"CLIPTextEncode","inputs":{"text":%q,"clip":["1",1]}},
			"3":{"class_type":"KSampler","inputs":{"seed":%d,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["1",0],"positive":["2",0],"negative":["2",0],"latent_image":["4",0]}},
			"4":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},"5":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["1",2]}}%s}`, text, seed, nodes))
	}
	a := w.StoreFile("", "wf1.png", "image/png", graph(drawn(2, 81, 64, 64), 1, "a cave", ""), "graphs").Asset.AssetH
	b := w.StoreFile("", "wf2.png", "image/png", graph(drawn(2, 82, 64, 64), 2, "a lake", ""), "graphs").Asset.AssetH
	other := w.StoreFile("", "wf3.png", "image/png", graph(drawn(2, 83, 64, 64), 3, "a cave", `,"6":{"class_type":"ImageScaleBy","inputs":{"image":["5",0],"scale_by":2,"upscale_method":"lanczos"}}`), "graphs").Asset.AssetH
	got, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{By: "workflow", AssetH: a})
	if err != nil || got.Total != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	var list []string
	for _, x := range got.Groups[0].Assets {
		list = append(list, x.AssetH)
	}
	slices.Sort(list)
	want := []string{a, b}
	slices.Sort(want)
	if !slices.Equal(list, want) {
		t.Errorf("the same graph made %v, want %v; another one made %s", list, want, other)
	}
	if got, err := api.FindDuplicates(t.Context(), client.FindDuplicatesInput{By: "workflow", AssetH: other}); err != nil || got.Total != 0 {
		t.Errorf("what no other file was made with is in %+v, %v", got, err)
	}
}
