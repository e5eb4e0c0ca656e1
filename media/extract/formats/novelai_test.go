package formats

import (
	"encoding/json"
	"testing"

	"vitrine/media/extract/container"
)

const novelComment = `{"prompt": "two foxes", "steps": 23, "height": 1024, "width": 832, "scale": 5.0, "uncond_scale": 0.0, "seed": 42, "n_samples": 1,
 "noise_schedule": "karras", "sampler": "k_euler_ancestral", "uc": "blurry", "request_type": "PromptGenerateRequest", "strength": 0.7,
 "v4_prompt": {"caption": {"base_caption": "two foxes", "char_captions": [{"char_caption": "red fox", "centers": [{"x": 0.5, "y": 0.3}]}, {"char_caption": "white fox", "centers": []}]}},
 "v4_negative_prompt": {"caption": {"base_caption": "blurry", "char_captions": [{"char_caption": ""}, {"char_caption": "grey"}]}}}`

var novelWant = facts{Tool: "novelai", Positive: "two foxes", Negative: "blurry", Seed: 42, Steps: 23, CFG: 5, Sampler: "k_euler_ancestral", Scheduler: "karras",
	W: 832, H: 1024, Model: "NovelAI Diffusion V4.5 C02D4F98", Models: []string{"checkpoint NovelAI Diffusion V4.5 C02D4F98 #C02D4F98"}}

func novelChunks() []container.Chunk {
	return []container.Chunk{png("Title", "NovelAI generated image"), png("Description", "two foxes"), png("Software", "NovelAI"),
		png("Source", "NovelAI Diffusion V4.5 C02D4F98"), png("Comment", novelComment)}
}

func TestNovelAI(t *testing.T) {
	l := readAs(t, "novelai", novelChunks()...)
	diff(t, novelWant, factsOf(l))
	var got []string
	for _, r := range l.Regions {
		got = append(got, r.Kind+" "+val(r.Positive)+" | "+val(r.Negative)+" | "+r.Name)
	}
	diff(t, []string{"character red fox |  | at 0.5, 0.3", "character white fox | grey | "}, got)
}

func TestNovelAI_BundledInOneField(t *testing.T) {
	bundle, _ := json.Marshal(map[string]string{"Comment": novelComment, "Description": "\x00\x00two foxes", "Software": "NovelAI", "Source": "NovelAI Diffusion V4.5 C02D4F98"})
	for _, c := range []container.Chunk{exif(string(bundle)), chunk("png:stealth", "stealth", string(bundle))} {
		diff(t, novelWant, factsOf(readAs(t, "novelai", c)))
	}
}

func TestNovelAI_OfTheFirstModels(t *testing.T) {
	l := readAs(t, "novelai", png("Description", "a fox"), png("Software", "NovelAI"), png("Source", "Stable Diffusion 1D44365E"),
		png("Comment", `{"steps": 28, "sampler": "k_euler_ancestral", "seed": 7, "strength": 0.69, "noise": 0.667, "scale": 11.0, "uc": "ugly"}`))
	diff(t, facts{Tool: "novelai", Positive: "a fox", Negative: "ugly", Seed: 7, Steps: 28, CFG: 11, Sampler: "k_euler_ancestral",
		Model: "Stable Diffusion 1D44365E", Models: []string{"checkpoint Stable Diffusion 1D44365E #1D44365E"}}, factsOf(l))
}

// TestNovelAI_CharactersWithoutCoordinates: their places are the form's defaults.
func TestNovelAI_CharactersWithoutCoordinates(t *testing.T) {
	for coords, want := range map[string]string{"true": "at 0.5, 0.5", "false": ""} {
		l := readAs(t, "novelai", png("Comment", `{"prompt": "a fox", "v4_prompt": {"caption": {"base_caption": "a fox", "char_captions":
		 [{"char_caption": "red fox", "centers": [{"x": 0.5, "y": 0.5}]}]}, "use_coords": `+coords+`}}`))
		if len(l.Regions) != 1 || l.Regions[0].Name != want || val(l.Regions[0].Positive) != "red fox" {
			t.Errorf("use_coords %s: got %+v", coords, l.Regions)
		}
	}
}

func TestNovelAI_KeepsTheStrengthsOfReferences(t *testing.T) {
	const settings = `{"prompt": "a fox", "steps": 28, "scale": 5.0, "uncond_scale": 0.0, "sampler": "k_euler", "noise_schedule": "karras", "uc": "",
	 "strength": 0.45, "noise": 0.1, "reference_strength_multiple": [0.6, 0.3], "reference_information_extracted_multiple": [], "request_type": "`
	made := readAs(t, "novelai", png("Comment", settings+`Img2ImgRequest"}`))
	diff(t, map[string]string{"request_type": "Img2ImgRequest", "uncond_scale": "0.0", "noise": "0.1", "reference_strength_multiple": "[0.6,0.3]"}, made.Extra)
	if got := factsOf(made).Denoise; got != 0.45 {
		t.Errorf("denoise %v", got)
	}
	drawn := readAs(t, "novelai", png("Comment", settings+`PromptGenerateRequest"}`))
	if _, stale := drawn.Extra["noise"]; stale || factsOf(drawn).Denoise != 0 {
		t.Errorf("strength and noise count for pictures made of a picture only: %v", drawn.Extra)
	}
}

func TestNovelAI_AnotherWritersNegativePromptIsNoNovelAI(t *testing.T) {
	diff(t, []string{"plain-json"}, rules(png("Comment", `{"prompt": "a fox", "uc": "ugly", "sampler": "euler", "steps": 20}`)))
}

// TestNovelAI_EditorsNameIsNoModel: they keep the comment and put their name beside it.
func TestNovelAI_EditorsNameIsNoModel(t *testing.T) {
	edited := readAs(t, "novelai", png("Comment", novelComment), png("Software", "GIMP 2.10"), png("Source", "Studio Fox"))
	if f := factsOf(edited); f.Model != "" || f.Models != nil {
		t.Errorf("model %q, %v", f.Model, f.Models)
	}
	moved := readAs(t, "draw-things", exif(drawRecord), chunk("xmp", "xmp:CreatorTool", "Adobe Photoshop 25.0"))
	if moved.ToolVersion != "" {
		t.Errorf("version %q", moved.ToolVersion)
	}
}
