package writer

import (
	"strings"

	"vitrine/internal/sample/draw"
)

// saveGraph embeds a graph before the pixels. The core save node writes prompt
// and workflow as ASCII tEXt; optimisers and some save nodes pack them as zTXt.
func saveGraph(embed func(key, value string) chunk, build func(draw.Picture, *Job) (*graph, Facts)) func(draw.Picture, *Job) ([]byte, Facts, error) {
	return func(pic draw.Picture, job *Job) ([]byte, Facts, error) {
		g, facts := build(pic, job)
		g.rand = job.Rand
		facts.Models = g.models()
		data, err := encodePNG(pic, embed("prompt", g.api()), embed("workflow", g.workflow()))
		return data, facts, err
	}
}

// loader adds checkpoint and LoRA chain and returns the ends of the chain.
func (g *graph) loader(job *Job) (model, clip, vae out) {
	ck := g.add("4", "CheckpointLoaderSimple").widget("ckpt_name", file(job.Checkpoint))
	model, clip, vae = ck.out(0), ck.out(1), ck.out(2)
	for i, name := range job.LoRAs {
		strength := pyFloat(strengthOf(job, i))
		lora := g.add([]string{"10", "11", "12"}[i], "LoraLoader").
			widget("lora_name", file(name)).widget("strength_model", strength).widget("strength_clip", strength).
			link("model", model).link("clip", clip)
		model, clip = lora.out(0), lora.out(1)
	}
	return model, clip, vae
}

// strengthOf is the weight of the job's i-th LoRA: a multiple of 0.05.
func strengthOf(job *Job, i int) float64 {
	return float64(8+draw.Mix(job.Choice, uint64(i))%15) * 5 / 100
}

func (g *graph) prompts(job *Job, positive, negative string, clip out) (pos, neg out) {
	p := g.add(positive, "CLIPTextEncode").widget("text", job.Prompt).link("clip", clip)
	n := g.add(negative, "CLIPTextEncode").widget("text", job.Negative).link("clip", clip)
	return p.out(0), n.out(0)
}

func (g *graph) sampler(id string, job *Job, denoise float64, model, pos, neg, latent out) out {
	return g.add(id, "KSampler").
		seed("seed", job.Seed, "randomize").widget("steps", job.Steps).widget("cfg", pyFloat(job.CFG)).
		widget("sampler_name", job.Sampler).widget("scheduler", job.Scheduler).widget("denoise", pyFloat(denoise)).
		link("model", model).link("positive", pos).link("negative", neg).link("latent_image", latent).out(0)
}

func (g *graph) latent(id, class string, w, h int) out {
	return g.add(id, class).widget("width", w).widget("height", h).widget("batch_size", 1).out(0)
}

func (g *graph) save(decodeID, saveID string, latent, vae out) {
	image := g.add(decodeID, "VAEDecode").link("samples", latent).link("vae", vae)
	g.add(saveID, "SaveImage").widget("filename_prefix", "%date:yyyy-MM-dd%/ComfyUI").link("images", image.out(0))
}

func comfyFacts(pic draw.Picture, job *Job) Facts {
	f := job.facts("comfyui", pic)
	f.Denoise = 1
	return f
}

// basicGraph: checkpoint, LoRA chain, one sampler; sometimes its own VAE.
func basicGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	if job.Choice%3 == 0 {
		vae = g.add("14", "VAELoader").widget("vae_name", file(vaeSDXL)).out(0)
	}
	if job.Choice%4 == 0 {
		clip = g.add("15", "CLIPSetLastLayer").widget("stop_at_clip_layer", -2).link("clip", clip).out(0)
	}
	pos, neg := g.prompts(job, "6", "7", clip)
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	g.save("8", "9", g.sampler("3", job, 1, model, pos, neg, latent), vae)
	return g, comfyFacts(pic, job)
}

// refinerGraph: a base pass and a refiner pass that takes over its noise.
func refinerGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	base := g.add("4", "CheckpointLoaderSimple").widget("ckpt_name", "sd_xl_base_1.0.safetensors").titled("Load Checkpoint - BASE")
	fine := g.add("12", "CheckpointLoaderSimple").widget("ckpt_name", file(refiner)).titled("Load Checkpoint - REFINER")
	pos, neg := g.prompts(job, "6", "7", base.out(1))
	finePos, fineNeg := g.prompts(job, "15", "16", fine.out(1))
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	switchAt := job.Steps * 4 / 5
	pass := func(id, noise, leftover string, from, to int, model, p, n, l out) out {
		return g.add(id, "KSamplerAdvanced").
			widget("add_noise", noise).seed("noise_seed", job.Seed, "randomize").widget("steps", job.Steps).widget("cfg", pyFloat(job.CFG)).
			widget("sampler_name", job.Sampler).widget("scheduler", job.Scheduler).
			widget("start_at_step", from).widget("end_at_step", to).widget("return_with_leftover_noise", leftover).
			link("model", model).link("positive", p).link("negative", n).link("latent_image", l).out(0)
	}
	first := pass("10", "enable", "enable", 0, switchAt, base.out(0), pos, neg, latent)
	second := pass("11", "disable", "disable", switchAt, 10000, fine.out(0), finePos, fineNeg, first)
	g.save("17", "19", second, fine.out(2))
	f := comfyFacts(pic, job)
	f.Denoise = 0
	return g, f
}

