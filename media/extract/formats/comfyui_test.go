package formats

import (
	"encoding/json"
	"testing"

	"vitrine/media/extract/container"
)

// Two documents of one graph, with keys in an order that re-encoding would change.
const (
	apiGraph = `{"9":{"inputs":{"filename_prefix":"a","images":["8",0]},"class_type":"SaveImage"},"8":{"inputs":{"samples":["3",0],"vae":["4",2]},"class_type":"VAEDecode"},` +
		`"3":{"inputs":{"seed":18446744073709551615,"steps":20,"cfg":7.5,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]},"class_type":"KSampler"},` +
		`"4":{"inputs":{"ckpt_name":"fox.safetensors"},"class_type":"CheckpointLoaderSimple"},"5":{"inputs":{"width":512,"height":768,"batch_size":1},"class_type":"EmptyLatentImage"},` +
		`"6":{"inputs":{"text":"a fox","clip":["4",1]},"class_type":"CLIPTextEncode"},"7":{"inputs":{"text":"ugly","clip":["4",1]},"class_type":"CLIPTextEncode"}}`
	editorGraph = `{"version":0.4,"nodes":[{"id":4,"type":"CheckpointLoaderSimple","widgets_values":["fox.safetensors"]}],"links":[],"extra":{}}`
)

// quoted returns a text as a JSON string, as often as asked.
func quoted(text string, times int) string {
	for range times {
		b, _ := json.Marshal(text)
		text = string(b)
	}
	return text
}

func TestComfyUI_GraphsAreFoundWhereverTheyStand(t *testing.T) {
	for name, chunks := range map[string][]container.Chunk{
		"PNG":                         {png("prompt", apiGraph), png("workflow", editorGraph)},
		"animated WebP":               {chunk("webp:exif", "Make", "workflow:"+editorGraph), chunk("webp:exif", "Model", "prompt:"+apiGraph)},
		"JPEG of a saver node":        {chunk("jpeg:exif", "ImageDescription", "Workflow: "+editorGraph), chunk("jpeg:exif", "Make", "Prompt: "+apiGraph)},
		"an object of both":           {exif(`{"prompt": ` + apiGraph + `, "workflow": ` + editorGraph + `}`)},
		"a video's comment":           {chunk("mp4:ilst", "comment", `{"prompt": `+quoted(apiGraph, 1)+`, "workflow": `+editorGraph+`}`)},
		"a comment in capitals":       {chunk("mkv:tag", "COMMENT", `{"prompt": `+quoted(apiGraph, 1)+`, "workflow": `+quoted(editorGraph, 1)+`}`)},
		"video keys":                  {chunk("mkv:tag", "PROMPT", apiGraph), chunk("mkv:tag", "WORKFLOW", editorGraph)},
		"strings of strings":          {chunk("mp4:ilst", "prompt", quoted(apiGraph, 3)), chunk("mp4:ilst", "workflow", quoted(editorGraph, 3))},
		"a sidecar of the same name":  {chunk("sidecar:json", "prompt", apiGraph), chunk("sidecar:json", "workflow", editorGraph)},
		"the comment of a JPEG":       {chunk("jpeg:comment", "comment", `{"workflow": `+editorGraph+`, "prompt": `+apiGraph+`}`)},
		"a model's bundle, 3D viewer": {chunk("glb:extras", "prompt", quoted(apiGraph, 1)), chunk("glb:extras", "workflow", quoted(editorGraph, 1))},
	} {
		t.Run(name, func(t *testing.T) {
			l := readAs(t, "comfyui", chunks...)
			diff(t, facts{Tool: "comfyui", Positive: "a fox", Negative: "ugly", Seed: 18446744073709551615, Steps: 20, CFG: 7.5, Sampler: "euler", Scheduler: "normal", Denoise: 1, W: 512, H: 768,
				Model: "fox.safetensors", Models: []string{"checkpoint fox.safetensors"}}, factsOf(l))
			if l.Workflow == nil || string(l.Workflow.PromptJSON) != apiGraph || string(l.Workflow.JSON) != editorGraph {
				t.Error("the graphs are not kept byte for byte")
			}
		})
	}
}

func TestComfyUI_GraphsOfFileAndSidecarAreNotMixed(t *testing.T) {
	l := readAs(t, "comfyui", png("workflow", editorGraph), chunk("sidecar:png:png:tEXt", "prompt", apiGraph))
	if l.Workflow == nil || len(l.Workflow.PromptJSON) > 0 {
		t.Error("the sidecar's graph was joined to the file's")
	}
}

func TestComfyUI_NodeCalledPromptIsANode(t *testing.T) {
	graph := `{"prompt":{"inputs":{"text":"a fox"},"class_type":"CLIPTextEncode"},"workflow":{"inputs":{},"class_type":"Note"}}`
	src := open(png("prompt", graph))
	if len(src.Entries) != 1 || src.Entries[0].Text != graph {
		t.Errorf("the graph was taken apart into %d records", len(src.Entries))
	}
}

func TestComfyUI_ModelSiteIdentifiersAndAddresses(t *testing.T) {
	l := readAs(t, "comfyui", png("prompt", `{"9":{"inputs":{"images":["8",0]},"class_type":"SaveImage"},"8":{"inputs":{"samples":["3",0],"vae":["4",2]},"class_type":"VAEDecode"},
	 "3":{"inputs":{"seed":1,"model":["4",0],"latent_image":["5",0]},"class_type":"KSampler"},"5":{"inputs":{"pixels":["1",0],"vae":["4",2]},"class_type":"VAEEncode"},
	 "1":{"inputs":{"image":"https://example.org/blobs/4CQ.jpeg?sig=CfDJ&exp=2026"},"class_type":"LoadImage"},
	 "4":{"inputs":{"ckpt_name":"urn:air:sdxl:checkpoint:civitai:1@2"},"class_type":"CheckpointLoaderSimple"}}`))
	if len(l.Parents) != 1 || l.Parents[0].Name != "4CQ.jpeg" {
		t.Errorf("parents are %+v", l.Parents)
	}
	if len(l.Models) != 1 || l.Models[0].VersionID != "urn:air:sdxl:checkpoint:civitai:1@2" {
		t.Errorf("models are %+v", l.Models)
	}
}
