package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

// TestPrompts_ImagesAreLinkedToTheVersionThatTheyRender saves a prompt among images,
// renders it, stores an image of the render, and reads both back.
func TestPrompts_ImagesAreLinkedToTheVersionThatTheyRender(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	before := w.StoreFile("", "before.png", "image/png", picture(700, "a grim portrait of an old king,\nhard studio (light:1.2) <lora:film:0.6>"))
	made, err := api.CreatePrompt(ctx, client.CreatePromptInput{PromptText: "a {{mood|calm}} portrait of {{subject}}, {{light:enum(soft, hard)|soft}} studio light",
		Name: "Studio portrait", Category: "portrait", TargetModel: "flux", Tags: []string{"people"}, Labels: []string{"production"}})
	if err != nil || made.AlreadyExists || len(made.Variables) != 3 || made.Version != 1 {
		t.Fatalf("%+v %v", made, err)
	}
	rendered, err := api.RenderPrompt(ctx, client.RenderPromptInput{PromptH: made.PromptH, Variables: map[string]any{"subject": "a red fox"}})
	if err != nil || rendered.Text != "a calm portrait of a red fox, soft studio light" || rendered.VersionH != made.VersionH || len(rendered.RenderH) != 40 {
		t.Fatalf("%+v %v", rendered, err)
	}
	after := w.StoreFile("", "after.png", "image/png", picture(701, rendered.Text))
	w.StoreFile("", "other.png", "image/png", picture(702, rendered.Text+", 4k"))
	images := linkedImages(t, api, made.PromptH)
	want := []string{before.Asset.AssetH, after.Asset.AssetH}
	if slices.Sort(want); !slices.Equal(images, want) {
		t.Errorf("the images are %v, want %v", images, want)
	}
	changed, err := api.UpdatePrompt(ctx, client.UpdatePromptInput{PromptH: made.PromptH, Labels: []string{"production"},
		PromptText: new("a {{mood|calm}} portrait of {{subject}}, {{light:enum(soft, hard)|soft}} studio light, 4k"), Message: "Sharper."})
	if err != nil || !changed.VersionAdded || changed.Version != 2 || !slices.Equal(changed.Labels, []string{"production"}) {
		t.Fatalf("%+v %v", changed, err)
	}
	if images = linkedImages(t, api, made.PromptH); len(images) != 1 {
		t.Errorf("the second version has %v", images)
	}
	w.judgeRender(made.PromptH, after.Asset.AssetH)
	got, err := api.GetPrompt(ctx, client.GetPromptInput{PromptH: made.PromptH, Version: "1"})
	if err != nil || got.Images != 2 || got.VersionCount != 2 || len(got.Samples) != 2 || got.Samples[0].AssetH != after.Asset.AssetH || got.ImageRating.Mean != 5 ||
		got.Evaluations != 1 || got.Scores["adherence"].Mean != 4 || got.Versions[0].Version != 2 || got.Versions[0].Message != "Sharper." {
		t.Errorf("%+v %v", got, err)
	}
	found, err := api.SearchPrompts(ctx, client.SearchPromptsInput{Query: "portraits", Category: "Portrait", Label: "production"})
	if err != nil || found.Total != 1 || found.Data[0].Images != 3 || found.Data[0].LabelVersions["production"] != 2 {
		t.Errorf("%+v %v", found, err)
	}
	w.findsImages("prompt_version_h:"+made.VersionH, before.Asset.AssetH, after.Asset.AssetH)
	w.findsImages("version_h:"+changed.VersionH, linkedImages(t, api, made.PromptH)...)
	w.findsImages("prompt_h:"+strings.ToUpper(made.PromptH)+" -version_h:"+changed.VersionH, before.Asset.AssetH, after.Asset.AssetH)
	w.isRenderOf(after.Asset.AssetH, made.PromptH)
	if _, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: changed.OperationID}); err != nil {
		t.Fatal(err)
	}
	if again, err := api.GetPrompt(ctx, client.GetPromptInput{PromptH: made.PromptH}); err != nil || again.Version != 1 || again.VersionCount != 1 {
		t.Errorf("undone: %+v %v", again, err)
	}
	w.findsImages("has:saved_prompt prompt_h:"+made.PromptH, before.Asset.AssetH, after.Asset.AssetH)
	if _, err := api.DeletePrompt(ctx, client.DeletePromptInput{PromptH: made.PromptH}); err != nil {
		t.Fatal(err)
	}
	w.findsImages("prompt_h:" + made.PromptH)
}

// judgeRender scores the first version of a prompt, and rates an image of it.
func (w world) judgeRender(prompt, asset string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	score := map[string]float64{"adherence": 4}
	if _, err := api.UpdatePrompt(ctx, client.UpdatePromptInput{PromptH: prompt, Version: "1", Evaluation: &client.PromptEvaluation{Scores: score}}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: asset, Rating: new(5)}); err != nil {
		t.Fatal(err)
	}
}

// isRenderOf checks that an image is known as a render of the first version of a prompt.
func (w world) isRenderOf(asset, prompt string) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	details, err := api.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: asset})
	if err != nil || len(details.Prompts.RenderOf) != 1 || details.Prompts.RenderOf[0].PromptH != prompt || details.Prompts.RenderOf[0].Version != 1 || details.Prompts.RenderOf[0].Name != "Studio portrait" {
		t.Errorf("the image is a render of %+v %v", details.Prompts, err)
	}
}

