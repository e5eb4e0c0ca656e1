package formats

import (
	"fmt"
	"testing"

	"vitrine/media/extract/container"
)

const swarmRecord = `{"sui_image_params": {"prompt": "a fox <lora:snow:0.7>", "negativeprompt": "", "model": "dir/fox_v2", "seed": 42, "steps": 20,
 "cfgscale": 7.0, "width": 768, "height": 512, "sampler": "euler", "scheduler": "karras", "loras": ["fur", "off"], "loraweights": ["0.5", "0"],
 "vae": "soft", "refinercontrolpercentage": 0.3, "refinerupscale": 1.5, "refinerupscalemethod": "model-4xSharp.pth", "clipstopatlayer": -2, "swarm_version": "0.9.7.4"},
 "sui_models": [{"name": "fox_v2.safetensors", "param": "model", "hash": "0xabc"}, {"name": "fur.safetensors", "param": "loras", "hash": "0xdef"}]}`

func TestSwarmUI(t *testing.T) {
	want := facts{Tool: "swarmui", Version: "0.9.7.4", Positive: "a fox <lora:snow:0.7>", Seed: 42, Steps: 20, CFG: 7, Sampler: "euler", Scheduler: "karras",
		W: 768, H: 512, ClipSkip: 2, Model: "dir/fox_v2",
		Models: []string{"checkpoint dir/fox_v2 #0xabc", "vae soft", "lora fur #0xdef *0.5", "lora snow *0.7", "upscaler 4xSharp.pth"},
		Hires:  `{"scale":1.5,"upscaler":"model-4xSharp.pth","denoise":0.3}`}
	for _, c := range []container.Chunk{png("parameters", swarmRecord), exif(swarmRecord), chunk("jpeg:exif", "Model", swarmRecord), chunk("sidecar:json", "parameters", swarmRecord)} {
		l := readAs(t, "swarmui", c)
		diff(t, want, factsOf(l))
		if l.Negative == nil {
			t.Error("an empty negative prompt is written down and must be read as empty")
		}
	}
}

func TestSwarmUI_RefinerIsAPassOfItsOwn(t *testing.T) {
	l := readAs(t, "swarmui", png("parameters", `{"sui_image_params":{"prompt":"a fox","seed":5,"steps":20,"model":"base","refinermodel":"fine","refinercontrolpercentage":0.2,"refinersteps":9}}`))
	var passes []string
	for _, p := range l.Samplers {
		passes = append(passes, fmt.Sprint(p.Role, " ", p.Model, " ", val(p.Steps), " ", val(p.Denoise)))
	}
	diff(t, []string{"base base 20 0", "refiner fine 9 0.2"}, passes)
	if l.Hires != nil {
		t.Errorf("nothing is enlarged: %+v", l.Hires)
	}
}

func TestSwarmUI_NamesAreLettersAlone(t *testing.T) {
	l := readAs(t, "swarmui", png("parameters", `{"sui_image_params":{"prompt":"fox","seed":"7","model":"wan","width":1024,"height":1024,"rawresolution":"832x480",
	 "textvideoframes":"81","textvideofps":"16","txxlmodel":"umt5","loras":"fur,off","loraweights":"0.5,0","loratencweights":"0.3,0","refinermodel":"(Use Base)",
	 "refinercontrolpercentage":"0.4","refinersampler":"uni_pc"}}`))
	diff(t, []string{"checkpoint wan", "lora fur *0.5", "clip umt5"}, factsOf(l).Models)
	if p := l.Parameters; val(p.Frames) != 81 || val(p.FPS) != 16 || val(p.Width) != 832 || val(p.Height) != 480 {
		t.Errorf("%d frames at %v of %d by %d", val(p.Frames), val(p.FPS), val(p.Width), val(p.Height))
	}
	if p := l.Samplers[1]; p.Model != "" || val(p.Sampler) != "uni_pc" || val(p.Denoise) != 0.4 {
		t.Errorf("the second pass is %+v", p)
	}
	if m := l.Models[1]; val(m.ClipStrength) != 0.3 {
		t.Errorf("the network acts on the text encoder by %v", m.ClipStrength)
	}
}

func TestSwarmUI_HeightByAFactorIsNotTheOneWritten(t *testing.T) {
	l := readAs(t, "swarmui", png("parameters", `{"sui_image_params":{"prompt":"fox","seed":7,"width":1024,"height":1024,"altresolutionheightmultiplier":1.3}}`))
	diff(t, facts{Tool: "swarmui", Positive: "fox", Seed: 7}, factsOf(l))
}

func TestSwarmUI_OldNames(t *testing.T) {
	l := readAs(t, "swarmui", exif(`{"sui_image_params":{"prompt":"fox","seed":"7","comfyuisampler":"dpmpp_2m","comfyuischeduler":"normal"}}`))
	diff(t, facts{Tool: "swarmui", Positive: "fox", Seed: 7, Sampler: "dpmpp_2m", Scheduler: "normal"}, factsOf(l))
}

func TestSwarmUI_IsReadBeforeItsGraph(t *testing.T) {
	got := rules(png("prompt", `{"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"fox_v2.safetensors"}}}`), png("parameters", swarmRecord))
	if len(got) == 0 || got[0] != "swarmui" {
		t.Errorf("rules are %v", got)
	}
}
