package comfy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const objectInfo = `{
 "Zork Sampler": {"input": {"required": {"model": ["MODEL"], "positive": ["CONDITIONING"], "negative": ["CONDITIONING"], "latent_image": ["LATENT"],
   "eta": ["FLOAT", {"default": 0.5}], "seed": ["INT", {"control_after_generate": true}], "steps": ["INT"], "cfg": ["FLOAT"],
   "sampler_name": [["euler", "heun"]], "scheduler": ["COMBO", {"options": ["karras"]}]},
   "optional": {"forced": ["STRING", {"forceInput": true}], "denoise": ["FLOAT"]}},
   "input_order": {"required": ["model", "positive", "negative", "latent_image", "eta", "cfg", "sampler_name", "scheduler", "steps", "seed"], "optional": ["forced", "denoise"]},
   "output": ["LATENT"], "output_name": ["LATENT"], "python_module": "custom_nodes.zork"},
 "LoadImage": {"input": {"required": {"image": [["a.png"], {"image_upload": true}]}}, "output_name": ["IMAGE", "MASK"]}
}`

func TestFromObjectInfo_ListsWidgetsInTheirOrder(t *testing.T) {
	f, err := FromObjectInfo([]byte(objectInfo), "a test")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"eta", "cfg", "sampler_name", "scheduler", "steps", "seed", "denoise"}
	if diff := cmp.Diff(want, f.Nodes["Zork Sampler"].Widgets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"image", "upload"}, f.Nodes["LoadImage"].Widgets); diff != "" {
		t.Error(diff)
	}
	for _, doc := range []string{"", "[]", "{}", `{"a":1}`, "<html>", strings.Repeat(`{"a":`, 1000)} {
		if _, err := FromObjectInfo([]byte(doc), ""); !errors.Is(err, ErrNoObjectInfo) {
			t.Errorf("%.20q gave %v", doc, err)
		}
	}
}

// zorkDrawn is a drawn workflow with a sampler of a pack that nothing is known of.
const zorkDrawn = `{"nodes": [
 {"id": 1, "type": "CheckpointLoaderSimple", "widgets_values": ["base.safetensors"], "outputs": [{"name": "MODEL", "type": "MODEL"}, {"name": "CLIP", "type": "CLIP"}, {"name": "VAE", "type": "VAE"}]},
 {"id": 2, "type": "CLIPTextEncode", "widgets_values": ["a fox"], "inputs": [{"name": "clip", "type": "CLIP", "link": 1}], "outputs": [{"name": "CONDITIONING", "type": "CONDITIONING"}]},
 {"id": 3, "type": "Zork Sampler", "widgets_values": [0.25, 4.5, "heun", "karras", 12, 77, "fixed", 0.8],
  "inputs": [{"name": "model", "type": "MODEL", "link": 2}, {"name": "positive", "type": "CONDITIONING", "link": 3}], "outputs": [{"name": "LATENT", "type": "LATENT"}]},
 {"id": 4, "type": "VAEDecode", "inputs": [{"name": "samples", "type": "LATENT", "link": 4}], "outputs": [{"name": "IMAGE", "type": "IMAGE"}]},
 {"id": 5, "type": "SaveImage", "widgets_values": ["x"], "inputs": [{"name": "images", "type": "IMAGE", "link": 5}]}],
 "links": [[1, 1, 1, 2, 0, "CLIP"], [2, 1, 0, 3, 0, "MODEL"], [3, 2, 0, 3, 1, "CONDITIONING"], [4, 3, 0, 4, 0, "LATENT"], [5, 4, 0, 5, 0, "IMAGE"]]}`

