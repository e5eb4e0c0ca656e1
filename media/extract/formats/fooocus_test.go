package formats

import "testing"

func TestFooocus(t *testing.T) {
	record := `{"prompt": "a fox", "negative_prompt": "", "performance": "Speed", "steps": 30, "guidance_scale": 4, "resolution": "(768, 1280)", "sharpness": 2,
	 "base_model": "jug", "base_model_hash": "aeb7", "refiner_model": "None", "sampler": "dpmpp_2m_sde_gpu", "scheduler": "karras", "seed": "6952411511246973023",
	 "vae": "Default (model)", "loras": [["offset", 0.1, "4852686128"], ["off", 0, "11"]], "clip_skip": 2, "metadata_scheme": "fooocus", "version": "Fooocus v2.5.5"}`
	want := facts{Tool: "fooocus", Version: "Fooocus v2.5.5", Positive: "a fox", Seed: 6952411511246973023, Steps: 30, CFG: 4, Sampler: "dpmpp_2m_sde_gpu",
		Scheduler: "karras", W: 768, H: 1280, ClipSkip: 2, Model: "jug", Models: []string{"checkpoint jug #aeb7", "lora offset #4852686128 *0.1"}}
	l := readAs(t, "fooocus", png("parameters", record), png("fooocus_scheme", "fooocus"))
	diff(t, want, factsOf(l))
	diff(t, want, factsOf(readAs(t, "fooocus", exif(record))))
	if l.Negative == nil {
		t.Error("an empty negative prompt is written down and must be read as empty")
	}
}

func TestFooocus_NetworkWhoseNameLooksLikeAHash(t *testing.T) {
	l := readAs(t, "fooocus", png("parameters", `{"prompt": "a fox", "metadata_scheme": "fooocus", "loras": [["20231015183000", 0.7, "1122334455"], ["12345678", "0.5"]]}`))
	diff(t, []string{"lora 20231015183000 #1122334455 *0.7", "lora 12345678 *0.5"}, factsOf(l).Models)
}

func TestFooocus_Labels(t *testing.T) {
	l := readAs(t, "fooocus", chunk("jpeg:comment", "comment", `{"Prompt": "a fox", "Negative Prompt": "ugly", "Styles": "[]", "Performance": "Speed", "Resolution": "(1152, 896)",
	 "Sharpness": 2, "Guidance Scale": 4.0, "Base Model": "jug.safetensors", "Refiner Model": "refine.safetensors", "Sampler": "dpmpp", "Scheduler": "karras", "Seed": 42,
	 "LoRA 1": "offset.safetensors : 0.1", "LoRA 2": "False : off.safetensors : 1.0", "Version": "v2.1.862"}`))
	diff(t, facts{Tool: "fooocus", Version: "v2.1.862", Positive: "a fox", Negative: "ugly", Seed: 42, CFG: 4, Sampler: "dpmpp", Scheduler: "karras", W: 1152, H: 896,
		Model: "jug.safetensors", Models: []string{"checkpoint jug.safetensors", "checkpoint refine.safetensors", "lora offset.safetensors *0.1"}}, factsOf(l))
}

func TestFooocus_FooocusMRE(t *testing.T) {
	l := readAs(t, "fooocus", png("Comment", `{"prompt": "a fox", "negative_prompt": "ugly", "seed": 42, "width": 1024, "height": 768, "base_model": "jug.safetensors",
	 "refiner_model": "refine.safetensors", "base_clip_skip": -2, "steps": 30, "loras": [["offset.safetensors", 0.5], ["None", 0.5]], "sampler": "dpmpp", "scheduler": "karras", "cfg": 7, "sharpness": 2, "software": "Fooocus 2.0.78.5 MRE"}`))
	diff(t, facts{Tool: "fooocus", Version: "Fooocus 2.0.78.5 MRE", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 30, CFG: 7, Sampler: "dpmpp", Scheduler: "karras", W: 1024, H: 768,
		ClipSkip: 2, Model: "jug.safetensors", Models: []string{"checkpoint jug.safetensors", "checkpoint refine.safetensors", "lora offset.safetensors *0.5"}}, factsOf(l))
}

func TestFooocus_RuinedFooocus(t *testing.T) {
	l := readAs(t, "ruined-fooocus", png("parameters", `{"Prompt": "a fox", "Negative": "ugly", "steps": 30, "cfg": 8, "width": 1024, "height": 768, "seed": 42, "sampler_name": "dpmpp",
	 "scheduler": "karras", "base_model_name": "fox.safetensors", "base_model_hash": "BEFC", "loras": [["4852686128aa", "0.8 - fur.safetensors"]], "denoise": null, "clip_skip": 1, "software": "RuinedFooocus"}`))
	diff(t, facts{Tool: "ruined-fooocus", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 30, CFG: 8, Sampler: "dpmpp", Scheduler: "karras", W: 1024, H: 768, ClipSkip: 1,
		Model: "fox.safetensors", Models: []string{"checkpoint fox.safetensors #BEFC", "lora fur.safetensors #4852686128aa *0.8"}}, factsOf(l))
}