// customGraph: the parts of a sampler as nodes of their own. Half of them guide
// by FluxGuidance alone, the others by a CFGGuider with a negative prompt.
func customGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	unet := g.add("12", "UNETLoader").widget("unet_name", file(fluxModel)).widget("weight_dtype", "default")
	clip := g.add("11", "DualCLIPLoader").widget("clip_name1", "t5xxl_fp16.safetensors").widget("clip_name2", "clip_l.safetensors").widget("type", "flux").widget("device", "default")
	vae := g.add("10", "VAELoader").widget("vae_name", "ae.safetensors")
	model := unet.out(0)
	if len(job.LoRAs) > 0 {
		model = g.add("38", "LoraLoaderModelOnly").widget("lora_name", file(job.LoRAs[0])).widget("strength_model", pyFloat(strengthOf(job, 0))).link("model", model).out(0)
	}
	f := comfyFacts(pic, job)
	f.Scheduler = "simple"
	pos := g.add("6", "CLIPTextEncode").titled("CLIP Text Encode (Positive Prompt)").widget("text", job.Prompt).link("clip", clip.out(0)).out(0)
	var guider out
	if job.Choice%2 == 0 {
		f.Guidance, f.CFG, f.Negative = float64(25+job.Choice%4*5)/10, 0, ""
		guided := g.add("26", "FluxGuidance").widget("guidance", pyFloat(f.Guidance)).link("conditioning", pos)
		guider = g.add("22", "BasicGuider").link("model", model).link("conditioning", guided.out(0)).out(0)
	} else {
		neg := g.add("33", "CLIPTextEncode").titled("CLIP Text Encode (Negative Prompt)").widget("text", job.Negative).link("clip", clip.out(0)).out(0)
		guider = g.add("22", "CFGGuider").widget("cfg", pyFloat(job.CFG)).link("model", model).link("positive", pos).link("negative", neg).out(0)
	}
	noise := g.add("25", "RandomNoise").seed("noise_seed", job.Seed, "randomize")
	sampler := g.add("16", "KSamplerSelect").widget("sampler_name", job.Sampler)
	sigmas := g.add("17", "BasicScheduler").widget("scheduler", f.Scheduler).widget("steps", job.Steps).widget("denoise", pyFloat(1)).link("model", model)
	latent := g.latent("27", "EmptySD3LatentImage", pic.W, pic.H)
	result := g.add("13", "SamplerCustomAdvanced").link("noise", noise.out(0)).link("guider", guider).link("sampler", sampler.out(0)).link("sigmas", sigmas.out(0)).link("latent_image", latent)
	g.save("8", "9", result.out(0), vae.out(0))
	return g, f
}

// imageGraph: an earlier picture, encoded and sampled again in part.
func imageGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	pos, neg := g.prompts(job, "6", "7", clip)
	image := g.add("20", "LoadImage").widget("image", job.Parent)
	latent := g.add("21", "VAEEncode").link("pixels", image.out(0)).link("vae", vae)
	g.save("8", "9", g.sampler("3", job, job.Denoise, model, pos, neg, latent.out(0)), vae)
	f := comfyFacts(pic, job)
	f.Denoise = job.Denoise
	return g, f
}

// hiresGraph: a small pass, enlarged in latent space, then a second pass.
func hiresGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	pos, neg := g.prompts(job, "6", "7", clip)
	small := g.latent("5", "EmptyLatentImage", pic.W*2/3/8*8, pic.H*2/3/8*8)
	first := g.sampler("3", job, 1, model, pos, neg, small)
	large := g.add("30", "LatentUpscale").widget("upscale_method", "nearest-exact").widget("width", pic.W).widget("height", pic.H).widget("crop", "disabled").link("samples", first)
	again := *job
	again.Steps = max(job.Steps/2, 4)
	second := g.sampler("31", &again, 0.5, model, pos, neg, large.out(0))
	g.save("8", "9", second, vae)
	f := comfyFacts(pic, job)
	f.Width, f.Height = pic.W*2/3/8*8, pic.H*2/3/8*8
	return g, f
}

// foldedGraph: prompts and sampler folded into a subgraph; the API graph has
// them flattened under ids like "30:3".
func foldedGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{sub: &subgraph{host: 30, id: UUID(job.Rand), name: "Text to Image", promoted: [][2]string{{"6", "text"}, {"3", "seed"}}}}
	model, clip, vae := g.loader(job)
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	pos, neg := g.prompts(job, "30:6", "30:7", clip)
	result := g.sampler("30:3", job, 1, model, pos, neg, latent)
	g.save("8", "9", result, vae)
	return g, comfyFacts(pic, job)
}

