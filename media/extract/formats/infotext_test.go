package formats

import (
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/media/extract/container"
)

func TestInfotext(t *testing.T) {
	for _, tt := range infotexts {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range []container.Chunk{png("parameters", tt.text), exif(tt.text), chunk("mp4:ilst", "comment", tt.text), chunk("sidecar:txt", "parameters", tt.text)} {
				diff(t, tt.want, factsOf(readAs(t, "infotext", c)))
			}
		})
	}
}

// infotexts are texts of generation settings and what is read from them.
var infotexts = []struct {
	name, text string
	want       facts
}{
	{"the common form", "a fox,\nin snow\nNegative prompt: blurry,\nugly\nSteps: 20, Sampler: Euler a, Schedule type: Automatic, CFG scale: 7, Seed: 42, Size: 512x768, Model hash: 0a1b2c3d4e, Model: fox_v2, Clip skip: 2, Version: v1.10.1",
		facts{Tool: "sd-webui", Version: "v1.10.1", Positive: "a fox,\nin snow", Negative: "blurry,\nugly", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler a",
			Scheduler: "Automatic", W: 512, H: 768, ClipSkip: 2, Model: "fox_v2", Models: []string{"checkpoint fox_v2 #0a1b2c3d4e"}}},
	{"line ends of Windows", "a fox\r\nNegative prompt: ugly\r\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"no negative prompt", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"no prompt at all", "Negative prompt: ugly\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Negative: "ugly", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"steps within the prompt", "dance manual, Steps: 3 to the left\nSteps: 5 and twirl\nNegative prompt: Steps: none\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "dance manual, Steps: 3 to the left\nSteps: 5 and twirl", Negative: "Steps: none", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"a schedule in the sampler's name", "a fox\nSteps: 20, Sampler: DPM++ 2M Karras, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "DPM++ 2M Karras", Scheduler: "Karras"}},
	{"lost line breaks", "a fox Negative prompt: ugly Steps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"settings in another order", "a fox\nSampler: Euler, Seed: 42, Steps: 20, CFG Scale: 7.5",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7.5, Sampler: "Euler"}},
	{"prefixed keys of extensions", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, ADetailer model: face.pt, ADetailer steps: 9, ADetailer version: 24.1, Version: neo",
		facts{Tool: "forge-neo", Version: "neo", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler", Models: []string{"detector face.pt"}}},
	{"a template after the settings", "a red fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42\nTemplate: a {red|white} fox, Steps: many",
		facts{Tool: "sd-webui", Positive: "a red fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"a prompt that starts with a brace", "{red|white} fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42",
		facts{Tool: "sd-webui", Positive: "{red|white} fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"image to image", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Denoising strength: 0.55",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler", Denoise: 0.55}},
	{"an upscaling pass", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Size: 512x512, Denoising strength: 0.4, Hires upscale: 2, Hires steps: 8, Hires upscaler: 4x-Sharp",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler", W: 512, H: 512, Models: []string{"upscaler 4x-Sharp"},
			Hires: `{"scale":2,"upscaler":"4x-Sharp","steps":8,"denoise":0.4}`}},
	{"the size of the first pass", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Size: 1024x1024, Denoising strength: 0.7, First pass size: 512x512",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler", W: 512, H: 512, Hires: `{"scale":2,"width":1024,"height":1024,"denoise":0.7}`}},
	{"a distilled model of Forge", "a fox\nSteps: 20, Sampler: Euler, Schedule type: Simple, CFG scale: 1, Distilled CFG Scale: 3.5, Seed: 42, Model: flux, Version: f2.0.1v1.10.1-previous-659-gc055f2d4, Module 1: ae, Module 2: t5xxl_fp8",
		facts{Tool: "forge", Version: "f2.0.1v1.10.1-previous-659-gc055f2d4", Positive: "a fox", Seed: 42, Steps: 20, CFG: 1, Guidance: 3.5, Sampler: "Euler", Scheduler: "Simple",
			Model: "flux", Models: []string{"checkpoint flux", "vae ae", "clip t5xxl_fp8"}}},
	{"only a hash names the model", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Model hash: 45dee52b",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler", Models: []string{"checkpoint 45dee52b #45dee52b"}}},
	{"SD.Next", "a fox\nSteps: 20, Size: 512x512, Sampler: UniPC, Seed: 42, CFG scale: 6, App: SD.Next, Version: 56a8aea, Model: fox",
		facts{Tool: "sd-next", Version: "56a8aea", Positive: "a fox", Seed: 42, Steps: 20, CFG: 6, Sampler: "UniPC", W: 512, H: 512, Model: "fox", Models: []string{"checkpoint fox"}}},
	{"Fooocus's text scheme", "a fox\nNegative prompt: ugly\nSteps: 30, Sampler: DPM++ 2M SDE Karras, Scheduler: karras, Seed: 42, Size: 512x512, CFG scale: 4, Model: jug, Model hash: aa11, Lora hashes: \"offset: 4852686128: 0.1\", Lora weights: \"offset: 0.1\", Version: Fooocus v2.5.5",
		facts{Tool: "fooocus", Version: "Fooocus v2.5.5", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 30, CFG: 4, Sampler: "DPM++ 2M SDE Karras", Scheduler: "karras", W: 512, H: 512,
			Model: "jug", Models: []string{"checkpoint jug #aa11", "lora offset #4852686128 *0.1"}}},
	{"Civitai's text", `a fox` + "\n" + `Steps: 25, Sampler: Euler a, CFG scale: 5, Seed: 42, Civitai resources: [{"type":"checkpoint","modelVersionId":25,"modelName":"Fox","modelVersionName":"v1"},{"type":"lora","weight":0.5,"modelVersionId":26,"modelName":"Snow, deep"}], Civitai metadata: {"a":[1,2]}`,
		facts{Tool: "civitai", Positive: "a fox", Seed: 42, Steps: 25, CFG: 5, Sampler: "Euler a", Model: "Fox", Models: []string{"checkpoint Fox", "lora Snow, deep *0.5"}}},
	{"no steps of enlarging are no pass", "a fox\nSteps: 20, Seed: 42, Sampler: UniPC, CFG scale: 6, Size: 512x768, Hires steps: 0, App: SD.Next",
		facts{Tool: "sd-next", Positive: "a fox", Seed: 42, Steps: 20, CFG: 6, Sampler: "UniPC", W: 512, H: 768}},
	{"SD.Next enlarges", "a fox\nNegative prompt: \nSteps: 20, Size: 512x512, Sampler: UniPC, Seed: 42, CFG scale: 6, Batch: 1x4, App: SD.Next, Version: 56a8aea, UNet: bare, TE: t5xxl, Refine: True, Hires upscaler: 4xSharp, Hires scale: 2.0, Hires size: 1024x1024, Hires steps: 9, Hires strength: 0.4, Detailer: face.pt, Detailer steps: 5, Embeddings: \"easyneg, bad\"",
		facts{Tool: "sd-next", Version: "56a8aea", Positive: "a fox", Seed: 42, Steps: 20, CFG: 6, Sampler: "UniPC", W: 512, H: 512,
			Models: []string{"unet bare", "clip t5xxl", "embedding easyneg", "embedding bad", "upscaler 4xSharp", "detector face.pt"},
			Hires:  `{"scale":2,"width":1024,"height":1024,"upscaler":"4xSharp","steps":9,"denoise":0.4}`}},
	{"a refiner's steps", "a fox\nSteps: 20, Sampler: Euler, Seed: 42, App: SD.Next, Refiner: fine, Hires steps: 5",
		facts{Tool: "sd-next", Positive: "a fox", Seed: 42, Steps: 20, Sampler: "Euler", Models: []string{"checkpoint fine"}}},
	{"the picture it was made from", "a fox\nSteps: 20, Sampler: Euler, Seed: 42, Denoising strength: 0.5, Init image hash: aabb",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, Sampler: "Euler", Denoise: 0.5, Parents: []string{"init_image "}}},
	{"two settings only", "a fox\nNegative prompt: ugly\n  Steps: 20, Sampler: Euler a  ",
		facts{Tool: "sd-webui", Positive: "a fox", Negative: "ugly", Steps: 20, Sampler: "Euler a"}},
	{"a stray word after a number", "a fox\nSteps: 20, Sampler: Euler, Seed: 42, stray, 2nd pass: on, CFG scale: 7",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler"}},
	{"no space after commas", "a fox\nSteps: 20,Sampler: Euler,Seed: 42,Model hash: aa11,Model: fox",
		facts{Tool: "sd-webui", Positive: "a fox", Seed: 42, Steps: 20, Sampler: "Euler", Model: "fox", Models: []string{"checkpoint fox #aa11"}}},
	{"a random seed is no seed", "a fox\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: -1",
		facts{Tool: "sd-webui", Positive: "a fox", Steps: 20, CFG: 7, Sampler: "Euler"}},
}

func TestInfotext_Tools(t *testing.T) {
	for version, tool := range map[string]string{
		"v1.10.1": "sd-webui", "1.4.0": "sd-webui", "classic": "forge-classic", "neo": "forge-neo", "neo-2.1": "forge-neo", "ComfyUI": "comfyui", "ComfyUI version: 0.3.10": "comfyui", "stable-diffusion.cpp": "stable-diffusion.cpp",
		"f0.0.17v1.8.0rc-latest-276-g29be1da7": "forge", "f2.0.1v1.10.1-previous-1-gabc": "forge",
		"f1.0.0v2-v1.10.1RC-latest-2498-g5120e679": "reforge", "f1.3.0-v1.10.1RC-latest-1038-g19395bf9": "easy-reforge", "Fooocus v2.5.0": "fooocus",
	} {
		got, _ := infotextTool(settings{{"Version", version}})
		if got != tool {
			t.Errorf("version %s is of %s, want %s", version, got, tool)
		}
	}
}

func TestInfotext_SettingsKeepQuotedCommasAndJSON(t *testing.T) {
	got := parseSettings(`Steps: 20, Lora hashes: "a: 11, b: 22", Hashes: {"model": "33", "lora:a": "11"}, Hires prompt: "one, \"two\": three", Ratio: 16:9, Note: red, blue, green, Version: v1`)
	diff(t, []string{"Steps=20", "Lora hashes=a: 11, b: 22", `Hashes={"model": "33", "lora:a": "11"}`, `Hires prompt=one, "two": three`, "Ratio=16:9", "Note=red, blue, green", "Version=v1"}, pairTexts(got))
}

func TestInfotext_SettingsWithAnOpenQuoteGoOnAtTheComma(t *testing.T) {
	s := parseSettings(`Steps: 20, Lora hashes: "a: 11, Sampler: Euler, Seed: 5`)
	if s.get("Sampler") != "Euler" || s.get("Seed") != "5" {
		t.Errorf("the settings after an open quote are lost: %v", s)
	}
}

func pairTexts(s settings) []string {
	var out []string
	for _, p := range s {
		out = append(out, p.key+"="+p.value)
	}
	return out
}

func TestInfotext_Models(t *testing.T) {
	text := "<lora:style_a:0.8> fox <lora:off:0> <lyco:tone:0.4:0.6> <hypernet:ink:0.3>\nNegative prompt: <lora:neg:1>\n" +
		`Steps: 20, Sampler: Euler, Seed: 1, Model: base, VAE hash: vh, VAE: soft.vae.pt, ` +
		`ControlNet 0: "Module: canny, Model: control_canny [d14c016b], Weight: 0.9, Resize Mode: Crop", ` +
		`Refiner: refine [7440042bbd], Refiner switch at: 0.8, Hires upscale: 2, Hires upscaler: Latent, ` +
		`Lora hashes: "style_a: 1111aaaa", TI hashes: "easyneg: 2222bbbb", Hashes: {"embed:bad": "3333", "LORA:style_a": "1111aaaa", "LORA:late": "5555", "model": "4444"}`
	l := readAs(t, "infotext", png("parameters", text))
	diff(t, []string{"checkpoint base #4444", "vae soft.vae.pt #vh", "lora style_a #1111aaaa *0.8", "lora tone *0.6", "hypernetwork ink *0.3",
		"embedding easyneg #2222bbbb", "lora late #5555", "embedding bad #3333", "controlnet control_canny #d14c016b *0.9", "checkpoint refine #7440042bbd"}, factsOf(l).Models)
}

func TestInfotext_NamesThatAreNoModel(t *testing.T) {
	fooocus := "fox\nSteps: 30, Sampler: DPM++ 2M SDE Karras, Seed: 1, Model: base, VAE: Default (model), " +
		`Lora hashes: "fur: 4852686128, off: 1122334455", Lora weights: "fur: 0.1, off: 0.0, bare: 0.5", Version: Fooocus v2.5.5`
	diff(t, []string{"checkpoint base", "lora fur #4852686128 *0.1", "lora bare *0.5"}, factsOf(readAs(t, "infotext", png("parameters", fooocus))).Models)
	next := "fox\nSteps: 20, Sampler: UniPC, Seed: 1, Model: base, VAE: Remote, App: SD.Next"
	diff(t, []string{"checkpoint base"}, factsOf(readAs(t, "infotext", png("parameters", next))).Models)
}

func TestInfotext_HiresStrengthLeavesTheBasePassItsOwn(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "fox\nSteps: 20, Sampler: UniPC, Seed: 1, Hires scale: 2, Hires strength: 0.3, Denoising strength: 0.6, App: SD.Next"))
	if val(l.Parameters.Denoise) != 0.6 || val(l.Hires.Denoise) != 0.3 {
		t.Errorf("the base pass has %v, the second %v", val(l.Parameters.Denoise), val(l.Hires.Denoise))
	}
}

func TestInfotext_UpscalingPassOfForge(t *testing.T) {
	text := "fox\nSteps: 20, Sampler: Euler, Seed: 1, Model: flux, CFG scale: 1, Distilled CFG Scale: 3.5, Hires upscale: 1.5, Hires upscaler: Latent, Hires CFG Scale: 2, " +
		"Hires Distilled CFG Scale: 4, Hires checkpoint: fine.safetensors [abcdef1234], Denoising strength: 0.4, Module 1: ae, Hires Module 1: "
	l := readAs(t, "infotext", png("parameters", text+"Use same choices"))
	if p := l.Samplers[1]; p.Model != "fine.safetensors" || val(p.Guidance) != 4 || val(p.CFGScale) != 2 || val(p.Denoise) != 0.4 {
		t.Errorf("the second pass is %+v", p)
	}
	diff(t, []string{"checkpoint flux", "vae ae", "checkpoint fine.safetensors #abcdef1234"}, factsOf(l).Models)
	l = readAs(t, "infotext", png("parameters", text+"t5_q8"))
	diff(t, []string{"checkpoint flux", "vae ae", "checkpoint fine.safetensors #abcdef1234", "clip t5_q8"}, factsOf(l).Models)
}

func TestInfotext_PassesStartWithTheBase(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "fox\nSteps: 20, Sampler: Euler, Seed: 1, Denoising strength: 0.3, Hires upscale: 2, Hires steps: 9, Hires prompt: \"fox, close\", ADetailer model: face.pt, ADetailer prompt: eyes"))
	var roles []string
	for _, p := range l.Samplers {
		roles = append(roles, p.Role+" "+val(p.Positive))
	}
	diff(t, []string{"base fox", "hires fox, close", "detailer eyes"}, roles)
}

