package comfy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/library"
)

// Each test holds one way in which a reader could make up a value that a graph does not have.

// readGraph reads an executed graph of a text, a blank, a checkpoint and a sampler, changed
// and extended by more nodes: `"id": {…}`.
func readGraph(t *testing.T, in Input, more ...string) library.Lineage {
	t.Helper()
	nodes := map[string]string{
		"4": `{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"base.safetensors"}}`,
		"5": `{"class_type":"EmptyLatentImage","inputs":{"width":512,"height":768,"batch_size":1}}`,
		"6": `{"class_type":"CLIPTextEncode","inputs":{"text":"a red fox","clip":["4",1]}}`,
		"7": `{"class_type":"CLIPTextEncode","inputs":{"text":"blurry","clip":["4",1]}}`,
		"3": `{"class_type":"KSampler","inputs":{"seed":11,"steps":20,"cfg":7.5,"sampler_name":"euler","scheduler":"karras","denoise":1,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]}}`,
		"8": `{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}}`,
		"9": `{"class_type":"SaveImage","inputs":{"filename_prefix":"x","images":["8",0]}}`,
	}
	for _, m := range more {
		id, node, ok := strings.Cut(m, "=")
		if !ok {
			t.Fatalf("%q is no node", m)
		}
		nodes[id] = node
	}
	var parts []string
	for id, node := range nodes {
		parts = append(parts, fmt.Sprintf("%q: %s", id, node))
	}
	slices.Sort(parts)
	in.Prompt = []byte("{" + strings.Join(parts, ",") + "}")
	lin, ok := Read(in)
	if !ok {
		t.Fatalf("no graph: %s", in.Prompt)
	}
	if lin.Parameters == nil {
		t.Fatal("the pass was not found")
	}
	return lin
}

// sampler is the graph's sampler with other links or values, as JSON members.
func sampler(changed string) string {
	return `3={"class_type":"KSampler","inputs":{"seed":11,"steps":20,"cfg":7.5,"sampler_name":"euler","scheduler":"karras","model":["4",0],` + changed + `}}`
}

func textOf(s *string) string {
	if s == nil {
		return "<nothing>"
	}
	return *s
}

func TestNeverInvent_SidesAreNeverMixedByAnUnknownNodeWithTwoConditionings(t *testing.T) {
	for _, names := range [][2]string{{"positive", "negative"}, {"cond_1", "cond_2"}, {"cond", "uncond"}, {"conditioning_a", "conditioning_b"}, {"first", "second"}} {
		node := fmt.Sprintf(`20={"class_type":"Xq Zrt","inputs":{%q:["6",0],%q:["7",0],"weight":0.5}}`, names[0], names[1])
		lin := readGraph(t, Input{}, node, sampler(`"denoise":1,"positive":["20",0],"negative":["20",1],"latent_image":["5",0]`))
		if p := textOf(lin.Positive); strings.Contains(p, "blurry") {
			t.Errorf("inputs %v: the positive prompt is %q", names, p)
		}
		if n := textOf(lin.Negative); strings.Contains(n, "fox") {
			t.Errorf("inputs %v: the negative prompt is %q", names, n)
		}
	}
}

func TestNeverInvent_WordsOfChoicesAreNoPrompt(t *testing.T) {
	for _, word := range []string{"true", "false", "enable", "none", "euler", "dpmpp_2m", "karras", "base.safetensors", "720p", "16:9", "kling-v2-6", "1024x1024", "randomize", "3.5"} {
		lin := readGraph(t, Input{}, fmt.Sprintf(`6={"class_type":"CLIPTextEncode","inputs":{"text":%q,"clip":["4",1]}}`, word))
		if lin.Positive != nil {
			t.Errorf("the prompt is %q", *lin.Positive)
		}
	}
}

func TestNeverInvent_AnItemThatIsPickedIsThatItem(t *testing.T) {
	list := `20={"class_type":"ImpactMakeAnyList","inputs":{"value1":["21",0],"value2":["22",0]}}`
	one := `21={"class_type":"PrimitiveString","inputs":{"value":"a red fox"}}`
	two := `22={"class_type":"PrimitiveString","inputs":{"value":"a blue owl"}}`
	pick := `23={"class_type":"ImpactSelectNthItemOfAnyList","inputs":{"any_list":["20",0],"index":1}}`
	lin := readGraph(t, Input{}, list, one, two, pick, `6={"class_type":"CLIPTextEncode","inputs":{"text":["23",0],"clip":["4",1]}}`)
	if p := textOf(lin.Positive); strings.Contains(p, "fox") {
		t.Errorf("the prompt is %q, the second item is another", p)
	}
}

func TestNeverInvent_NumbersAreNotTakenThroughUnknownClasses(t *testing.T) {
	unknown := `20={"class_type":"Xq Zrt","inputs":{"a":["21",0],"k":3}}`
	number := `21={"class_type":"PrimitiveFloat","inputs":{"value":4}}`
	lin := readGraph(t, Input{}, unknown, number,
		sampler(`"denoise":["20",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]`),
		`5={"class_type":"EmptyLatentImage","inputs":{"width":["20",0],"height":["20",1],"batch_size":1}}`)
	p := lin.Parameters
	if p.Denoise != nil || p.Width != nil || p.Height != nil {
		t.Errorf("denoise %v, width %v, height %v are read through a class that nothing is known of", p.Denoise, p.Width, p.Height)
	}
}

