package formats

import (
	"strings"

	"vitrine/library"
)

// readInvokeAI reads the third generation of InvokeAI's records:
// "invokeai_metadata", with the graph that ran in "invokeai_graph" and the
// editor's in "invokeai_workflow".
func readInvokeAI(src *Source) (Record, bool) {
	r := src.Get("invokeai_metadata")
	if r == nil || r.asObject() == nil {
		r = src.find("positive_prompt", func(o object) bool { return o.has("generation_mode") || o.has("app_version", "positive_prompt") })
	}
	if r == nil {
		return invokeGraphOnly(src)
	}
	src.markUsed(r)
	o := r.asObject()
	l := library.Lineage{Tool: "invokeai", ToolVersion: o.name("app_version")}
	l.Positive, l.Negative = o.str("positive_prompt"), o.str("negative_prompt")
	invokeSettings(&l, o)
	invokeHires(&l, o)
	invokeModels(&l, o)
	invokeParents(&l, o)
	invokeRegions(&l, o)
	l.Workflow = invokeWorkflow(src)
	o.extras(&l, invokeKnown)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

var invokeKnown = map[string]bool{"positive_prompt": true, "negative_prompt": true, "seed": true, "steps": true, "cfg_scale": true, "guidance": true,
	"scheduler": true, "width": true, "height": true, "model": true, "vae": true, "loras": true, "controlnets": true, "ipAdapters": true,
	"t2iAdapters": true, "ref_images": true, "app_version": true, "canvas_v2_metadata": true, "regions": true, "clip_skip": true, "strength": true, "init_image": true}

// invokeGraphOnly reads a file that carries a workflow but no metadata.
func invokeGraphOnly(src *Source) (Record, bool) {
	r := src.Get("invokeai_graph", "invokeai_workflow")
	w := invokeWorkflow(src)
	if w == nil {
		return Record{}, false
	}
	return Record{Lineage: library.Lineage{Tool: "invokeai", Workflow: w}, Place: r.Place}, true
}

func invokeSettings(l *library.Lineage, o object) {
	p := params(l)
	p.Seed = o.seed("seed")
	p.Steps = o.int("steps", "ideogram4_steps") // "auto" where the model's preset decides
	p.CFGScale = o.float("cfg_scale")
	p.Guidance = o.float("guidance")
	p.Sampler = o.named("scheduler") // its schedulers are samplers: euler_a, dpmpp_2m_k
	p.Width, p.Height = o.positive("width"), o.positive("height")
	p.ClipSkip = o.clipSkip("clip_skip")
	p.Denoise = o.float("strength")
	p.ModelName = o.object("model").named("name", "model_name")
}

func invokeHires(l *library.Lineage, o object) {
	if o.bool("hrf_enabled") {
		l.Hires = &library.Hires{Upscaler: o.named("hrf_method"), Denoise: o.float("hrf_strength")}
	}
}

// invokeModel reads a model in either form: {name, base, key, hash} since 4.0,
// {model_name, base_model} before.
func invokeModel(m object, kind string) library.ModelUse {
	return library.ModelUse{Type: kind, Name: m.name("name", "model_name"), Hash: m.name("hash"), BaseModel: m.name("base", "base_model")}
}

// invokeKinds lists the single models of a record, in load order.
var invokeKinds = []struct{ member, kind string }{
	{"model", "checkpoint"}, {"vae", "vae"}, {"t5_encoder", "clip"}, {"clip_embed_model", "clip"}, {"clip_g_model", "clip"}, {"clip_l_model", "clip"},
	{"qwen3_encoder", "clip"}, {"mistral_encoder", "clip"}, {"qwen3_vl_encoder", "clip"}, {"qwen_image_vae", "vae"}, {"qwen_image_qwen_vl_encoder", "clip"},
	{"wan_transformer_low_noise", "unet"}, {"wan_vae_model", "vae"}, {"wan_t5_encoder_model", "clip"},
}

// invokeSources lists the models whose decoder and text encoder are used where the
// record names none of its own.
var invokeSources = []struct {
	member string
	own    []string
}{
	{"qwen3_source", []string{"vae", "qwen3_encoder"}},
	{"qwen_image_component_source", []string{"qwen_image_vae", "qwen_image_qwen_vl_encoder"}},
	{"wan_component_source", []string{"wan_vae_model", "wan_t5_encoder_model"}},
}

// invokeAdapters lists the arrays of models that are applied to the main one.
var invokeAdapters = []struct {
	member, kind string
	models       []string
	weights      []string
}{
	{"loras", "lora", []string{"model", "lora"}, []string{"weight"}},
	{"controlnets", "controlnet", []string{"control_model", "model"}, []string{"control_weight", "weight"}},
	{"ipAdapters", "ip_adapter", []string{"ip_adapter_model", "model"}, []string{"weight"}},
	{"t2iAdapters", "t2i_adapter", []string{"t2i_adapter_model", "model"}, []string{"weight"}},
}

func invokeModels(l *library.Lineage, o object) {
	for _, k := range invokeKinds {
		addModel(l, invokeModel(o.object(k.member), k.kind))
	}
	for _, of := range invokeSources {
		if o.object(of.own[0]) == nil || o.object(of.own[1]) == nil {
			addModel(l, invokeModel(o.object(of.member), "checkpoint"))
		}
	}
	for _, a := range invokeAdapters {
		for _, entry := range o.objects(a.member) {
			m := invokeModel(entry.object(a.models...), a.kind)
			m.Strength = entry.float(a.weights...)
			addWeighted(l, m)
		}
	}
	for _, ref := range o.objects("ref_images") {
		config := ref.object("config")
		if enabled, ok := ref["isEnabled"].(bool); ok && !enabled {
			continue
		}
		m := invokeModel(config.object("model"), "ip_adapter")
		m.Strength = config.float("weight")
		addModel(l, m)
	}
	invokeCanvas(l, o.object("canvas_v2_metadata"))
	addModel(l, invokeModel(o.object("refiner_model"), "checkpoint"))
	addModel(l, invokeModel(o.object("upscale_model"), "upscaler"))
}

// invokeCanvas adds the models of the canvas's enabled layers (since 5.0).
func invokeCanvas(l *library.Lineage, canvas object) {
	layers := func(list []object, adapter, kind string) {
		for _, layer := range list {
			if enabled, ok := layer["isEnabled"].(bool); ok && !enabled {
				continue
			}
			a := layer.object(adapter)
			m := invokeModel(a.object("model"), kind)
			if a.name("type") == "t2i_adapter" {
				m.Type = "t2i_adapter"
			}
			m.Strength = a.float("weight")
			addModel(l, m)
		}
	}
	layers(canvas.objects("controlLayers"), "controlAdapter", "controlnet")
	layers(canvas.objects("referenceImages"), "ipAdapter", "ip_adapter")
	for _, region := range canvas.objects("regionalGuidance") {
		if enabled, ok := region["isEnabled"].(bool); !ok || enabled {
			layers(region.objects("referenceImages"), "ipAdapter", "ip_adapter")
		}
	}
}

// invokeParents collects the pictures that went into this one. A record names
// them as image_name, at different depths in different versions.
func invokeParents(l *library.Lineage, o object) {
	addParent(l, "init_image", firstOf(o.name("init_image"), o.name("upscale_initial_image"), o.object("init_image", "upscale_initial_image").name("image_name")))
	collectImages(l, o["controlnets"], "controlnet_image", 0)
	collectImages(l, o["t2iAdapters"], "controlnet_image", 0)
	collectImages(l, o["ipAdapters"], "input_image", 0)
	collectImages(l, o["ref_images"], "input_image", 0)
	canvas := o.object("canvas_v2_metadata")
	collectImages(l, canvas["controlLayers"], "controlnet_image", 0)
	collectImages(l, map[string]any(canvas), "input_image", 0) // what is known already keeps its kind
	addParent(l, "mask", o.name("mask", "mask_name"))
}

// collectImages walks a part of the record. A control net's processed image is
// made from the picture it names beside it and is no parent of its own.
func collectImages(l *library.Lineage, v any, kind string, depth int) {
	if depth > 12 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collectImages(l, item, kind, depth+1)
		}
	case map[string]any:
		o := object(v)
		if enabled, ok := o["isEnabled"].(bool); ok && !enabled {
			return
		}
		addParent(l, kind, o.name("image_name"))
		for _, key := range o.keys() {
			if key != "processed_image" && key != "processedImage" && key != "crop" {
				collectImages(l, o[key], kind, depth+1)
			}
		}
	}
}

