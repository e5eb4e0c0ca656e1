package comfy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/extract/extracttest"
)

// Documents that are broken or built to hurt end soon, without a panic.
func TestHostile_DocumentsEndSoon(t *testing.T) {
	chain := func(n int, node func(i int) string) string {
		parts := make([]string, n)
		for i := range n {
			parts[i] = fmt.Sprintf(`"%d": %s`, i, node(i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	cases := map[string]Input{
		"ten thousand nodes in a row": {Prompt: []byte(chain(10_000, func(i int) string {
			return fmt.Sprintf(`{"class_type":"LatentUpscaleBy","inputs":{"scale_by":1.01,"samples":["%d",0]}}`, i+1)
		}))},
		"joins that double at each step": {Prompt: []byte(chain(2_000, func(i int) string {
			if i == 0 {
				return `{"class_type":"SaveImage","inputs":{"filename_prefix":"x","images":["1",0]}}`
			}
			if i == 1 {
				return `{"class_type":"KSampler","inputs":{"seed":1,"steps":2,"positive":["2",0],"model":["9",0]}}`
			}
			if i == 2 {
				return `{"class_type":"CLIPTextEncode","inputs":{"text":["3",0],"clip":["9",1]}}`
			}
			return fmt.Sprintf(`{"class_type":"StringConcatenate","inputs":{"string_a":["%d",0],"string_b":["%d",0],"delimiter":"xxxxxxxxxxxxxxxxx"}}`, i+1, i+1)
		}))},
		"conditionings that double at each step": {Prompt: []byte(chain(5_000, func(i int) string {
			if i == 0 {
				return `{"class_type":"KSampler","inputs":{"seed":1,"steps":2,"positive":["1",0],"model":["9",0]}}`
			}
			return fmt.Sprintf(`{"class_type":"ConditioningCombine","inputs":{"conditioning_1":["%d",0],"conditioning_2":["%d",0]}}`, i+1, i+1)
		}))},
		"every sampler behind every other": {Prompt: []byte(chain(2_000, func(i int) string {
			return fmt.Sprintf(`{"class_type":"KSampler","inputs":{"seed":["%d",0],"steps":["%d",0],"positive":["%d",0],"negative":["%d",0],"model":["%d",0],"latent_image":["%d",0]}}`, (i+1)%2000, (i+7)%2000, (i+3)%2000, (i+5)%2000, (i+11)%2000, (i+1)%2000)
		}))},
		"all samplers share one long conditioning": {Prompt: []byte(chain(6_000, func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf(`{"class_type":"KSampler","inputs":{"seed":1,"steps":2,"positive":["1",0],"negative":["1",0],"model":["1",0],"latent_image":["%d",0]}}`, i+2)
			}
			return fmt.Sprintf(`{"class_type":"ConditioningSetTimestepRange","inputs":{"model":["%d",0],"conditioning":["%d",0]}}`, i+2, i+2)
		}))},
		"deep nesting":            {Prompt: []byte(strings.Repeat(`{"a":`, 100_000) + strings.Repeat("}", 100_000))},
		"deep lists":              {Workflow: []byte(`{"nodes":` + strings.Repeat("[", 100_000))},
		"one huge string":         {Prompt: []byte(`{"1":{"class_type":"CLIPTextEncode","inputs":{"text":"` + strings.Repeat("word ", 1<<20) + `"}}}`)},
		"one node of many inputs": {Prompt: []byte(`{"1":{"class_type":"SaveImage","inputs":{` + strings.TrimSuffix(strings.Repeat(`"lora_name_1":"x.safetensors",`, 100_000), ",") + `,"images":["1",0]}}}`)},
		"subgraphs that double":   {Workflow: doublingSubgraphs(40)},
		"strings in strings":      {Prompt: nested(12, `{"1":{"class_type":"SaveImage","inputs":{}}}`)},
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			Read(in)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func nested(times int, s string) []byte {
	for range times {
		b, _ := json.Marshal(s)
		s = string(b)
	}
	return []byte(s)
}

// doublingSubgraphs nests two instances of the next subgraph in each.
func doublingSubgraphs(depth int) []byte {
	var subs []string
	for i := range depth {
		subs = append(subs, fmt.Sprintf(`{"id":"s%d","nodes":[{"id":1,"type":"s%d"},{"id":2,"type":"s%d"},{"id":3,"type":"KSampler"}],"links":[]}`, i, i+1, i+1))
	}
	return []byte(`{"nodes":[{"id":1,"type":"s0"}],"links":[],"definitions":{"subgraphs":[` + strings.Join(subs, ",") + `]}}`)
}

func TestHostile_LargeGraphsTakeLinearMemory(t *testing.T) {
	prompt := []byte("{" + strings.TrimSuffix(func() string {
		var b strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&b, `"%d":{"class_type":"KSampler","inputs":{"seed":%d,"steps":20,"cfg":1,"model":["%d",0],"positive":["%d",0],"latent_image":["%d",0]}},`, i, i, i+1, i+1, i+1)
		}
		return b.String()
	}(), ",") + "}")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, ok := Read(Input{Prompt: prompt}); !ok {
		t.Fatal("no graph found")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100*uint64(len(prompt)) {
		t.Errorf("%d MiB allocated for a document of %d MiB", used>>20, len(prompt)>>20)
	}
}

// Writers leave documents that strict JSON readers refuse.
func TestHostile_DocumentsAreReadAsWritersLeaveThem(t *testing.T) {
	plain := string(readCases(t)["plain"].Prompt)
	for name, doc := range map[string]string{
		"bare NaN and Infinity":  strings.Replace(plain, `"denoise": 1.0`, `"denoise": 1.0, "changed": NaN, "low": -Infinity, "high": Infinity`, 1),
		"byte order mark":        "\ufeff" + plain,
		"trailing NULs":          plain + "\x00\x00",
		"wrapped in a string":    string(nested(1, plain)),
		"wrapped three times":    string(nested(3, plain)),
		"both documents in one":  `{"prompt": ` + plain + `, "workflow": {"nodes": [], "links": []}}`,
		"queue request":          `{"client_id": "x", "prompt": ` + plain + `, "extra_data": {"extra_pnginfo": {"workflow": {"nodes": []}}}}`,
		"double-encoded members": `{"prompt": ` + string(nested(1, plain)) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			lin, ok := Read(Input{Prompt: []byte(doc)})
			if !ok {
				t.Fatal("no graph found")
			}
			compareCase(t, readCases(t)["plain"], lin)
			if !json.Valid(lin.Workflow.PromptJSON) {
				t.Error("the kept document is not valid JSON")
			}
			if _, err := json.Marshal(lin); err != nil {
				t.Error(err)
			}
		})
	}
}

// The word NaN in a prompt is text.
func TestHostile_NaNInsideATextStays(t *testing.T) {
	c := readCases(t)["plain"]
	doc := strings.Replace(string(c.Prompt), "a red fox", "a NaN bread, Infinity", 1)
	doc = strings.Replace(doc, `"denoise": 1.0`, `"denoise": NaN`, 1)
	lin, _ := Read(Input{Prompt: []byte(doc)})
	if lin.Positive == nil || *lin.Positive != "a NaN bread, Infinity" {
		t.Errorf("positive is %v", show(lin.Positive))
	}
	if lin.Parameters.Denoise != nil {
		t.Errorf("denoise is %v, want none", *lin.Parameters.Denoise)
	}
}

func TestHostile_OtherJSONIsNoGraph(t *testing.T) {
	for _, doc := range []string{``, `null`, `[]`, `{}`, `"text"`, `{"prompt": "a fox", "steps": 20}`, `{"1": {"inputs": {}}}`, `{"nodes": {}}`, `{"nodes": []}`, `not json`, `{"1":`, `{"class_type": "x"}`} {
		for _, in := range []Input{{Prompt: []byte(doc)}, {Workflow: []byte(doc)}} {
			if lin, ok := Read(in); ok {
				t.Errorf("%q was read as a graph: %v", doc, show(lin))
			}
		}
	}
}

// Values of the wrong type leave fields open and disturb nothing else.
func TestHostile_WrongTypesLeaveFieldsOpen(t *testing.T) {
	doc := `{"1": {"class_type": "KSampler", "inputs": {"seed": "many", "steps": {}, "cfg": [1], "sampler_name": 7, "scheduler": null, "denoise": true, "model": "x", "positive": 5, "latent_image": [[], 0]}},
		"2": {"class_type": "SaveImage", "inputs": {"images": ["1", 0], "filename_prefix": []}}, "3": {"class_type": 5}, "4": [], "5": {"class_type": "VAELoader", "inputs": [1, 2]}}`
	lin, ok := Read(Input{Prompt: []byte(doc)})
	if !ok || lin.Parameters == nil {
		t.Fatal("not read")
	}
	if p := lin.Parameters; p.Seed != nil || p.Steps != nil || p.CFGScale != nil || p.Sampler != nil || p.Scheduler != nil || p.Denoise != nil || lin.Positive != nil {
		t.Errorf("something was read from wrong types: %s", show(lin))
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add([]byte(c.Prompt), []byte(c.Workflow), 768, 512)
	}
	f.Fuzz(func(t *testing.T, prompt, workflow []byte, w, h int) {
		in := Input{Prompt: prompt, Workflow: workflow, FileWidth: w, FileHeight: h, Filename: "ComfyUI_00001_.png", MIME: "image/png"}
		var lin library.Lineage
		var ok bool
		extracttest.Bounded(t, len(prompt)+len(workflow), func() { lin, ok = Read(in) })
		b, err := json.Marshal(lin)
		if err != nil {
			t.Fatalf("the lineage does not marshal: %v", err)
		}
		if ok && (lin.Models == nil || lin.Workflow == nil || len(b) == 0) {
			t.Fatal("a graph was read without models list or workflow")
		}
		again, _ := Read(in)
		if c, _ := json.Marshal(again); string(b) != string(c) {
			t.Fatalf("two reads differ:\n%s\n%s", b, c)
		}
	})
}

// fiftyNodes is a graph of a usual size: two passes, loras, a control net.
func fiftyNodes() []byte {
	var b strings.Builder
	b.WriteString(`{"c":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"base.safetensors"}},"e":{"class_type":"EmptyLatentImage","inputs":{"width":1024,"height":1024,"batch_size":1}}`)
	model := `["c",0]`
	for i := range 10 {
		fmt.Fprintf(&b, `,"l%d":{"class_type":"LoraLoader","inputs":{"lora_name":"l%d.safetensors","strength_model":0.5,"strength_clip":0.5,"model":%s,"clip":["c",1]}}`, i, i, model)
		model = fmt.Sprintf(`["l%d",0]`, i)
	}
	text := `"a fox"`
	for i := range 10 {
		fmt.Fprintf(&b, `,"t%d":{"class_type":"StringConcatenate","inputs":{"string_a":%s,"string_b":"word %d","delimiter":", "}}`, i, text, i)
		text = fmt.Sprintf(`["t%d",0]`, i)
	}
	fmt.Fprintf(&b, `,"p":{"class_type":"CLIPTextEncode","inputs":{"text":%s,"clip":["l9",1]}},"n":{"class_type":"CLIPTextEncode","inputs":{"text":"bad","clip":["l9",1]}}`, text)
	pos := `["p",0]`
	for i := range 10 {
		fmt.Fprintf(&b, `,"a%d":{"class_type":"CLIPTextEncode","inputs":{"text":"area %d","clip":["c",1]}},"m%d":{"class_type":"ConditioningCombine","inputs":{"conditioning_1":%s,"conditioning_2":["a%d",0]}}`, i, i, i, pos, i)
		pos = fmt.Sprintf(`["m%d",0]`, i)
	}
	fmt.Fprintf(&b, `,"k":{"class_type":"KSampler","inputs":{"seed":1,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":%s,"positive":%s,"negative":["n",0],"latent_image":["e",0]}}`, model, pos)
	b.WriteString(`,"u":{"class_type":"LatentUpscaleBy","inputs":{"upscale_method":"bilinear","scale_by":1.5,"samples":["k",0]}}`)
	fmt.Fprintf(&b, `,"k2":{"class_type":"KSampler","inputs":{"seed":2,"steps":10,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":0.5,"model":%s,"positive":%s,"negative":["n",0],"latent_image":["u",0]}}`, model, pos)
	b.WriteString(`,"d":{"class_type":"VAEDecode","inputs":{"samples":["k2",0],"vae":["c",2]}},"s":{"class_type":"SaveImage","inputs":{"images":["d",0],"filename_prefix":"x"}}}`)
	return []byte(b.String())
}

func BenchmarkReadFiftyNodes(b *testing.B) {
	in := Input{Prompt: fiftyNodes(), FileWidth: 1536, FileHeight: 1536, MIME: "image/png"}
	b.SetBytes(int64(len(in.Prompt)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Read(in); !ok {
			b.Fatal("no graph found")
		}
	}
}

// TestHostile_AReplacementCannotGrowWithoutEnd reads replacements that would fill the
// memory: many matches of long texts, and one match that is repeated many times.
func TestHostile_AReplacementCannotGrowWithoutEnd(t *testing.T) {
	long := strings.Repeat("a", maxText)
	for name, c := range map[string]struct{ pattern, template string }{
		"many matches": {"a", long},
		"many groups":  {"(a+)", strings.Repeat("$1", maxText/2)},
	} {
		if out, ok := replaceAll(regexp.MustCompile(c.pattern), long, c.template, -1); ok {
			t.Errorf("%s gave %d bytes", name, len(out))
		}
	}
}