func TestNeverInvent_ScaledSizesAreNotTheUnscaled(t *testing.T) {
	lin := readGraph(t, Input{}, `20={"class_type":"Xq Width Scaler","inputs":{"width":512,"height":768,"multiplier":["21",0]}}`, `21={"class_type":"Xq Zrt","inputs":{"a":["4",0]}}`,
		`5={"class_type":"EmptyLatentImage","inputs":{"width":["20",0],"height":["20",1],"batch_size":1}}`)
	if w := lin.Parameters.Width; w != nil {
		t.Errorf("the width is %d, though it was multiplied by a number that is not known", *w)
	}
}

func TestNeverInvent_DroppedPartsAreWarnedAbout(t *testing.T) {
	third := readGraph(t, Input{}, `10={"class_type":"CLIPTextEncode","inputs":{"text":"from far away","clip":["4",1]}}`,
		`11={"class_type":"DualCFGGuider","inputs":{"model":["4",0],"cond1":["6",0],"cond2":["10",0],"negative":["7",0],"cfg_conds":5,"cfg_cond2_negative":5}}`,
		`3={"class_type":"SamplerCustomAdvanced","inputs":{"noise":["12",0],"guider":["11",0],"sampler":["13",0],"sigmas":["14",0],"latent_image":["5",0]}}`,
		`12={"class_type":"RandomNoise","inputs":{"noise_seed":11}}`, `13={"class_type":"KSamplerSelect","inputs":{"sampler_name":"euler"}}`,
		`14={"class_type":"BasicScheduler","inputs":{"model":["4",0],"scheduler":"simple","steps":20,"denoise":1}}`)
	replaced := readGraph(t, Input{}, `6={"class_type":"CLIPTextEncode","inputs":{"text":["20",0],"clip":["4",1]}}`,
		`20={"class_type":"StringReplace","inputs":{"string":"a red fox","find":"red","replace":["21",0]}}`, `21={"class_type":"Xq Zrt","inputs":{"a":["4",0]}}`)
	items := readGraph(t, Input{}, `6={"class_type":"CLIPTextEncode","inputs":{"text":["20",0],"clip":["4",1]}}`,
		`20={"class_type":"easy promptLine","inputs":{"prompt":"a fox\na wolf","start_index":0,"max_rows":1000}}`)
	for what, lin := range map[string]library.Lineage{"a third conditioning": third, "a replaced text": replaced, "items of a list": items} {
		if len(lin.Warnings) == 0 {
			t.Errorf("%s: nothing is said of what was left out; the prompt is %q", what, textOf(lin.Positive))
		}
	}
	if replaced.Positive != nil || items.Positive != nil {
		t.Errorf("the prompts are %q and %q", textOf(replaced.Positive), textOf(items.Positive))
	}
}

func TestNeverInvent_SwitchesOfLoadersAreNoModels(t *testing.T) {
	lin := readGraph(t, Input{}, `4={"class_type":"FluxLoader","inputs":{"model_name":"base.safetensors","weight_dtype":"default","clip_name1":".use_ckpt_clip","clip_name2_opt":".none","vae_name":".use_ckpt_vae","clip_vision_name":".none","style_model_name":".none"}}`)
	if len(lin.Models) != 1 || lin.Models[0].Name != "base.safetensors" {
		t.Errorf("the models are %v", lin.Models)
	}
}

func TestNeverInvent_TypesOfModelsAreNotTakenFromPartsOfClassNames(t *testing.T) {
	for _, class := range []string{"kSAMpler Loader", "SAMpling Loader", "Xq LORAcle Loader"} {
		lin := readGraph(t, Input{}, fmt.Sprintf(`20={"class_type":%q,"inputs":{"some_model":"v.safetensors"}}`, class),
			sampler(`"denoise":1,"positive":["6",0],"negative":["7",0],"latent_image":["5",0]`),
			`8={"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["20",0]}}`)
		for _, m := range lin.Models {
			if m.Name == "v.safetensors" && m.Type != "vae" {
				t.Errorf("%s: the type is %q, the VAE's input takes it", class, m.Type)
			}
		}
	}
}

func TestNeverInvent_AScreenshotsSizeIsNotTheGenerations(t *testing.T) {
	open := `5={"class_type":"VAEEncode","inputs":{"pixels":["20",0],"vae":["4",2]}}`
	image := `20={"class_type":"LoadImage","inputs":{"image":"room.png"}}`
	for name, in := range map[string]Input{"sides of no latent": {FileWidth: 3559, FileHeight: 1261, MIME: "image/png"}} {
		if lin := readGraph(t, in, open, image); lin.Parameters.Width != nil {
			t.Errorf("%s: the width is %d", name, *lin.Parameters.Width)
		}
	}
	resized := readGraph(t, Input{FileWidth: 2048, FileHeight: 2048, MIME: "image/png"}, open, image,
		`21={"class_type":"ImageScaleBy","inputs":{"image":["8",0],"upscale_method":"lanczos","scale_by":2}}`, `9={"class_type":"SaveImage","inputs":{"filename_prefix":"x","images":["21",0]}}`)
	if resized.Parameters.Width != nil {
		t.Errorf("the width of an enlarged picture is taken for the pass': %d", *resized.Parameters.Width)
	}
}

// What an unknown node of a stream chooses is not known: of what its choice may leave out or set,
// nothing is said.
func TestNeverInvent_AnUnknownNodeOfAStreamLeavesOpenWhatItMayChoose(t *testing.T) {
	doc := strings.Replace(string(readCases(t)["pack_searge_parameters"].Prompt), "SeargeInput7", "Unheard", 1)
	lin, ok := Read(Input{Prompt: []byte(doc)})
	if !ok {
		t.Fatal("no graph found")
	}
	if lin.Positive == nil || *lin.Positive != "a red fox in the snow" {
		t.Errorf("positive is %v", lin.Positive)
	}
	if lin.Negative == nil || *lin.Negative != "blurry" {
		t.Errorf("negative is %v", lin.Negative)
	}
}