func TestLoadClasses_ReadsDrawnWorkflowsOfClassesThatPeopleDescribe(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(func() {
		if err := LoadClasses(filepath.Join(dir, "gone")); err != nil {
			t.Error(err)
		}
	})
	before, _ := Read(Input{Workflow: []byte(zorkDrawn)})
	if p := before.Parameters; p != nil && (p.CFGScale != nil || p.Steps != nil) {
		t.Fatalf("steps or cfg of an unknown class are read: %+v", p)
	}
	f, err := FromObjectInfo([]byte(objectInfo), "a test")
	if err != nil {
		t.Fatal(err)
	}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "zork.json"), b)
	write(t, filepath.Join(dir, "broken.json"), []byte(`{"nodes": {"A": {"role": "wizard"}}}`))
	err = LoadClasses(dir)
	if err == nil || !strings.Contains(err.Error(), "broken.json") || !strings.Contains(err.Error(), "wizard") {
		t.Errorf("a file that cannot be used gave %v", err)
	}
	l, ok := Read(Input{Workflow: []byte(zorkDrawn)})
	if !ok || l.Parameters == nil {
		t.Fatal("nothing was read")
	}
	p := l.Parameters
	if *p.Seed != 77 || *p.Steps != 12 || *p.CFGScale != 4.5 || *p.Sampler != "heun" || *p.Scheduler != "karras" || *p.Denoise != 0.8 || *l.Positive != "a fox" {
		t.Errorf("read %+v and %q", p, *l.Positive)
	}
	named := false
	for _, e := range l.Evidence {
		named = named || e.Field == "steps" && strings.Contains(e.Rule, "zork.json")
	}
	if !named {
		t.Errorf("the evidence does not name the file of the class: %+v", l.Evidence)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestShippedClasses_AreComplete holds that the packs that matter are described.
func TestShippedClasses_AreComplete(t *testing.T) {
	for _, class := range []string{"KSampler", "SamplerCustomAdvanced", "Eff. Loader SDXL", "easy a1111Loader", "ttN pipeKSampler_v2", "CLIP Positive-Negative (WLSH)", "Text to Conditioning",
		"ClownsharKSampler_Beta", "CogVideoSampler", "HyVideoSampler", "HYFlowEditSampler", "WanVideoSampler", "LTXVBaseSampler", "LTXICLoRALoaderModelOnly", "XlabsSampler", "NunchakuFluxDiTLoader",
		"Image Saver Simple", "PCLazyTextEncode", "SDPromptSaver", "Pipe from any [Crystools]", "String Replace (mtb)", "JoinStrings", "Power Prompt (rgthree)", "KSampler //Inspire",
		"FromBasicPipe_v2", "CR LoRA Stack", "MultiAreaConditioning", "RunwayImageToVideoNodeGen4"} {
		if classOf(class, foldClass(class)) == nil {
			t.Errorf("%s is not described", class)
		}
	}
}

// TestFromObjectInfo_OrdersUploadsAndLeavesChangingWidgetsOpen reads classes whose widgets the
// editor adds to, or changes with a choice.
func TestFromObjectInfo_OrdersUploadsAndLeavesChangingWidgetsOpen(t *testing.T) {
	f, err := FromObjectInfo([]byte(`{
		"LoadImageMask": {"input": {"required": {"image": [["a.png"], {"image_upload": true}], "channel": [["alpha", "red"]]}, "optional": {"tint": ["COLOR", {"default": "#000000"}]}}},
		"LoadAudio": {"input": {"required": {"audio": ["COMBO", {"audio_upload": true, "options": []}]}}},
		"ResizeImageMaskNode": {"input": {"required": {"input": ["COMFY_MATCHTYPE_V3", {}], "resize_type": ["COMFY_DYNAMICCOMBO_V3", {"options": []}], "scale_method": [["area"]]}}}}`), "a test")
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{"LoadImageMask": "image channel upload tint", "LoadAudio": "audio audioUI upload", "ResizeImageMaskNode": ""} {
		if got := strings.Join(f.Nodes[class].Widgets, " "); got != want {
			t.Errorf("%s has the widgets %q, not %q", class, got, want)
		}
	}
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() { _ = LoadClasses(t.TempDir()) })
	shippedWidgets := classOf("ResizeImageMaskNode", "").Widgets
	write(t, filepath.Join(dir, "mine.json"), b)
	if err := LoadClasses(dir); err != nil {
		t.Fatal(err)
	}
	if got := classOf("ResizeImageMaskNode", "").Widgets; len(shippedWidgets) == 0 || strings.Join(got, " ") != strings.Join(shippedWidgets, " ") {
		t.Errorf("an import left %v of the widgets %v that ship", got, shippedWidgets)
	}
}