// joinedGraph: the prompt is put together by a concatenation node.
func joinedGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	head, tail := splitPrompt(job.Prompt)
	a := g.add("40", "PrimitiveStringMultiline").titled("subject").widget("value", head)
	b := g.add("41", "PrimitiveStringMultiline").titled("style").widget("value", tail)
	joined := g.add("42", "StringConcatenate").link("string_a", a.out(0)).link("string_b", b.out(0)).widget("delimiter", ", ")
	pos := g.add("6", "CLIPTextEncode").link("text", joined.out(0)).link("clip", clip).out(0)
	neg := g.add("7", "CLIPTextEncode").widget("text", job.Negative).link("clip", clip).out(0)
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	g.save("8", "9", g.sampler("3", job, 1, model, pos, neg, latent), vae)
	f := comfyFacts(pic, job)
	f.Prompt = head + ", " + tail
	return g, f
}

// stackGraph: a LoRA stack of a node package, with one row switched off.
func stackGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	ck := g.add("4", "CheckpointLoaderSimple").widget("ckpt_name", file(job.Checkpoint))
	stack := g.add("18", "Power Lora Loader (rgthree)")
	stack.pack = "rgthree-comfy"
	stack.widget("PowerLoraLoaderHeaderWidget", object{{"type", "PowerLoraLoaderHeaderWidget"}})
	names := append([]string{draw.Pick(job.Rand, LoRAs)}, job.LoRAs...)
	for i, name := range names {
		stack.widget("lora_"+string(rune('1'+i)), object{{"on", i > 0}, {"lora", file(name)}, {"strength", pyFloat(strengthOf(job, i))}})
	}
	stack.widget("\u2795 Add Lora", "").link("model", ck.out(0)).link("clip", ck.out(1))
	pos, neg := g.prompts(job, "6", "7", stack.out(1))
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	g.save("8", "9", g.sampler("3", job, 1, stack.out(0), pos, neg, latent), ck.out(2))
	return g, comfyFacts(pic, job)
}

// guidedGraph: a ControlNet that takes its hint from an earlier picture.
func guidedGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	pos, neg := g.prompts(job, "6", "7", clip)
	image := g.add("20", "LoadImage").widget("image", job.Parent)
	net := g.add("23", "ControlNetLoader").widget("control_net_name", file(controlFile))
	apply := g.add("24", "ControlNetApplyAdvanced").
		widget("strength", pyFloat(0.85)).widget("start_percent", pyFloat(0)).widget("end_percent", pyFloat(0.9)).
		link("positive", pos).link("negative", neg).link("control_net", net.out(0)).link("image", image.out(0)).link("vae", vae)
	latent := g.latent("5", "EmptyLatentImage", pic.W, pic.H)
	g.save("8", "9", g.sampler("3", job, 1, model, apply.out(0), apply.out(1), latent), vae)
	return g, comfyFacts(pic, job)
}

// upscaleGraph: sampled, then enlarged by an upscale model and scaled to size.
func upscaleGraph(pic draw.Picture, job *Job) (*graph, Facts) {
	g := &graph{}
	model, clip, vae := g.loader(job)
	pos, neg := g.prompts(job, "6", "7", clip)
	w, h := pic.W/2/8*8, pic.H/2/8*8
	latent := g.latent("5", "EmptyLatentImage", w, h)
	image := g.add("8", "VAEDecode").link("samples", g.sampler("3", job, 1, model, pos, neg, latent)).link("vae", vae)
	net := g.add("27", "UpscaleModelLoader").widget("model_name", upscaler+".pth")
	large := g.add("28", "ImageUpscaleWithModel").link("upscale_model", net.out(0)).link("image", image.out(0))
	fit := g.add("29", "ImageScale").widget("upscale_method", "lanczos").widget("width", pic.W).widget("height", pic.H).widget("crop", "disabled").link("image", large.out(0))
	g.add("9", "SaveImage").widget("filename_prefix", "%date:yyyy-MM-dd%/ComfyUI").link("images", fit.out(0))
	f := comfyFacts(pic, job)
	f.Width, f.Height = w, h
	return g, f
}

// splitPrompt cuts a prompt after its first clause; both parts are non-empty.
func splitPrompt(p string) (head, tail string) {
	for _, cut := range []string{", ", ". ", "，", "、", " "} {
		if i := indexAfter(p, cut); i > 0 {
			return p[:i], p[i+len(cut):]
		}
	}
	return p, "highly detailed"
}

// indexAfter finds cut with text on both sides.
func indexAfter(p, cut string) int {
	i := strings.Index(p, cut)
	if i <= 0 || i+len(cut) >= len(p) {
		return -1
	}
	return i
}