func TestInfotext_PostprocessingIsAddedToTheText(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "fox\nSteps: 20, Sampler: Euler, Seed: 1"), png("postprocessing", "Postprocess upscale by: 4, Postprocess upscaler: 4xSharp"))
	if len(l.Models) != 1 || l.Models[0].Name != "4xSharp" || l.Extra["Postprocess upscale by"] != "4" {
		t.Errorf("read as %+v, %v", l.Models, l.Extra)
	}
}

func TestInfotext_AnEnlargedPictureWithoutATextTellsWhatEnlargedIt(t *testing.T) {
	l := readAs(t, "infotext", png("extras", "Postprocess upscale by: 4, Postprocess upscaler: 4xSharp"))
	if l.Tool != "sd-webui" || len(l.Models) != 1 || l.Models[0].Name != "4xSharp" || l.Positive != nil {
		t.Errorf("read as %+v", l)
	}
}

func TestInfotext_ACaptionWithAModelAndASizeIsNoSettingsLine(t *testing.T) {
	for text, want := range map[string]bool{
		"Model: Canon EOS, Size: 5x7, Seed: grass":         false,
		"a fox\nSeed: 12, Size: 512x512, Model: base":      true,
		"a fox\nSampler: Euler, CFG scale: 7, Model: base": true,
	} {
		if _, ok := parseInfotext(text); ok != want {
			t.Errorf("%q is taken for a record: %v", text, ok)
		}
	}
}

