package formats

import (
	"testing"

	"vitrine/media/extract/container"
)

func TestEasydiffusion_EasyDiffusion(t *testing.T) {
	want := facts{Tool: "easydiffusion", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 25, CFG: 7.5, Sampler: "euler_a", Denoise: 0.8, W: 512, H: 768, ClipSkip: 2, Model: "fox/v2",
		Models: []string{"checkpoint fox/v2", "vae soft", "lora fur *0.5", "lora snow *0.7", "upscaler RealESRGAN_x4plus"}}
	tests := map[string][]container.Chunk{
		"an object": {exif(`{"prompt": "a fox", "negative_prompt": "ugly", "seed": 42, "use_stable_diffusion_model": "fox/v2", "clip_skip": true, "use_vae_model": "soft", "sampler_name": "euler_a",
		 "width": 512, "height": 768, "num_inference_steps": 25, "guidance_scale": 7.5, "prompt_strength": 0.8, "use_lora_model": ["fur", "snow"], "lora_alpha": [0.5, 0.7], "use_upscale": "RealESRGAN_x4plus", "use_hypernetwork_model": null}`)},
		"one chunk per key": {png("prompt", "a fox"), png("negative_prompt", "ugly"), png("seed", "42"), png("use_stable_diffusion_model", "fox/v2"), png("clip_skip", "True"), png("use_vae_model", "soft"),
			png("sampler_name", "euler_a"), png("width", "512"), png("height", "768"), png("num_inference_steps", "25"), png("guidance_scale", "7.5"), png("prompt_strength", "0.8"),
			png("use_lora_model", "fur, snow"), png("lora_alpha", "0.5, 0.7"), png("use_upscale", "RealESRGAN_x4plus")},
		"lists as Python prints them": {png("prompt", "a fox"), png("negative_prompt", "ugly"), png("seed", "42"), png("use_stable_diffusion_model", "fox/v2"), png("clip_skip", "True"), png("use_vae_model", "soft"),
			png("sampler_name", "euler_a"), png("width", "512"), png("height", "768"), png("num_inference_steps", "25"), png("guidance_scale", "7.5"), png("prompt_strength", "0.8"),
			png("use_lora_model", "['fur', 'snow']"), png("lora_alpha", "[0.5, 0.7]"), png("use_embeddings_model", "None"), png("use_upscale", "RealESRGAN_x4plus")},
		"one chunk per label": {png("Prompt", "a fox"), png("Negative Prompt", "ugly"), png("Seed", "42"), png("Stable Diffusion model", "fox/v2"), png("Clip Skip", "True"), png("VAE model", "soft"),
			png("Sampler", "euler_a"), png("Width", "512"), png("Height", "768"), png("Steps", "25"), png("Guidance Scale", "7.5"), png("Prompt Strength", "0.8"),
			png("LoRA model", "fur, snow"), png("LoRA Strength", "0.5, 0.7"), png("Use Upscaling", "RealESRGAN_x4plus")},
		"a text file": {chunk("sidecar:txt", "parameters", "Prompt: a fox\nNegative Prompt: ugly\r\nSeed: 42\nStable Diffusion model: fox/v2\nClip Skip: True\nVAE model: soft\nSampler: euler_a\nWidth: 512\nHeight: 768\n"+
			"Steps: 25\nGuidance Scale: 7.5\nPrompt Strength: 0.8\nLoRA model: fur, snow\nLoRA Strength: 0.5, 0.7\nHypernetwork model: None\nUse Upscaling: RealESRGAN_x4plus\n")},
	}
	for name, chunks := range tests {
		t.Run(name, func(t *testing.T) { diff(t, want, factsOf(readAs(t, "easydiffusion", chunks...))) })
	}
}

func TestEasydiffusion_EasyDiffusionNamesMayHoldCommasAndQuotes(t *testing.T) {
	models := func(lora, alpha, embeddings string) []string {
		return factsOf(readAs(t, "easydiffusion", png("prompt", "a fox"), png("use_stable_diffusion_model", "fox"),
			png("use_lora_model", lora), png("lora_alpha", alpha), png("use_embeddings_model", embeddings))).Models
	}
	diff(t, []string{"checkpoint fox", "lora fur, long *0.5"}, models("fur, long", "0.5", "None"))
	diff(t, []string{"checkpoint fox", "lora fur, long *0.5", "lora sn'ow *0.25", `embedding C:\a\it's.pt`},
		models(`['fur, long', "sn'ow"]`, "[0.5, 0.25]", `['C:\\a\\it\'s.pt']`))
	diff(t, []string{"checkpoint fox"}, models("[]", "[]", "["))
}

func TestEasydiffusion_EasyDiffusionPromptOfSeveralLines(t *testing.T) {
	l := readAs(t, "easydiffusion", chunk("sidecar:txt", "parameters", "Prompt: a fox\nin snow: deep\nStable Diffusion model: fox"))
	if got := val(l.Positive); got != "a fox\nin snow: deep" {
		t.Errorf("prompt is %q", got)
	}
}
