package formats

import (
	"strings"

	"vitrine/library"
)

// readSwarmUI reads SwarmUI's record, an object "sui_image_params" with its
// companions "sui_models" and "sui_extra_data". Older versions wrote the same
// object into other fields, and the scheduler under its backend's name. A setting's
// name is that of the interface without all but its letters: T5-XXL Model is txxlmodel.
func readSwarmUI(src *Source) (Record, bool) {
	r := src.find("sui_image_params", func(o object) bool { return o.object("sui_image_params") != nil })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	s := o.object("sui_image_params")
	l := library.Lineage{Tool: "swarmui", ToolVersion: s.name("swarm_version")}
	l.Positive, l.Negative = s.str("prompt"), s.str("negativeprompt", "negative_prompt")
	swarmSettings(&l, s)
	swarmRefiner(&l, s)
	swarmModels(&l, s, o.objects("sui_models"))
	swarmExtra(&l, s)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

func swarmSettings(l *library.Lineage, s object) {
	p := params(l)
	p.Seed = s.seed("seed")
	p.Steps = s.int("steps")
	p.CFGScale = s.float("cfgscale", "cfg_scale")
	p.Guidance = s.float("fluxguidancescale")
	p.Sampler = s.named("sampler", "comfyuisampler", "comfy_sampler", "autowebuisampler")
	p.Scheduler = s.named("scheduler", "comfyuischeduler", "comfy_scheduler")
	p.Width, p.Height = swarmSize(s)
	p.ModelName = s.named("model")
	p.Frames = s.positive("textvideoframes", "videoframes")
	p.FPS = s.float("textvideofps", "videofps")
	p.BatchSize = s.positive("batchsize")
	if s.has("initimage") || s.has("initimagecreativity") {
		p.Denoise = s.float("initimagecreativity")
	}
	p.ClipSkip = s.clipSkip("clipstopatlayer")
}

// swarmSize returns the size, which two settings replace: a size as text, and a
// factor that makes the height of the width and is rounded as the model asks.
func swarmSize(s object) (width, height *int) {
	if w, h := parseSize(s.name("rawresolution")); w != nil {
		return w, h
	}
	if s.has("altresolutionheightmultiplier") {
		return nil, nil
	}
	return s.positive("width"), s.positive("height")
}

// swarmRefiner reads the second pass, which is the upscaling one when a scale is set.
func swarmRefiner(l *library.Lineage, s object) {
	second := library.SamplerPass{Role: "refiner", Steps: s.positive("refinersteps"), CFGScale: s.float("refinercfgscale"),
		Denoise: s.float("refinercontrolpercentage", "refinercontrol"), Sampler: s.named("refinersampler"), Scheduler: s.named("refinerscheduler")}
	if model := s.name("refinermodel"); !noModel(model) {
		second.Model = model
	}
	if scale := s.float("refinerupscale"); scale != nil && *scale != 1 {
		l.Hires = &library.Hires{Scale: scale, Upscaler: s.named("refinerupscalemethod"), Steps: second.Steps, Denoise: second.Denoise}
		second.Role = "hires"
	}
	if second.Denoise == nil && second.Model == "" && l.Hires == nil {
		return
	}
	l.Samplers = []library.SamplerPass{basePass(l), second}
}

// swarmKinds folds SwarmUI's parameter names into model types.
var swarmKinds = []struct{ param, kind string }{
	{"model", "checkpoint"}, {"vae", "vae"}, {"loras", "lora"}, {"refinermodel", "checkpoint"}, {"refinervae", "vae"},
	{"controlnetmodel", "controlnet"}, {"controlnettwomodel", "controlnet"}, {"controlnetthreemodel", "controlnet"},
	{"videomodel", "checkpoint"}, {"videoswapmodel", "checkpoint"}, {"videoextendmodel", "checkpoint"},
	{"clipvisionmodel", "clip_vision"}, {"revisionmodel", "clip_vision"}, {"txxlmodel", "clip"}, {"cliplmodel", "clip"}, {"clipgmodel", "clip"},
	{"llavamodel", "clip"}, {"llamamodel", "clip"}, {"qwenmodel", "clip"}, {"mistralmodel", "clip"}, {"gemmamodel", "clip"},
	{"useipadapter", "ip_adapter"}, {"styletransfermodel", "style_model"},
}

func swarmModels(l *library.Lineage, s object, listed []object) {
	for _, k := range swarmKinds {
		if k.param == "loras" {
			swarmLoras(l, s)
			continue
		}
		m := library.ModelUse{Type: k.kind, Name: s.name(k.param)}
		if k.kind == "controlnet" {
			m.Strength = s.float(strings.TrimSuffix(k.param, "model") + "strength")
		}
		addModel(l, m)
	}
	if method := s.name("refinerupscalemethod"); l.Hires != nil && strings.HasPrefix(method, "model-") {
		addModel(l, library.ModelUse{Type: "upscaler", Name: strings.TrimPrefix(method, "model-")})
	}
	for _, m := range listed {
		addModel(l, library.ModelUse{Type: swarmKind(m.name("param")), Name: m.name("name"), Hash: m.name("hash")})
	}
}

func swarmLoras(l *library.Lineage, s object) {
	weights, clipWeights := s.texts("loraweights"), s.texts("loratencweights")
	for i, name := range s.texts("loras") {
		m := library.ModelUse{Type: "lora", Name: name}
		if i < len(weights) {
			m.Strength = parseFloat(weights[i])
		}
		if i < len(clipWeights) {
			m.ClipStrength = parseFloat(clipWeights[i])
		}
		if m.Strength == nil || *m.Strength != 0 || m.ClipStrength != nil && *m.ClipStrength != 0 {
			addModel(l, m)
		}
	}
	addPromptModels(l, s.name("prompt"))
}

func swarmKind(param string) string {
	for _, k := range swarmKinds {
		if k.param == param {
			return k.kind
		}
	}
	return "other"
}

func swarmExtra(l *library.Lineage, s object) {
	known := map[string]bool{"prompt": true, "negativeprompt": true, "seed": true, "steps": true, "cfgscale": true,
		"sampler": true, "scheduler": true, "width": true, "height": true, "model": true, "swarm_version": true, "loras": true, "loraweights": true}
	s.extras(l, known)
}
