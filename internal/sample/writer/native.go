package writer

import (
	"fmt"
	"strconv"
	"strings"

	"vitrine/internal/sample/draw"
)

// saveSwarmPNG embeds the settings as indented JSON beside the graph that ran,
// which has no titles and no workflow.
func saveSwarmPNG(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	settings, f := swarmSettings(pic, job)
	graph, models := swarmGraph(pic, job)
	f.Models = models // the graph names the files and the nodes that loaded them
	data, err := encodePNG(pic, density(3780), rawText("prompt", graph), rawText("parameters", settings))
	return data, f, err
}

// saveSwarmJPEG puts the same settings into UserComment, little endian.
func saveSwarmJPEG(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	settings, f := swarmSettings(pic, job)
	data, err := encodeJPEG(pic, 90, userComment(settings, true))
	return data, f, err
}

func swarmSettings(pic draw.Picture, job *Job) (string, Facts) {
	f := job.facts("swarmui", pic)
	hash := "0x" + hashOf(job.Checkpoint, 64)
	f.Models = []Model{{Type: "checkpoint", Name: job.Checkpoint, Hash: hash}}
	params := object{
		{"prompt", job.Prompt}, {"negativeprompt", job.Negative}, {"model", job.Checkpoint}, {"seed", job.Seed},
		{"steps", job.Steps}, {"cfgscale", pyFloat(job.CFG)}, {"aspectratio", "Custom"}, {"width", pic.W}, {"height", pic.H},
		{"sampler", job.Sampler}, {"scheduler", job.Scheduler},
	}
	models := list{object{{"name", file(job.Checkpoint)}, {"param", "model"}, {"hash", hash}}}
	if len(job.LoRAs) > 0 {
		var names, weights list
		for i, name := range job.LoRAs {
			names, weights = append(names, name), append(weights, trim(strengthOf(job, i)))
			loraHash := "0x" + hashOf(name, 64)
			models = append(models, object{{"name", file(name)}, {"param", "loras"}, {"hash", loraHash}})
			f.Models = append(f.Models, Model{Type: "lora", Name: name, Hash: loraHash, Strength: strengthOf(job, i)})
		}
		params = append(params, field{"loras", names}, field{"loraweights", weights})
	}
	params = append(params, field{"automaticvae", true}, field{"swarm_version", "0.9.7.4"})
	return netJSON.String(object{
		{"sui_image_params", params},
		{"sui_extra_data", object{
			{"date", job.When.Format("2006-01-02")}, {"prep_time", "0.02 sec"},
			{"generation_time", fmt.Sprintf("%d.%02d sec", job.Rand.Between(2, 14), job.Rand.Intn(100))},
		}},
		{"sui_models", models},
	}), f
}

// swarmGraph is the plain graph the tool sends to its backend: class first, no
// titles, inputs in the order the code adds them.
func swarmGraph(pic draw.Picture, job *Job) (string, []Model) {
	n := func(class string, inputs object) object { return object{{"class_type", class}, {"inputs", inputs}} }
	models := []Model{{Type: "checkpoint", Name: file(job.Checkpoint), NodeID: "4"}}
	all := object{{"4", n("CheckpointLoaderSimple", object{{"ckpt_name", file(job.Checkpoint)}})}}
	model, clip := list{"4", 0}, list{"4", 1}
	for i, name := range job.LoRAs {
		id, strength := strconv.Itoa(500+i), strengthOf(job, i)
		all = append(all, field{id, n("LoraLoader", object{
			{"model", model}, {"clip", clip}, {"lora_name", file(name)}, {"strength_model", pyFloat(strength)}, {"strength_clip", pyFloat(strength)},
		})})
		models = append(models, Model{Type: "lora", Name: file(name), NodeID: id, Strength: strength})
		model, clip = list{id, 0}, list{id, 1}
	}
	all = append(all,
		field{"5", n("EmptyLatentImage", object{{"batch_size", 1}, {"height", pic.H}, {"width", pic.W}})},
		field{"6", n("CLIPTextEncode", object{{"clip", clip}, {"text", job.Prompt}})},
		field{"7", n("CLIPTextEncode", object{{"clip", clip}, {"text", job.Negative}})},
		field{"10", n("KSamplerAdvanced", object{
			{"model", model}, {"noise_seed", job.Seed}, {"steps", job.Steps}, {"cfg", pyFloat(job.CFG)},
			{"sampler_name", job.Sampler}, {"scheduler", job.Scheduler}, {"positive", list{"6", 0}}, {"negative", list{"7", 0}},
			{"latent_image", list{"5", 0}}, {"start_at_step", 0}, {"end_at_step", 10000}, {"return_with_leftover_noise", "disable"}, {"add_noise", "enable"},
		})},
		field{"8", n("VAEDecode", object{{"vae", list{"4", 2}}, {"samples", list{"10", 0}}})},
		field{"9", n("SaveImage", object{{"filename_prefix", "SwarmUI_" + strings.ToUpper(hashOf(job.Prompt, 8)) + "_"}, {"images", list{"8", 0}}})},
	)
	return pythonJSON.String(all), models
}

