package formats

import "testing"

func TestSites_CivitaiReadsWhatWasAskedFor(t *testing.T) {
	graph := `{"resource-stack":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"urn:air:sdxl:checkpoint:civitai:1@2"}},
	 "20":{"class_type":"UpscaleModelLoader","inputs":{"model_name":"urn:air:other:upscaler:civitai:3@4"}},
	 "11":{"class_type":"KSampler","inputs":{"steps":25,"denoise":0.3,"seed":42}},
	 "extra":{"airs":["urn:air:sdxl:checkpoint:civitai:1@2"]},
	 "extraMetadata":"{\u0022prompt\u0022:\u0022a fox\u0022,\u0022negativePrompt\u0022:\u0022ugly\u0022,\u0022steps\u0022:25,\u0022cfgScale\u0022:5,\u0022sampler\u0022:\u0022euler\u0022,\u0022seed\u0022:42,\u0022workflowId\u0022:\u0022img2img-hires\u0022,\u0022resources\u0022:[{\u0022modelVersionId\u0022:2,\u0022strength\u0022:1}]}"}`
	l := readAs(t, "civitai", exif(graph))
	diff(t, facts{Tool: "civitai", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 25, CFG: 5, Sampler: "euler", Models: []string{"other 2 *1"},
		Hires: `{"upscaler":"urn:air:other:upscaler:civitai:3@4","steps":25,"denoise":0.3}`}, factsOf(l))
}

func TestSites_TensorArt(t *testing.T) {
	l := readAs(t, "tensorart", png("generation_data", `{"prompt":"a fox","negativePrompt":"ugly","width":1024,"height":768,"steps":25,"cfgScale":7,"seed":"-1","clipSkip":2,
	 "baseModel":{"label":"v16","type":"BASE_MODEL","modelFileId":"9","modelFileName":"Fox-16","baseModel":"Illustrious","hash":"A5F5"},
	 "models":[{"type":"LORA","modelFileName":"Fur","weight":0.6,"hash":"B6"}],"sdVae":"Automatic","ksamplerName":"euler","schedule":"karras","guidance":3.5} `))
	diff(t, facts{Tool: "tensorart", Positive: "a fox", Negative: "ugly", Steps: 25, CFG: 7, Sampler: "euler", Scheduler: "karras", W: 1024, H: 768, ClipSkip: 2, Model: "Fox-16",
		Models: []string{"checkpoint Fox-16 #A5F5", "lora Fur #B6 *0.6"}}, factsOf(l))
}

func TestSites_TensorArtGuidanceCountsForItsKindOfModel(t *testing.T) {
	l := readAs(t, "tensorart", png("generation_data", `{"prompt":"a fox","cfgScale":1,"seed":"42","baseModel":{"modelFileName":"flux","baseModel":"FLUX.1"},"guidance":3.5}`))
	diff(t, facts{Tool: "tensorart", Positive: "a fox", Seed: 42, CFG: 1, Guidance: 3.5, Model: "flux", Models: []string{"checkpoint flux"}}, factsOf(l))
}

func TestSites_StabilityMatrix(t *testing.T) {
	values := png("parameters-json", `{"PositivePrompt":"a fox\r\n<lora:fur:0.5:0.4>","NegativePrompt":"ugly","Steps":20,"Sampler":"Euler Ancestral Karras","CfgScale":5,"Seed":42,"Height":768,"Width":1024,"ModelHash":"A5","ModelName":"fox.safetensors","FrameCount":0}`)
	project := png("smproj", `{"Version":2,"State":{"Sampler":{"SelectedSampler":{"Name":"euler_ancestral"},"SelectedScheduler":{"Name":"karras"}},"Model":{"ClipSkip":2,"IsClipSkipEnabled":true,"SelectedVaeName":"@default"}}}`)
	text := png("parameters", "a fox\nSteps: 20, Sampler: Euler Ancestral Karras, CFG scale: 5, Seed: 42")
	want := facts{Tool: "stability-matrix", Positive: "a fox\r\n<lora:fur:0.5:0.4>", Negative: "ugly", Seed: 42, Steps: 20, CFG: 5, Sampler: "euler_ancestral", Scheduler: "karras", W: 1024, H: 768,
		ClipSkip: 2, Model: "fox.safetensors", Models: []string{"checkpoint fox.safetensors #A5", "lora fur *0.5"}}
	diff(t, want, factsOf(readAs(t, "stability-matrix", text, values, project)))
	diff(t, []string{"stability-matrix"}, rules(text, values, project))
	want.Sampler, want.Scheduler, want.ClipSkip = "Euler Ancestral Karras", "Karras", 0
	diff(t, want, factsOf(readAs(t, "stability-matrix", values)))
}

