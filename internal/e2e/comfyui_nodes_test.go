package e2e

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/service/servicetest"
)

//go:embed testdata/comfyui_nodes.py
var comfyHarness string

// newComfy installs the node pack as its README says.
func newComfy(t *testing.T) comfy {
	t.Helper()
	c := comfy{t, t.TempDir()}
	if err := os.CopyFS(c.pack(), os.DirFS(filepath.Join(testenv.ModuleRoot(t), "comfyui"))); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c comfy) pack() string { return filepath.Join(c.home, "custom_nodes", "vitrine") }

// comfy runs the node pack as ComfyUI does, with an output folder that outlives it.
type comfy struct {
	t    *testing.T
	home string
}

// ran is what one node returned.
type ran struct {
	Result []json.RawMessage `json:"result"`
	UI     struct {
		Images []struct{ Filename, Subfolder string }
	} `json:"ui"`
	Error string `json:"error"`
}

// run starts a ComfyUI for some steps and returns what each gave.
func (c comfy) run(env []string, steps ...map[string]any) []json.RawMessage {
	c.t.Helper()
	task, err := json.Marshal(map[string]any{"pack": c.pack(), "home": c.home, "steps": steps})
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.CommandContext(c.t.Context(), testenv.Tool(c.t, "writers"), "-B", "-c", comfyHarness)
	cmd.Stdin = bytes.NewReader(task)
	cmd.Env = append(os.Environ(), "HOME="+c.home, "VITRINE_API_KEY=", "VITRINE_URL=")
	cmd.Env = append(cmd.Env, env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%v\n%s", err, said.String())
	}
	var answers []json.RawMessage
	for line := range strings.Lines(string(out)) {
		answers = append(answers, json.RawMessage(line))
	}
	if len(answers) != len(steps) {
		c.t.Fatalf("%d answers to %d steps: %s\n%s", len(answers), len(steps), out, said.String())
	}
	return answers
}

func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// comfyPrompt is a graph whose images SaveToVitrine takes.
var comfyPrompt = map[string]any{
	"1": map[string]any{"class_type": "CheckpointLoaderSimple", "inputs": map[string]any{"ckpt_name": "dream.safetensors"}},
	"2": map[string]any{"class_type": "CLIPTextEncode", "inputs": map[string]any{"text": "a lighthouse of quartz", "clip": []any{"1", 1}}},
	"3": map[string]any{"class_type": "CLIPTextEncode", "inputs": map[string]any{"text": "fog", "clip": []any{"1", 1}}},
	"4": map[string]any{"class_type": "EmptyLatentImage", "inputs": map[string]any{"width": 48, "height": 32, "batch_size": 3}},
	"5": map[string]any{"class_type": "KSampler", "inputs": map[string]any{"model": []any{"1", 0}, "positive": []any{"2", 0}, "negative": []any{"3", 0}, "latent_image": []any{"4", 0},
		"seed": 42, "steps": 20, "cfg": 7.5, "sampler_name": "euler", "scheduler": "normal", "denoise": 1}},
	"6": map[string]any{"class_type": "VAEDecode", "inputs": map[string]any{"samples": []any{"5", 0}, "vae": []any{"1", 2}}},
	"7": map[string]any{"class_type": "SaveToVitrine", "inputs": map[string]any{"images": []any{"6", 0}, "filename_prefix": "sea/light", "tags": "node, lighthouse"}},
}