// findsImages waits until a query finds some images, and no others.
func (w world) findsImages(query string, want ...string) {
	w.T.Helper()
	want = slices.Sorted(slices.Values(want))
	servicetest.Eventually(w.T, query, func() error {
		page, err := w.Client("").SearchAssets(w.T.Context(), client.SearchAssetsInput{Query: query})
		var got []string
		for _, hit := range page.Data {
			got = append(got, hit.AssetH)
		}
		if slices.Sort(got); err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%s finds %v, want %v", query, got, want)
		}
		return err
	})
}

// linkedImages waits until the library was searched for a prompt's images, and returns those
// of the version that is used.
func linkedImages(t *testing.T, api *client.Client, prompt string) []string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		page, err := api.GetPromptImages(t.Context(), client.GetPromptImagesInput{PromptH: prompt})
		if err != nil {
			t.Fatal(err)
		}
		if page.Linking && time.Now().Before(end) {
			continue
		}
		var list []string
		for _, a := range page.Data {
			list = append(list, a.AssetH)
		}
		slices.Sort(list)
		return list
	}
}

// TestPrompts_ErrorsNameEverythingAtOnce sends what cannot be and looks at the errors.
func TestPrompts_ErrorsNameEverythingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	made, err := api.CreatePrompt(ctx, client.CreatePromptInput{PromptText: "{{a}} {{b:integer}} {{c}} in the snow"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.RenderPrompt(ctx, client.RenderPromptInput{PromptH: made.PromptH, Variables: map[string]any{"b": "x", "d": 1, "e": 2}})
	if text := fmt.Sprint(err); problemCode(err) != "VALIDATION_FAILED" {
		t.Errorf("%s", text)
	} else {
		for _, field := range []string{"variables.a", "variables.b", "variables.c", "variables.d", "variables.e"} {
			if !strings.Contains(text, field) {
				t.Errorf("%s is not named: %s", field, text)
			}
		}
	}
	again, err := api.CreatePrompt(ctx, client.CreatePromptInput{PromptText: " {{a}} {{b:integer}} {{c}} in the snow\r\n", Name: "Again"})
	if err != nil || !again.AlreadyExists || again.PromptH != made.PromptH || again.Name != "" || again.OperationID != "" {
		t.Errorf("%+v %v", again, err)
	}
	for what, in := range map[string]client.UpdatePromptInput{
		"a label that is a number":  {PromptH: made.PromptH, Labels: []string{"3"}},
		"the label latest":          {PromptH: made.PromptH, Labels: []string{"Latest"}},
		"a label with a space":      {PromptH: made.PromptH, Labels: []string{"in use"}},
		"a score of 6":              {PromptH: made.PromptH, Evaluation: &client.PromptEvaluation{Scores: map[string]float64{"x": 6}}},
		"no scores":                 {PromptH: made.PromptH, Evaluation: &client.PromptEvaluation{Scores: map[string]float64{}}},
		"a message without version": {PromptH: made.PromptH, Name: new("x"), Message: "y"},
		"nothing to change":         {PromptH: made.PromptH},
		"an unknown type":           {PromptH: made.PromptH, PromptText: new("{{a:colour}}")},
	} {
		if _, err := api.UpdatePrompt(ctx, in); problemCode(err) != "VALIDATION_FAILED" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := api.GetPrompt(ctx, client.GetPromptInput{PromptH: made.PromptH, Version: "staging"}); problemCode(err) != "NOT_FOUND" {
		t.Errorf("a label that there is not: %v", err)
	}
}

// TestPrompts_AreProposedFromImagesThatDifferInAFewWords proposes a template, saves it, and
// finds the images linked to it.
func TestPrompts_AreProposedFromImagesThatDifferInAFewWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	var hashes []string
	for i, text := range []string{"a red fox in deep snow, film grain", "a blue owl in deep snow, (film grain:1.2)", "", "nothing like the others"} {
		hashes = append(hashes, w.StoreFile("", fmt.Sprintf("proposed-%d.png", i), "image/png", picture(750+i, text)).Asset.AssetH)
	}
	nobody := strings.Repeat("0", 40)
	got, err := api.ProposePrompts(ctx, client.ProposePromptsInput{AssetHs: append(hashes, nobody)})
	if err != nil || len(got.Data) != 2 || got.Data[0].PromptText != "a {{v1}} in deep snow, film grain" || !slices.Equal(got.Data[0].AssetHs, hashes[:2]) ||
		!slices.Equal(got.Data[0].Variables[0].Values, []string{"red fox", "blue owl"}) || !slices.Equal(got.LeftOut, []string{hashes[2], nobody}) {
		t.Fatalf("%+v %v", got, err)
	}
	made, err := api.CreatePrompt(ctx, client.CreatePromptInput{PromptText: got.Data[0].PromptText})
	if err != nil {
		t.Fatal(err)
	}
	if images := linkedImages(t, api, made.PromptH); len(images) != 2 {
		t.Errorf("%v are linked", images)
	}
	if again, err := api.ProposePrompts(ctx, client.ProposePromptsInput{AssetHs: hashes}); err != nil || again.Data[0].PromptH != made.PromptH {
		t.Errorf("%+v %v", again, err)
	}
}