// saveNovel writes the five text chunks of the service; prompts that do not
// fit Latin-1 move Description to iTXt while Comment stays ASCII.
func saveNovel(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	f := job.facts("novelai", pic)
	f.Sampler = map[string]string{"euler": "k_euler", "euler_ancestral": "k_euler_ancestral", "dpmpp_2m": "k_dpmpp_2m", "dpmpp_2m_sde": "k_dpmpp_2m_sde", "dpmpp_sde": "k_dpmpp_sde"}[job.Sampler]
	if f.Sampler == "" {
		f.Sampler = "k_euler_ancestral"
	}
	f.Scheduler = "karras"
	if job.Scheduler == "exponential" {
		f.Scheduler = "exponential"
	}
	caption := func(text string) object {
		return object{{"caption", object{{"base_caption", text}, {"char_captions", list{}}}}, {"use_coords", false}, {"use_order", true}, {"legacy_uc", false}}
	}
	comment := object{
		{"prompt", job.Prompt}, {"steps", job.Steps}, {"height", pic.H}, {"width", pic.W}, {"scale", pyFloat(job.CFG)},
		{"uncond_scale", pyFloat(0)}, {"cfg_rescale", pyFloat(0)}, {"seed", job.Seed}, {"n_samples", 1}, {"noise_schedule", f.Scheduler},
		{"legacy_v3_extend", false}, {"reference_information_extracted_multiple", list{}}, {"reference_strength_multiple", list{}},
		{"v4_prompt", caption(job.Prompt)}, {"v4_negative_prompt", caption(job.Negative)},
		{"sampler", f.Sampler}, {"controlnet_strength", pyFloat(1)}, {"controlnet_model", nil}, {"dynamic_thresholding", false},
		{"sm", false}, {"sm_dyn", false}, {"skip_cfg_above_sigma", nil}, {"lora_unet_weights", nil}, {"lora_clip_weights", nil},
		{"prefer_brownian", true}, {"uncond_per_vibe", true}, {"stream", "msgpack"}, {"version", 1},
		{"uc", job.Negative}, {"request_type", "PromptGenerateRequest"},
	}
	source := "NovelAI Diffusion V4.5 " + strings.ToUpper(hashOf("v4.5", 8))
	data, err := encodePNG(pic,
		text("Title", "NovelAI generated image"), anyText("Description", job.Prompt), text("Software", "NovelAI"), text("Source", source),
		text("Generation time", trim(float64(job.Rand.Between(200, 900))/100)), rawText("Comment", pythonJSON.String(comment)), density(2834))
	f.Models = []Model{{Type: "checkpoint", Name: source}}
	return data, f, err
}

// saveFooocus writes the tool's own scheme: sorted keys, the seed as a string,
// sizes as the text of a tuple.
func saveFooocus(pic draw.Picture, job *Job) ([]byte, Facts, error) {
	f := job.facts("fooocus", pic)
	f.Models = []Model{{Type: "checkpoint", Name: job.Checkpoint, Hash: hashOf(job.Checkpoint, 10)}}
	expansion := job.Prompt + ", deep focus, elegant, dynamic light, fine detail, inspired, vivid colors"
	loras := list{}
	for i, name := range job.LoRAs {
		loras = append(loras, list{file(name), pyFloat(strengthOf(job, i)), hashOf(name, 10)})
		f.Models = append(f.Models, Model{Type: "lora", Name: file(name), Hash: hashOf(name, 10), Strength: strengthOf(job, i)})
	}
	meta := object{
		{"adm_guidance", "(1.5, 0.8, 0.3)"}, {"base_model", job.Checkpoint}, {"base_model_hash", hashOf(job.Checkpoint, 10)}, {"clip_skip", 2},
		{"full_negative_prompt", list{job.Negative + ", low contrast, oversharpened"}}, {"full_prompt", list{job.Prompt, expansion}},
		{"guidance_scale", pyFloat(job.CFG)}, {"loras", loras}, {"metadata_scheme", "fooocus"}, {"negative_prompt", job.Negative},
		{"performance", "Speed"}, {"prompt", job.Prompt}, {"prompt_expansion", expansion}, {"refiner_model", "None"}, {"refiner_switch", 0.5},
		{"resolution", fmt.Sprintf("(%d, %d)", pic.W, pic.H)}, {"sampler", job.Sampler}, {"scheduler", job.Scheduler},
		{"seed", strconv.FormatUint(job.Seed, 10)}, {"sharpness", 2}, {"steps", job.Steps},
		{"styles", "['Fooocus V2', 'Fooocus Enhance']"}, {"vae", "Default (model)"}, {"version", "Fooocus v2.5.5"},
	}
	data, err := encodePNG(pic, rawText("parameters", pythonJSON.String(meta)), text("fooocus_scheme", "fooocus"))
	return data, f, err
}
