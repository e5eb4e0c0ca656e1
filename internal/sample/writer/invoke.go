package writer

import (
	"strings"

	"vitrine/internal/sample/draw"
)

// saveInvoke writes the summary and the executed graph as compact JSON. With a
// parent the summary names it by image name, as image-to-image jobs do.
func saveInvoke(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	f := job.facts("invokeai", pic)
	f.Sampler, f.Scheduler = invokeSampler[job.Sampler], ""
	model := invokeModel(job.Checkpoint, "main")
	f.Models = []Model{{Type: "checkpoint", Name: job.Checkpoint, Hash: "blake3:" + hashOf(job.Checkpoint, 64)}}
	mode := "sdxl_txt2img"
	if job.Parent != "" {
		mode = "sdxl_img2img"
		f.Denoise = job.Denoise
	}
	meta := object{
		{"generation_mode", mode}, {"positive_prompt", job.Prompt}, {"negative_prompt", job.Negative}, {"width", pic.W}, {"height", pic.H},
		{"seed", job.Seed}, {"rand_device", "cpu"}, {"cfg_scale", pyFloat(job.CFG)}, {"cfg_rescale_multiplier", pyFloat(0)}, {"steps", job.Steps},
		{"scheduler", f.Sampler}, {"seamless_x", false}, {"seamless_y", false}, {"model", model},
	}
	if len(job.LoRAs) > 0 {
		var loras list
		for i, name := range job.LoRAs {
			loras = append(loras, object{{"model", invokeModel(name, "lora")}, {"weight", pyFloat(strengthOf(job, i))}})
			f.Models = append(f.Models, Model{Type: "lora", Name: name, Hash: "blake3:" + hashOf(name, 64), Strength: strengthOf(job, i)})
		}
		meta = append(meta, field{"loras", loras})
	}
	if job.Parent != "" {
		meta = append(meta, field{"strength", pyFloat(job.Denoise)}, field{"init_image", job.Parent})
	}
	meta = append(meta, field{"ref_images", list{}}, field{"app_version", "6.10.0"})
	data, err := encodePNG(pic,
		anyText("invokeai_metadata", compactJSON.String(meta)),
		anyText("invokeai_graph", compactJSON.String(invokeGraph(pic, job, model))))
	return data, f, err
}

func invokeModel(name, kind string) object {
	return object{{"key", UUID(draw.NewRand(draw.Mix(letters(name)...)))}, {"hash", "blake3:" + hashOf(name, 64)}, {"name", name}, {"base", "sdxl"}, {"type", kind}}
}

// invokeGraph is the chain loader → prompts → noise → denoise → image.
func invokeGraph(pic draw.Picture, job *Job, model object) object {
	ids := map[string]string{}
	var nodes object
	add := func(role, kind string, more ...field) {
		ids[role] = role + ":" + nanoID(job.Rand)
		n := object{{"id", ids[role]}, {"is_intermediate", role != "canvas_output"}, {"use_cache", true}}
		nodes = append(nodes, field{ids[role], append(append(n, more...), field{"type", kind})})
	}
	add("sdxl_model_loader", "sdxl_model_loader", field{"model", model})
	add("positive_prompt", "string", field{"value", job.Prompt})
	add("pos_cond", "sdxl_compel_prompt", field{"prompt", ""}, field{"style", ""}, field{"original_width", pic.W}, field{"original_height", pic.H})
	add("neg_cond", "sdxl_compel_prompt", field{"prompt", job.Negative}, field{"style", job.Negative}, field{"original_width", pic.W}, field{"original_height", pic.H})
	add("seed", "integer", field{"value", job.Seed})
	add("noise", "noise", field{"seed", 0}, field{"width", pic.W}, field{"height", pic.H}, field{"use_cpu", true})
	add("denoise_latents", "denoise_latents", field{"steps", job.Steps}, field{"cfg_scale", pyFloat(job.CFG)},
		field{"denoising_start", pyFloat(0)}, field{"denoising_end", pyFloat(1)}, field{"scheduler", invokeSampler[job.Sampler]})
	add("canvas_output", "l2i", field{"tiled", false}, field{"fp32", true})
	var edges list
	for _, e := range [][4]string{
		{"sdxl_model_loader", "unet", "denoise_latents", "unet"}, {"sdxl_model_loader", "clip", "pos_cond", "clip"},
		{"sdxl_model_loader", "clip", "neg_cond", "clip"}, {"positive_prompt", "value", "pos_cond", "prompt"},
		{"pos_cond", "conditioning", "denoise_latents", "positive_conditioning"}, {"neg_cond", "conditioning", "denoise_latents", "negative_conditioning"},
		{"seed", "value", "noise", "seed"}, {"noise", "noise", "denoise_latents", "noise"},
		{"denoise_latents", "latents", "canvas_output", "latents"}, {"sdxl_model_loader", "vae", "canvas_output", "vae"},
	} {
		edges = append(edges, object{
			{"source", object{{"node_id", ids[e[0]]}, {"field", e[1]}}},
			{"destination", object{{"node_id", ids[e[2]]}, {"field", e[3]}}},
		})
	}
	return object{{"id", "sdxl_graph:" + nanoID(job.Rand)}, {"nodes", nodes}, {"edges", edges}}
}

const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func nanoID(r *draw.Rand) string {
	var b strings.Builder
	for range 10 {
		b.WriteByte(idLetters[r.Intn(len(idLetters))])
	}
	return b.String()
}