func TestInfotext_OfAnotherPictureIsNotMixedIn(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "fox\nSteps: 20, Sampler: Euler, Seed: 1"),
		exif("cat\nNegative prompt: dog\nSteps: 30, Sampler: DDIM, Seed: 2, Model: other"))
	want := facts{Tool: "sd-webui", Positive: "fox", Seed: 1, Steps: 20, Sampler: "Euler"}
	diff(t, want, factsOf(l))
}

func FuzzInfotext(f *testing.F) {
	f.Add("a fox\nNegative prompt: ugly\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 512x768, Model: fox, Hashes: {\"lora:a\": \"1\"}")
	f.Add("x Steps: 1, Sampler: \"a\\\"b\", Seed: 1, Lora hashes: \"a: b\", ControlNet 0: \"Model: c [d]\"")
	f.Add("<lora:a:te=0.1:unet=2> <hypernet:b:1>\nSteps: 1, Sampler: e, Seed: 18446744073709551615\nTemplate: x")
	f.Fuzz(func(t *testing.T, text string) {
		checkRecords(t, Read(open(png("parameters", text))))
		checkRecords(t, Read(open(exif(text), png("Comment", text))))
	})
}

// checkRecords holds what is true of every reading, whatever was read.
func checkRecords(t *testing.T, found []Record) {
	t.Helper()
	for _, f := range found {
		if f.Rule == "" || f.Place == "" && f.Lineage.HasGenerationData() {
			t.Errorf("a record without origin: %+v", f)
		}
		for i, m := range f.Lineage.Models {
			if m.Sequence != i || strings.TrimSpace(m.Name) == "" || m.Type == "" {
				t.Errorf("model %d is incomplete: %+v", i, m)
			}
		}
		checkParameters(t, f.Lineage.Parameters)
	}
}

func checkParameters(t *testing.T, p *library.GenerationParameters) {
	t.Helper()
	if p == nil {
		return
	}
	if *p == (library.GenerationParameters{}) {
		t.Error("settings in which nothing is set")
	}
	if p.Width != nil && *p.Width <= 0 || p.Height != nil && *p.Height <= 0 {
		t.Errorf("a size of %d by %d", *p.Width, val(p.Height))
	}
}
