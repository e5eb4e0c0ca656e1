package formats

import "testing"

// Records of programs that write a form of their own, or one that resembles another's.

func TestNewer_StableDiffusionCpp(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "a red fox\nNegative prompt: blurry\nSteps: 20, CFG scale: 1.000000, Guidance: 3.500000, Eta: 0.000000, Seed: 42, Size: 512x768, Model: , RNG: cuda, "+
		"Sampler: euler simple, TE: clip_l.safetensors, TE: t5xxl.safetensors, Unet: flux.gguf, VAE: ae.safetensors, Version: stable-diffusion.cpp"))
	diff(t, facts{Tool: "stable-diffusion.cpp", Positive: "a red fox", Negative: "blurry", Seed: 42, Steps: 20, CFG: 1, Guidance: 3.5, Sampler: "euler", Scheduler: "simple", W: 512, H: 768, Model: "flux.gguf",
		Models: []string{"vae ae.safetensors", "unet flux.gguf", "clip clip_l.safetensors", "clip t5xxl.safetensors"}}, factsOf(l))
}

func TestNewer_StableDiffusionCppScheduleBehindTheSampler(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "a red fox\nSteps: 20, CFG scale: 7, Guidance: 3.5, Eta: 0, Seed: 42, Size: 512x768, Model: fox.safetensors, RNG: cuda, Sampler: euler_a karras, Version: stable-diffusion.cpp"))
	if f := factsOf(l); f.Sampler != "euler_a" || f.Scheduler != "karras" || f.Tool != "stable-diffusion.cpp" {
		t.Errorf("read %+v", f)
	}
}

func TestNewer_PlainJSONNamesItsGenerator(t *testing.T) {
	l := readAs(t, "plain-json", png("parameters", `{"generator":{"name":"stable-diffusion.cpp","version":"1.2"},"prompt":"a red fox","negative_prompt":"blurry","seed":42,"width":512,"height":768,"sample_steps":20,"cfg_scale":7,"sampler":"euler_a","scheduler":"karras","model":"fox.safetensors"}`))
	diff(t, facts{Tool: "stable-diffusion.cpp", Version: "1.2", Positive: "a red fox", Negative: "blurry", Seed: 42, Steps: 20, CFG: 7, Sampler: "euler_a", Scheduler: "karras", W: 512, H: 768, Model: "fox.safetensors",
		Models: []string{"checkpoint fox.safetensors"}}, factsOf(l))
}

// Weights that came from a path or from somebody else's repository count, not the
// model of the writer's own list that they are a form of.
func TestNewer_MFLUXNamesTheWeightsThatRan(t *testing.T) {
	for path, want := range map[string]string{`"/models/fox-dev.safetensors"`: "fox-dev.safetensors", `"~/models/fox-dev"`: "fox-dev", `"someone/fox-dev"`: "someone/fox-dev", `null`: "dev"} {
		l := readAs(t, "mflux", exif(`{"mflux_version":"0.24.0","model":"dev","model_path":`+path+`,"base_model":"None","seed":7,"steps":14,"prompt":"a red fox"}`))
		diff(t, facts{Tool: "mflux", Version: "0.24.0", Positive: "a red fox", Seed: 7, Steps: 14, Model: want, Models: []string{"checkpoint " + want}}, factsOf(l))
	}
}

func TestNewer_MFLUX(t *testing.T) {
	l := readAs(t, "mflux", exif(`{"mflux_version":"0.9.1","model":"dev","base_model":null,"seed":7,"steps":14,"guidance":3.5,"height":768,"width":512,"quantize":8,"lora_paths":["/models/fur.safetensors"],"lora_scales":[0.7],"prompt":"a red fox","image_path":"/pictures/in.png","image_strength":0.4,"controlnet_image_path":null}`))
	diff(t, facts{Tool: "mflux", Version: "0.9.1", Positive: "a red fox", Seed: 7, Steps: 14, Guidance: 3.5, W: 512, H: 768, Model: "dev", Models: []string{"checkpoint dev", "lora fur.safetensors *0.7"},
		Parents: []string{"init_image in.png"}}, factsOf(l))
}

func TestNewer_AIGCInfoNamesTheServiceAlone(t *testing.T) {
	l := readAs(t, "aigc-info", chunk("mp4:ilst", "aigc_info", `{"aigc_info":{"aigc_label_type":0,"source_info":"dreamina"},"data":{"os":"web","product":"dreamina","exportType":"generation","pictureId":"0"}}`))
	diff(t, facts{Tool: "dreamina"}, factsOf(l))
}

func TestNewer_InfotextOfAPromptInBraces(t *testing.T) {
	l := readAs(t, "infotext", png("parameters", "{red|blue} fox, {snow}\nNegative prompt: blurry\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 512x768, Model: fox"))
	diff(t, facts{Tool: "sd-webui", Positive: "{red|blue} fox, {snow}", Negative: "blurry", Seed: 42, Steps: 20, CFG: 7, Sampler: "Euler a", W: 512, H: 768, Model: "fox", Models: []string{"checkpoint fox"}}, factsOf(l))
}