// TestComfyUINodes_ImagesReachTheLibraryOnceItIsThere: a ComfyUI saves while the service is
// away, ends, and the next one sends what waited. Then a graph loads an image again.
func TestComfyUINodes_ImagesReachTheLibraryOnceItIsThere(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	c := newComfy(t)
	save := map[string]any{"node": "SaveToVitrine", "prompt": comfyPrompt, "extra_pnginfo": map[string]any{"workflow": map[string]any{"nodes": []any{}}},
		"inputs": map[string]any{"images": []any{[]int{48, 32, 1}, []int{48, 32, 2}, []int{48, 32, 3}}, "filename_prefix": "sea/light", "tags": "node, lighthouse"}}
	first := c.run([]string{"VITRINE_URL=http://" + cfg.Listen, "VITRINE_API_KEY=napi_of-no-server"}, save, map[string]any{"drain": 1}, map[string]any{"waiting": true})
	saved := decoded[ran](t, first[0])
	if saved.Error != "" || len(saved.UI.Images) != 3 || string(bytes.TrimSpace(first[1])) != "false" || string(bytes.TrimSpace(first[2])) != "3" {
		t.Fatalf("while the service is away: %s", first)
	}
	hashes := decoded[[]library.AssetHash](t, saved.Result[0])
	for i, shown := range saved.UI.Images {
		data, err := os.ReadFile(filepath.Join(c.home, "output", shown.Subfolder, shown.Filename))
		if err != nil || sha1Hex(data) != string(hashes[i]) {
			t.Errorf("the local file %+v: %v; it has not the hash that the node returned", shown, err)
		}
	}

	e := servicetest.StartWith(t, cfg, nil)
	wrong := c.run([]string{"VITRINE_URL=" + e.URL, "VITRINE_API_KEY=" + e.Key[:len(e.Key)-4] + "0000"}, map[string]any{"drain": 1}, map[string]any{"waiting": true})
	if string(bytes.TrimSpace(wrong[1])) != "3" {
		t.Errorf("with a wrong key: %s", wrong)
	}
	settings := filepath.Join(c.home, "vitrine.json")
	raw, err := json.Marshal(map[string]string{"url": e.URL, "key": e.Key})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	byFile := []string{"VITRINE_COMFYUI_CONFIG=" + settings}
	if sent := c.run(byFile, map[string]any{"drain": 60}, map[string]any{"waiting": true}); string(bytes.TrimSpace(sent[0])) != "true" {
		t.Fatalf("the next ComfyUI did not send what waited: %s", sent)
	}
	for _, h := range hashes {
		var details struct {
			Tags []string `json:"tags"`
		}
		e.Call("GET", "/api/v1/assets/"+string(h), nil, &details)
		if len(details.Tags) != 2 {
			t.Errorf("%s: %+v", h, details)
		}
	}
	servicetest.Eventually(t, "the generation data of the images finds them", func() error {
		if page := e.Search("", `"lighthouse of quartz" tool:comfyui seed:42 model:dream tag:node`, ""); page.Total != 3 {
			return fmt.Errorf("%d of 3", page.Total)
		}
		return nil
	})
	c.load(byFile, hashes[1])
	if leaks := c.filesWith(e.Key, settings); len(leaks) > 0 {
		t.Errorf("the key is in %v", leaks)
	}
}

// load loads images by hash and by query, and compares their pixels.
func (c comfy) load(env []string, second library.AssetHash) {
	t := c.t
	t.Helper()
	load := func(asset string) map[string]any {
		return map[string]any{"node": "LoadFromVitrine", "inputs": map[string]any{"asset": asset, "index": 0}}
	}
	got := c.run(env, load(string(second)), map[string]any{"sum": []int{48, 32, 2}}, load("lighthouse tag:node"), load("a submarine tag:nothing-has-it"), load(strings.Repeat("0", 40)))
	byHash := decoded[ran](t, got[0])
	if byHash.Error != "" {
		t.Fatal(byHash.Error)
	}
	image := decoded[struct {
		Shape []int
		Sum   string
	}](t, byHash.Result[0])
	if want := decoded[string](t, got[1]); image.Sum != want || len(image.Shape) != 4 || image.Shape[1] != 32 || image.Shape[2] != 48 || decoded[string](t, byHash.Result[2]) != string(second) {
		t.Errorf("by hash: %+v, want the pixels %s", image, want)
	}
	if r := decoded[ran](t, got[2]); r.Error != "" || len(r.Result) != 3 || len(decoded[string](t, r.Result[2])) != 40 {
		t.Errorf("by query: %+v", r)
	}
	if r := decoded[ran](t, got[3]); !strings.Contains(r.Error, "VitrineError") {
		t.Errorf("a query without results: %+v", r)
	}
	if r := decoded[ran](t, got[4]); !strings.Contains(r.Error, "NOT_FOUND") {
		t.Errorf("a hash that is no asset's: %+v", r)
	}
}

// filesWith returns the files below the home folder that hold a text, but one.
func (c comfy) filesWith(text, but string) (found []string) {
	c.t.Helper()
	err := filepath.WalkDir(c.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == but {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}
