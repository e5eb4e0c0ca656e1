package comfy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// testCase is one file of testdata/cases: what a file holds and what must be
// read from it. Fields that want does not name are not compared; null means that
// nothing may be read.
type testCase struct {
	About           string          `json:"about"`
	NoEditorVersion bool            `json:"no_editor_version"` // a class has no known widget order
	File            fileFacts       `json:"file"`
	Prompt          json.RawMessage `json:"prompt"`
	Workflow        json.RawMessage `json:"workflow"`
	Want            map[string]any  `json:"want"`
}

type fileFacts struct {
	Width, Height int
	Name, MIME    string
}

func (c testCase) input() Input {
	return Input{Prompt: c.Prompt, Workflow: c.Workflow, FileWidth: c.File.Width, FileHeight: c.File.Height, Filename: c.File.Name, MIME: c.File.MIME}
}

func readCases(t testing.TB) map[string]testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	cases := map[string]testCase{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c testCase
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		cases[strings.TrimSuffix(filepath.Base(f), ".json")] = c
	}
	return cases
}

func TestCases(t *testing.T) {
	for name, c := range readCases(t) {
		t.Run(name, func(t *testing.T) {
			lin, ok := Read(c.input())
			if !ok {
				t.Fatal("no graph found")
			}
			compareCase(t, c, lin)
		})
	}
}

// The same graphs as the editor would save them, without the executed graph,
// must give the same lineage.
func TestCases_ReadTheSameFromTheEditorGraphAlone(t *testing.T) {
	for name, c := range readCases(t) {
		if c.Prompt == nil || c.NoEditorVersion {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in := c.input()
			if executed, _ := Read(in); sizeOfFile(executed) {
				delete(c.Want, "width")
				delete(c.Want, "height")
			}
			in.Workflow = editorVersion(t, c.Prompt)
			in.Prompt = nil
			lin, ok := Read(in)
			if !ok {
				t.Fatal("no graph found")
			}
			compareCase(t, c, lin)
		})
	}
}

// sizeOfFile reports whether a lineage has its size from the file. Without an executed
// graph it has none: a picture that holds only what was drawn may be one of the graph.
func sizeOfFile(l library.Lineage) bool {
	for _, e := range l.Evidence {
		if e.Field == "width" && strings.HasPrefix(e.Rule, "size of the file") {
			return true
		}
	}
	return false
}

// A case's hash must not depend on which of the two graphs was there.
func TestCases_HashIsOfTheStructureAlone(t *testing.T) {
	c := readCases(t)["plain"]
	first, _ := Read(c.input())
	in := c.input()
	in.Prompt, in.Workflow = nil, editorVersion(t, c.Prompt)
	alone, _ := Read(in)
	other, _ := Read(Input{Prompt: []byte(strings.NewReplacer("a red fox", "a cat", `"seed": 11`, `"seed": 12`, "base.safetensors", "x.ckpt", `"3"`, `"33"`).Replace(string(c.Prompt)))})
	rewired, _ := Read(Input{Prompt: []byte(strings.Replace(string(c.Prompt), `"positive": ["6", 0]`, `"positive": ["7", 0]`, 1))})
	if first.Workflow.Hash == "" || first.Workflow.Hash != alone.Workflow.Hash || first.Workflow.Hash != other.Workflow.Hash {
		t.Errorf("hashes %q, %q, %q of one structure differ", first.Workflow.Hash, alone.Workflow.Hash, other.Workflow.Hash)
	}
	if first.Workflow.Hash == rewired.Workflow.Hash {
		t.Error("another wiring has the same hash")
	}
}

func compareCase(t *testing.T, c testCase, lin library.Lineage) {
	t.Helper()
	got := summary(lin)
	want := map[string]any{}
	for field, v := range c.Want {
		if _, known := got[field]; !known {
			t.Fatalf("the case names the unknown field %q", field)
		}
		want[field] = v
	}
	for field := range got {
		if _, named := want[field]; !named {
			delete(got, field)
		}
	}
	var g, w any
	roundTrip(t, got, &g)
	roundTrip(t, want, &w)
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s\n-want +got\n%s\nwarnings: %q", c.About, diff, lin.Warnings)
	}
}

func roundTrip(t *testing.T, in any, out *any) {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
}