func TestSites_HFSpace(t *testing.T) {
	l := readAs(t, "hf-space", png("parameters", `{"prompt": "a fox", "negative_prompt": "ugly", "resolution": "1024 x 768", "guidance_scale": 5.5, "num_inference_steps": 24, "seed": 42,
	 "sampler": "DPM++ 2M Karras", "Model": "Fox", "Model hash": "BD", "use_upscaler": {"upscale_method": "nearest-exact", "upscaler_strength": 0.55, "upscale_by": 1.5}}`))
	diff(t, facts{Tool: "hf-space", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 24, CFG: 5.5, Sampler: "DPM++ 2M Karras", Scheduler: "Karras", W: 1024, H: 768, Model: "Fox",
		Models: []string{"checkpoint Fox #BD"}, Hires: `{"scale":1.5,"upscaler":"nearest-exact","denoise":0.55}`}, factsOf(l))
}

func TestSites_HFSpaceNestsItsModel(t *testing.T) {
	l := readAs(t, "hf-space", png("parameters", `{"prompt": "a fox", "resolution": "512 x 512", "num_inference_steps": 24, "seed": 42, "Model": {"Model": "Fox", "Model hash": "e3"}, "use_lora": {"selected_lora": "fur", "multiplier": 0.5}}`))
	diff(t, facts{Tool: "hf-space", Positive: "a fox", Seed: 42, Steps: 24, W: 512, H: 512, Model: "Fox", Models: []string{"checkpoint Fox #e3", "lora fur *0.5"}}, factsOf(l))
}

// TestSites_ArgumentsOfDiffusersAreNoHFSpace: other services take the same.
func TestSites_ArgumentsOfDiffusersAreNoHFSpace(t *testing.T) {
	for _, resolution := range []string{"720p", "1024x1024"} {
		diff(t, []string{"plain-json"}, rules(png("parameters", `{"prompt": "a fox", "num_inference_steps": 30, "resolution": "`+resolution+`", "guidance_scale": 5, "seed": 5, "sampler": "unipc"}`)))
	}
}

func TestSites_TensorArtHires(t *testing.T) {
	record := func(on string) facts {
		return factsOf(readAs(t, "tensorart", png("generation_data", `{"prompt":"a fox","seed":"7","samplerName":"DPM++ 2M Karras","enableHr":`+on+
			`,"hrUpscale":2,"hrUpscaler":"sharp","hrSecondPassSteps":9,"denoisingStrength":0.4}`)))
	}
	want := facts{Tool: "tensorart", Positive: "a fox", Seed: 7, Sampler: "DPM++ 2M Karras", Scheduler: "Karras", Hires: `{"scale":2,"upscaler":"sharp","steps":9,"denoise":0.4}`}
	diff(t, want, record("true"))
	want.Hires, want.Denoise = "", 0.4
	diff(t, want, record("false"))
}

func TestSites_HFSpaceThatEnlargesNamesNoModel(t *testing.T) {
	l := readAs(t, "hf-space", png("parameters", `{"prompt": "a fox", "resolution": "896 x 1152", "num_inference_steps": 28, "seed": 5, "sampler": "Euler a", "use_upscaler": null}`))
	diff(t, facts{Tool: "hf-space", Positive: "a fox", Seed: 5, Steps: 28, Sampler: "Euler a", W: 896, H: 1152}, factsOf(l))
}

func TestSites_StabilityMatrixHiresWithoutAGraph(t *testing.T) {
	l := readAs(t, "stability-matrix", png("smproj", `{"State":{"Modules":{"$values":[{"$type":"HiresFixModule","IsEnabled":true,"$values":[{"$type":"Upscaler","Scale":2,"SelectedUpscaler":{"Name":"sharp.pth"}},{"$type":"Sampler","Steps":9,"DenoiseStrength":0.5}]}]},
	 "Prompt":{"Prompt":"a fox <lora:fur:0.5>","NegativePrompt":""},"Seed":{"Seed":"42"}}}`))
	diff(t, facts{Tool: "stability-matrix", Positive: "a fox <lora:fur:0.5>", Seed: 42, Models: []string{"lora fur *0.5"}, Hires: `{"scale":2,"upscaler":"sharp.pth","steps":9,"denoise":0.5}`}, factsOf(l))
}
