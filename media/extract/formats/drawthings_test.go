package formats

import "testing"

const drawRecord = `{"c":"a fox","uc":"ugly","model":"fox_q6p.ckpt","sampler":"DPM++ 2M Karras","scale":4.5,"seed":42,"seed_mode":"Scale Alike","size":"1024x1024","steps":20,"strength":1,
 "lora":[{"model":"fur_lora.ckpt","weight":0.6}],"control":[{"file":"canny.ckpt","weight":1}],
 "v2":{"width":1024,"height":1024,"hiresFix":true,"hiresFixWidth":512,"hiresFixHeight":512,"hiresFixStrength":0.7,"clipSkip":1,"upscaler":"sharp.ckpt"}}`

func TestDrawthings_DrawThings(t *testing.T) {
	l := readAs(t, "draw-things", chunk("xmp", "exif:UserComment", drawRecord), chunk("xmp", "xmp:CreatorTool", "Draw Things"), chunk("xmp", "dc:description", "a fox"))
	diff(t, facts{Tool: "draw-things", Positive: "a fox", Negative: "ugly", Seed: 42, Steps: 20, CFG: 4.5, Sampler: "DPM++ 2M Karras", Scheduler: "Karras", Denoise: 1, W: 512, H: 512, ClipSkip: 1,
		Model: "fox_q6p.ckpt", Models: []string{"checkpoint fox_q6p.ckpt", "lora fur_lora.ckpt *0.6", "controlnet canny.ckpt *1", "upscaler sharp.ckpt"},
		Hires: `{"width":1024,"height":1024,"denoise":0.7}`}, factsOf(l))
}

func TestDrawthings_DrawThingsHiresOfItsOwnNames(t *testing.T) {
	l := readAs(t, "draw-things", exif(`{"c":"a fox","uc":"","size":"1024x1024","hires_fix":true,"first_stage_size":"640x640","second_stage_strength":0.6,"refiner":"refine.ckpt","seed_mode":"Scale Alike"}`))
	diff(t, facts{Tool: "draw-things", Positive: "a fox", W: 640, H: 640, Models: []string{"checkpoint refine.ckpt"}, Hires: `{"width":1024,"height":1024,"denoise":0.6}`}, factsOf(l))
}

// TestDrawthings_DrawThingsGuidance: the app writes one whatever the model.
func TestDrawthings_DrawThingsGuidance(t *testing.T) {
	for record, want := range map[string]float64{
		`{"c":"a fox","model":"flux_1_dev.ckpt","seed":1,"v2":{"guidanceEmbed":3.5,"speedUpWithGuidanceEmbed":false}}`: 3.5,
		`{"c":"a fox","model":"flux_1_dev.ckpt","seed":1,"v2":{"guidanceEmbed":3.5,"speedUpWithGuidanceEmbed":true}}`:  0,
		`{"c":"a fox","model":"sd_xl.ckpt","seed":1,"v2":{"guidanceEmbed":3.5,"speedUpWithGuidanceEmbed":false}}`:      0,
	} {
		if got := factsOf(readAs(t, "draw-things", exif(record))).Guidance; got != want {
			t.Errorf("guidance %v, want %v for %s", got, want, record)
		}
	}
}

func TestDrawthings_DrawThingsDescription(t *testing.T) {
	l := readAs(t, "draw-things", chunk("xmp", "dc:description", "a fox\nin snow\n-ugly, blurry\nSteps: 30, Sampler: DPM++ 2M AYS, Guidance Scale: 5.0, Seed: 42, Size: 512x768, Model: flux.ckpt, Strength: 1.0, Seed Mode: Scale Alike, LoRA 1 Model: fur.ckpt, LoRA 1 Weight: 0.4"))
	diff(t, facts{Tool: "draw-things", Positive: "a fox\nin snow", Negative: "ugly, blurry", Seed: 42, Steps: 30, CFG: 5, Sampler: "DPM++ 2M AYS", Denoise: 1, W: 512, H: 768,
		Model: "flux.ckpt", Models: []string{"checkpoint flux.ckpt", "lora fur.ckpt *0.4"}}, factsOf(l))
}

func TestDrawthings_DrawThingsWithoutXMP(t *testing.T) {
	if got := rules(exif(drawRecord)); len(got) != 1 || got[0] != "draw-things" {
		t.Errorf("rules are %v", got)
	}
}
