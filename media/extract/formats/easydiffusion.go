package formats

import (
	"strings"

	"vitrine/library"
)

// easyLabels holds the labels that Easy Diffusion writes in its text form, by the
// key of its JSON form; PNG files carry either as one chunk per key.
var easyLabels = map[string]string{
	"prompt": "Prompt", "negative_prompt": "Negative Prompt", "seed": "Seed", "use_stable_diffusion_model": "Stable Diffusion model",
	"clip_skip": "Clip Skip", "use_controlnet_model": "ControlNet model", "use_vae_model": "VAE model", "sampler_name": "Sampler",
	"scheduler_name": "Scheduler", "width": "Width", "height": "Height", "num_inference_steps": "Steps", "guidance_scale": "Guidance Scale",
	"distilled_guidance_scale": "Distilled Guidance", "prompt_strength": "Prompt Strength", "use_lora_model": "LoRA model", "lora_alpha": "LoRA Strength",
	"use_hypernetwork_model": "Hypernetwork model", "hypernetwork_strength": "Hypernetwork Strength", "use_embeddings_model": "Embedding models",
	"tiling": "Seamless Tiling", "use_face_correction": "Use Face Correction", "use_upscale": "Use Upscaling", "upscale_amount": "Upscale By",
	"use_text_encoder_model": "Text Encoder model",
}

// readEasyDiffusion reads Easy Diffusion in its three forms: an object (EXIF
// comment or .json file), one PNG chunk per key, and "Label: value" lines (.txt).
func readEasyDiffusion(src *Source) (Record, bool) {
	o, place := easyObject(src)
	if o == nil {
		o, place = easyChunks(src)
	}
	if o == nil {
		o, place = easyLines(src)
	}
	if o == nil {
		return Record{}, false
	}
	l := library.Lineage{Tool: "easydiffusion", Positive: o.str("prompt"), Negative: o.str("negative_prompt")}
	p := params(&l)
	p.Seed = o.seed("seed")
	p.Steps = o.int("num_inference_steps")
	p.CFGScale = o.float("guidance_scale")
	p.Guidance = o.float("distilled_guidance_scale")
	p.Sampler = o.named("sampler_name")
	p.Scheduler = o.named("scheduler_name")
	p.ClipSkip = easyClipSkip(o)
	p.Width, p.Height = o.positive("width"), o.positive("height")
	p.Denoise = o.float("prompt_strength")
	p.ModelName = o.named("use_stable_diffusion_model")
	easyModels(&l, o)
	for _, key := range []string{"tiling", "use_face_correction", "upscale_amount"} {
		addExtra(&l, key, o.raw(key))
	}
	tidy(&l)
	return Record{Lineage: l, Place: place}, true
}

// easyClipSkip reads the switch that stands for skipping one layer.
func easyClipSkip(o object) *int {
	if o.bool("clip_skip") {
		two := 2
		return &two
	}
	return o.clipSkip("clip_skip")
}

func easyObject(src *Source) (object, string) {
	r := src.find("model", func(o object) bool { return easyNamed(o) })
	if r == nil {
		return nil, ""
	}
	src.markUsed(r)
	return easyKeys(r.asObject()), r.Place
}

func easyNamed(o object) bool {
	_, key := o["use_stable_diffusion_model"]
	_, label := o["Stable Diffusion model"]
	return key || label
}

// easyKeys brings an object in either form to the keys of the JSON form.
func easyKeys(o object) object {
	out := object{}
	for key, label := range easyLabels {
		if v := o.get(key, label); v != nil && v != "None" {
			out[key] = v
		}
	}
	return out
}

func easyChunks(src *Source) (object, string) {
	o := object{}
	var used []*Entry
	for _, r := range src.Unused() {
		for key, label := range easyLabels {
			if r.Key == key || r.Key == label {
				o[r.Key] = r.Text
				used = append(used, r)
			}
		}
	}
	if !easyNamed(o) {
		return nil, ""
	}
	src.markUsed(used...)
	return easyKeys(o), used[0].Place
}

// easyLines reads the text form. A prompt may run over several lines: a line that
// starts with no label belongs to the one before.
func easyLines(src *Source) (object, string) {
	for _, r := range src.Unused() {
		if len(r.Text) > maxLines || !strings.Contains(r.Text, "Stable Diffusion model:") {
			continue
		}
		o, last := object{}, ""
		for _, line := range strings.Split(strings.ReplaceAll(r.Text, "\r\n", "\n"), "\n") {
			label, value, ok := strings.Cut(line, ":")
			if ok && easyLabel(label) {
				last = label
				o[last] = strings.TrimSpace(value)
			} else if s, some := o[last].(string); some {
				o[last] = s + "\n" + line
			}
		}
		src.markUsed(r)
		return easyKeys(trimTexts(o)), r.Place
	}
	return nil, ""
}

func easyLabel(label string) bool {
	for _, l := range easyLabels {
		if l == label {
			return true
		}
	}
	return false
}

func trimTexts(o object) object {
	for k, v := range o {
		if s, ok := v.(string); ok {
			o[k] = strings.TrimSpace(s)
		}
	}
	return o
}

// easyList returns a member that may be a list. PNG files hold lists as Python
// prints them: ['fur', "sn'ow"].
func easyList(o object, key string) []string {
	text, ok := o[key].(string)
	inner, isList := strings.CutPrefix(strings.TrimSpace(text), "[")
	if !ok || !isList || o.list(key) != nil {
		return o.texts(key)
	}
	return pythonTexts(strings.TrimSuffix(inner, "]"))
}

// pythonTexts reads the texts of a printed list: quoted in either way, with
// backslashes before quotes and backslashes.
func pythonTexts(list string) []string {
	var all []string
	for list = strings.TrimLeft(list, ", "); list != "" && len(all) < maxModels; list = strings.TrimLeft(list, ", ") {
		quote := list[0]
		if quote != '\'' && quote != '"' {
			word, rest, _ := strings.Cut(list, ",")
			all, list = append(all, strings.TrimSpace(word)), rest
			continue
		}
		var text strings.Builder
		i := 1
		for ; i < len(list) && list[i] != quote; i++ {
			if list[i] == '\\' && i+1 < len(list) {
				i++
			}
			text.WriteByte(list[i])
		}
		all, list = append(all, text.String()), list[min(i+1, len(list)):]
	}
	return all
}

func easyModels(l *library.Lineage, o object) {
	addCheckpoint(l, o.name("use_stable_diffusion_model"), "")
	addModel(l, library.ModelUse{Type: "vae", Name: o.name("use_vae_model")})
	for _, name := range easyList(o, "use_text_encoder_model") {
		addModel(l, library.ModelUse{Type: "clip", Name: name})
	}
	weights, names := easyList(o, "lora_alpha"), easyList(o, "use_lora_model")
	if len(weights) == 1 && len(names) > 1 { // one name with commas in it
		names = []string{o.name("use_lora_model")}
	}
	for i, name := range names {
		m := library.ModelUse{Type: "lora", Name: name}
		if i < len(weights) {
			m.Strength = parseFloat(weights[i])
		}
		addWeighted(l, m)
	}
	addModel(l, library.ModelUse{Type: "hypernetwork", Name: o.name("use_hypernetwork_model"), Strength: o.float("hypernetwork_strength")})
	for _, name := range easyList(o, "use_embeddings_model") {
		addModel(l, library.ModelUse{Type: "embedding", Name: name})
	}
	addModel(l, library.ModelUse{Type: "controlnet", Name: o.name("use_controlnet_model")})
	addModel(l, library.ModelUse{Type: "upscaler", Name: o.name("use_upscale")})
}