// summary puts a lineage into the words of the cases.
func summary(lin library.Lineage) map[string]any {
	gp := lin.Parameters
	if gp == nil {
		gp = &library.GenerationParameters{}
	}
	var seed any
	if gp.Seed != nil {
		seed = strconv.FormatUint(*gp.Seed, 10)
	}
	models, parents, passes, regions := []string{}, []string{}, []string{}, []string{}
	for _, m := range lin.Models {
		s := m.Type + " " + m.Name + " @" + m.NodeID
		for _, f := range []*float64{m.Strength, m.ClipStrength} {
			if f != nil {
				s += " " + strconv.FormatFloat(*f, 'g', -1, 64)
			}
		}
		models = append(models, s)
	}
	sort.Strings(models)
	for _, p := range lin.Parents {
		parents = append(parents, p.Kind+" "+p.Name)
	}
	for _, p := range lin.Samplers {
		passes = append(passes, p.NodeID+" "+p.Role)
	}
	for _, r := range lin.Regions {
		regions = append(regions, r.Kind+" "+*first(r.Positive, r.Negative))
	}
	output := ""
	for _, e := range lin.Evidence {
		if e.Field == "output" {
			output = e.Node
		}
	}
	return map[string]any{
		"positive": lin.Positive, "negative": lin.Negative, "seed": seed, "steps": gp.Steps, "cfg": gp.CFGScale, "guidance": gp.Guidance, "sampler": gp.Sampler,
		"scheduler": gp.Scheduler, "denoise": gp.Denoise, "width": gp.Width, "height": gp.Height, "frames": gp.Frames, "fps": gp.FPS, "batch": gp.BatchSize,
		"clip_skip": gp.ClipSkip, "model": gp.ModelName, "models": models, "parents": parents, "passes": passes, "regions": regions, "output": output,
		"hires": lin.Hires, "nodes": lin.Workflow.NodeCount, "embeddings": lin.Extra["embeddings"], "unknown": lin.Workflow.Unknown, "warned": len(lin.Warnings) > 0,
		"packs": lin.Workflow.CustomNodes, "name": lin.Workflow.Name,
	}
}

func first(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

// editorVersion writes an executed graph as the editor would save it: numbered
// links, widget values in the order of their declaration, a control slot after
// each seed.
func editorVersion(t testing.TB, prompt []byte) []byte {
	t.Helper()
	doc, ok := decodeAlone(prompt)
	if !ok {
		t.Fatal("the case's prompt is no graph")
	}
	g := readPrompt(doc)
	var nodes, links []any
	for _, n := range g.nodes {
		about := classOf(n.class, n.key)
		if about == nil {
			t.Fatalf("no widget order for %s", n.class)
		}
		var inputs, widgets []any
		for i := range n.inputs {
			in := &n.inputs[i]
			if !in.linked() {
				continue
			}
			links = append(links, []any{len(links) + 1, in.from.node.id, in.from.slot, n.id, len(inputs), wireType(in.name)})
			slot := map[string]any{"name": in.name, "type": wireType(in.name), "link": len(links)}
			if slices.Contains(about.Widgets, in.name) {
				slot["widget"] = map[string]any{"name": in.name}
			}
			inputs = append(inputs, slot)
		}
		for _, name := range about.Widgets {
			in := n.in(name)
			switch {
			case in == nil || in.linked():
				widgets = append(widgets, placeholder(name))
			default:
				widgets = append(widgets, json.RawMessage(in.val.Encode(nil)))
			}
			if name == "seed" || name == "noise_seed" {
				widgets = append(widgets, "randomize")
			}
		}
		nodes = append(nodes, map[string]any{"id": n.id, "type": n.class, "mode": 0, "order": 0, "inputs": inputs, "widgets_values": widgets, "properties": map[string]any{"cnr_id": "comfy-core"}})
	}
	b, err := json.Marshal(map[string]any{"version": 0.4, "nodes": nodes, "links": links})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func placeholder(name string) any {
	if name == "upload" {
		return "image"
	}
	return 0
}

// wireType guesses a link's type by the input's name, as far as the cases need.
func wireType(name string) string {
	switch name {
	case "samples", "latent_image", "latent":
		return "LATENT"
	case "images", "image", "pixels":
		return "IMAGE"
	case "positive", "negative", "conditioning":
		return "CONDITIONING"
	}
	return fmt.Sprintf("T_%s", strings.ToUpper(name))
}

// decodeAlone is decode for a file of one document.
func decodeAlone(raw []byte) (value, bool) {
	budget := jsonscan.MaxValues
	return decode(raw, &budget)
}
