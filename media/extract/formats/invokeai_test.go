package formats

import (
	"testing"

	"vitrine/media/extract/container"
)

const invokeMeta = `{"generation_mode":"sdxl_img2img","positive_prompt":"a fox","negative_prompt":"ugly","width":1024,"height":768,"seed":42,"cfg_scale":6.5,"steps":30,
 "scheduler":"euler_a","strength":0.6,"init_image":"first.png","model":{"key":"k","hash":"blake3:aa","name":"fox_v2","base":"sdxl","type":"main"},"vae":{"name":"soft","base":"sdxl"},
 "loras":[{"model":{"name":"fur","hash":"blake3:bb","base":"sdxl"},"weight":0.5},{"model":{"name":"off"},"weight":0}],
 "controlnets":[{"control_model":{"model_name":"canny"},"control_weight":0.9,"image":{"image_name":"pose.png"},"processed_image":{"image_name":"edges.png"}}],
 "ipAdapters":[{"ip_adapter_model":{"model_name":"plus","base_model":"sdxl"},"weight":0.45,"image":{"image_name":"face.png"}}],
 "ref_images":[{"isEnabled":true,"config":{"image":{"image_name":"ref.png"},"model":{"name":"redux"}}},{"isEnabled":false,"config":{"image":{"image_name":"unused.png"},"model":{"name":"unused"}}}],
 "app_version":"5.1.0"}`

func TestInvokeAI(t *testing.T) {
	l := readAs(t, "invokeai", png("invokeai_metadata", invokeMeta), png("invokeai_graph", `{"id":"g","nodes":{"a":{"type":"noise"},"b":{"type":"l2i"}},"edges":[]}`),
		png("invokeai_workflow", `{"name":"mine","nodes":[{"id":"a"}],"edges":[]}`))
	diff(t, facts{Tool: "invokeai", Version: "5.1.0", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 30, CFG: 6.5, Sampler: "euler_a", Denoise: 0.6, W: 1024, H: 768, Model: "fox_v2",
		Models:  []string{"checkpoint fox_v2 #blake3:aa", "vae soft", "lora fur #blake3:bb *0.5", "controlnet canny *0.9", "ip_adapter plus *0.45", "ip_adapter redux"},
		Parents: []string{"init_image first.png", "controlnet_image pose.png", "input_image face.png", "input_image ref.png"}}, factsOf(l))
	if l.Workflow == nil || l.Workflow.NodeCount != 2 || l.Workflow.Name != "mine" {
		t.Errorf("the workflow reads as %+v", l.Workflow)
	}
}

func TestInvokeAI_CanvasLayersNameModelsAndPictures(t *testing.T) {
	l := readAs(t, "invokeai", png("invokeai_metadata", `{"positive_prompt":"a fox","seed":1,"app_version":"5.6.0","model":{"name":"flux"},"canvas_v2_metadata":{
	 "controlLayers":[{"isEnabled":true,"objects":[{"type":"image","image":{"image_name":"pose.png"}}],"controlAdapter":{"type":"controlnet","model":{"name":"canny"},"weight":0.8}},
	  {"isEnabled":false,"objects":[{"type":"image","image":{"image_name":"unused.png"}}],"controlAdapter":{"type":"controlnet","model":{"name":"unused"},"weight":1}}],
	 "regionalGuidance":[{"isEnabled":true,"positivePrompt":"dog","referenceImages":[{"ipAdapter":{"type":"ip_adapter","model":{"name":"plus"},"weight":0.5,"image":{"image_name":"face.png"}}}]}]}}`))
	f := factsOf(l)
	diff(t, []string{"checkpoint flux", "controlnet canny *0.8", "ip_adapter plus *0.5"}, f.Models)
	diff(t, []string{"controlnet_image pose.png", "input_image face.png"}, f.Parents)
}

func TestInvokeAI_NewerModelsNameTheirParts(t *testing.T) {
	for name, c := range map[string]struct {
		record string
		want   facts
	}{
		"wan": {`{"generation_mode":"wan_t2v","app_version":"6.14.0","positive_prompt":"a fox runs","negative_prompt":"blurry","seed":3,"steps":30,"cfg_scale":4,"width":832,"height":480,"model":{"name":"high"},
		 "wan_transformer_low_noise":{"name":"low"},"wan_component_source":{"name":"whole"},"wan_vae_model":{"name":"soft"},"wan_t5_encoder_model":null,"wan_guidance_scale_low_noise":3}`,
			facts{Tool: "invokeai", Version: "6.14.0", Positive: "a fox runs", Negative: "blurry", Seed: 3, Steps: 30, CFG: 4, W: 832, H: 480, Model: "high",
				Models: []string{"checkpoint high", "unet low", "vae soft", "checkpoint whole"}}},
		"a source that is not used": {`{"generation_mode":"z_image_txt2img","positive_prompt":"a fox","seed":3,"steps":9,"model":{"name":"z"},"vae":{"name":"soft"},"qwen3_encoder":{"name":"words"},"qwen3_source":{"name":"whole"}}`,
			facts{Tool: "invokeai", Positive: "a fox", Seed: 3, Steps: 9, Model: "z", Models: []string{"checkpoint z", "vae soft", "clip words"}}},
		"a preset decides on the steps": {`{"generation_mode":"ideogram4_txt2img","positive_prompt":"a fox","ideogram4_caption":"{\"a\":1}","ideogram4_steps":"auto","seed":3,"model":{"name":"i"}}`,
			facts{Tool: "invokeai", Positive: "a fox", Seed: 3, Model: "i", Models: []string{"checkpoint i"}}},
		"steps beside a preset": {`{"generation_mode":"ideogram4_txt2img","positive_prompt":"a fox","ideogram4_steps":28,"seed":3,"model":{"name":"i"}}`,
			facts{Tool: "invokeai", Positive: "a fox", Seed: 3, Steps: 28, Model: "i", Models: []string{"checkpoint i"}}},
	} {
		t.Run(name, func(t *testing.T) {
			diff(t, c.want, factsOf(readAs(t, "invokeai", png("invokeai_metadata", c.record))))
		})
	}
}