// addParent adds a source file by its bare name, once.
func addParent(l *library.Lineage, kind, name string) {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if name == "" || len(l.Parents) >= maxSettings {
		return
	}
	for _, p := range l.Parents {
		if p.Name == name {
			return
		}
	}
	l.Parents = append(l.Parents, library.Parent{Kind: kind, Name: name})
}

// invokeRegions reads regional prompts.
func invokeRegions(l *library.Lineage, o object) {
	regions := o.objects("regions")
	if len(regions) == 0 {
		regions = o.object("canvas_v2_metadata").objects("regionalGuidance")
	}
	for i, r := range regions {
		region := library.PromptRegion{Kind: "area", Name: r.name("name"), Positive: r.named("positivePrompt", "positive_prompt"), Negative: r.named("negativePrompt", "negative_prompt")}
		if i < maxSettings && (region.Positive != nil || region.Negative != nil) {
			l.Regions = append(l.Regions, region)
		}
	}
}

// invokeWorkflow keeps the graphs byte for byte.
func invokeWorkflow(src *Source) *library.Workflow {
	graph, editor := src.Get("invokeai_graph"), src.Get("invokeai_workflow")
	w := &library.Workflow{ToolName: "invokeai", CustomNodes: []string{}, Source: "extracted"}
	if editor != nil && editor.asObject() != nil {
		w.JSON, w.Name = library.RawJSON(editor.Text), editor.asObject().name("name")
		w.NodeCount = len(editor.asObject().list("nodes"))
	}
	if graph != nil && graph.asObject() != nil {
		w.PromptJSON = library.RawJSON(graph.Text)
		w.NodeCount = max(len(graph.asObject().object("nodes")), w.NodeCount)
	}
	if w.JSON == nil && w.PromptJSON == nil {
		return nil
	}
	src.markUsed(graph, editor)
	return w
}