func TestInvokeAI_WithoutMetadataKeepsItsWorkflow(t *testing.T) {
	l := readAs(t, "invokeai", png("invokeai_workflow", `{"name":"mine","nodes":[{"id":"a"}],"edges":[]}`))
	if l.Workflow == nil || l.Workflow.NodeCount != 1 || l.Positive != nil {
		t.Errorf("read as %+v", l)
	}
}

func TestInvokeAI_SecondGeneration(t *testing.T) {
	l := readAs(t, "invokeai-sd-metadata", png("sd-metadata", `{"model":"stable diffusion","model_weights":"fox-1.5","model_hash":"56d1","app_id":"invoke-ai/InvokeAI","app_version":"2.3.0",
	 "image":{"prompt":[{"prompt":"a fox [ugly] in snow","weight":1.0}],"steps":50,"cfg_scale":5,"height":768,"width":512,"seed":2980747362,"type":"img2img","strength":0.75,"init_image_path":"/home/me/first.png","sampler":"k_lms"}}`))
	diff(t, facts{Tool: "invokeai", Version: "2.3.0", Positive: "a fox  in snow", Negative: "ugly", Seed: 2980747362, Steps: 50, CFG: 5, Sampler: "k_lms", Denoise: 0.75, W: 512, H: 768,
		Model: "fox-1.5", Models: []string{"checkpoint fox-1.5 #56d1"}, Parents: []string{"init_image first.png"}}, factsOf(l))
}

func TestInvokeAI_Dream(t *testing.T) {
	want := facts{Tool: "invokeai", Positive: `a "wise" fox`, Negative: "ugly, blurry", Seed: 42, Steps: 50, CFG: 7.5, Sampler: "k_lms", W: 512, H: 768}
	for name, line := range map[string]string{
		"spaces":      `"a \"wise\" fox [ugly, blurry]" -s 50 -S 42 -W 512 -H 768 -C 7.5 -A k_lms -G 0.9 -U 4 0.95`,
		"none":        `"a \"wise\" fox [ugly, blurry]" -s50 -S42 -W512 -H768 -C7.5 -Ak_lms`,
		"long names":  `"a \"wise\" fox [ugly, blurry]" --steps 50 --seed 42 --width 512 --height 768 --cfg_scale 7.5 --sampler k_lms`,
		"not at all:": `"a \"wise\" fox [ugly, blurry]" -A k_lms -C 7.5 -H 768 -W 512 -S 42 -s 50`,
	} {
		t.Run(name, func(t *testing.T) { diff(t, want, factsOf(readAs(t, "invokeai-dream", png("Dream", line)))) })
	}
}

func TestInvokeAI_DreamKeepsOnlyOtherFlagsAsExtras(t *testing.T) {
	l := readAs(t, "invokeai-dream", png("Dream", `"fox" --steps 10 --seed 1 --cfg_scale 7 -G 0.8`))
	diff(t, map[string]string{"-G": "0.8"}, l.Extra)
}

func TestInvokeAI_DreamNamesItsInitialImage(t *testing.T) {
	l := readAs(t, "invokeai-dream", png("Dream", `"fox" -s 10 -S 1 -I outputs/first.png -f 0.4`))
	diff(t, facts{Tool: "invokeai", Positive: "fox", Seed: 1, Steps: 10, Denoise: 0.4, Parents: []string{"init_image first.png"}}, factsOf(l))
}

func TestInvokeAI_BracketsThatAreNeverClosedAreText(t *testing.T) {
	positive, negative := splitBracketNegatives(`a fox [in snow and \[escaped\]`)
	if positive != `a fox [in snow and \[escaped\]` || negative != nil {
		t.Errorf("split into %q and %v", positive, negative)
	}
}

func FuzzDream(f *testing.F) {
	f.Add(`"a fox [ugly]" -s 50 -S 42 -U 4 0.95 -Ak_lms`)
	f.Add(`a fox \" -- - -s`)
	f.Fuzz(func(t *testing.T, line string) {
		checkRecords(t, Read(open(container.Chunk{Place: "png:tEXt", Key: "Dream", Text: line})))
	})
}
