package comfy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"vitrine/library"
)

// corpus is the folder of real files with known answers. It is not part of the
// repository.
const corpus = "../../../../shared/corpus"

type corpusFile struct {
	File     string `json:"file"`
	Path     string `json:"path"`
	Note     string `json:"note"`
	Expected map[string]json.RawMessage
	Derived  struct {
		Models []struct {
			NodeID string `json:"node_id"`
			Type   string `json:"type"`
			Name   string `json:"name"`
		} `json:"models"`
		OrderPairs [][2]string `json:"order_pairs"`
		Parents    []string    `json:"parents"`
		OutputNode string      `json:"output_node"`
	} `json:"derived"`
}

func readCorpus(t testing.TB) []corpusFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpus, "manifest.json"))
	if err != nil {
		t.Skip("the corpus of real files is not beside this checkout (../shared/corpus)")
	}
	var m struct{ Files []corpusFile }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	var out []corpusFile
	for _, f := range m.Files {
		if strings.HasPrefix(f.File, "comfyui/") {
			out = append(out, f)
		}
	}
	return out
}

// tally counts right answers of a field over the corpus.
type tally struct{ right, all int }

type score struct {
	fields map[string]*tally
	t      *testing.T
	file   string
}

func (s *score) check(field string, ok bool, got, want any) {
	c := s.fields[field]
	if c == nil {
		c = &tally{}
		s.fields[field] = c
	}
	c.all++
	if ok {
		c.right++
		return
	}
	s.t.Logf("%s: %s is %v, want %v", s.file, field, clip(got), clip(want))
}

func clip(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 160 {
		s = s[:160] + "…"
	}
	return s
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestCorpus_IsReadExactly(t *testing.T) {
	s := &score{fields: map[string]*tally{}, t: t}
	for _, f := range readCorpus(t) {
		s.file = f.File
		lin, ok := Read(inputOf(t, f.File))
		if !ok {
			t.Errorf("%s: no graph found", f.File)
			continue
		}
		scoreScalars(s, f, lin)
		scoreSets(s, f, lin)
	}
	report(t, s)
}

func scoreScalars(s *score, f corpusFile, lin library.Lineage) {
	gp := lin.Parameters
	if gp == nil {
		gp = &library.GenerationParameters{}
	}
	got := map[string]any{
		"prompt": lin.Positive, "negative": lin.Negative, "seed": gp.Seed, "steps": gp.Steps, "cfg": gp.CFGScale, "guidance": gp.Guidance,
		"sampler": gp.Sampler, "scheduler": gp.Scheduler, "denoise": gp.Denoise, "width": gp.Width, "height": gp.Height,
		"model": gp.ModelName, "clip_skip": gp.ClipSkip, "cfg_conds": gp.CFGScale, "samplers": len(lin.Samplers), "node_count": lin.Workflow.NodeCount,
	}
	if len(lin.Samplers) > 0 {
		got["primary_node"] = lin.Samplers[0].NodeID
	}
	if want, ok := f.Expected["hires"]; ok {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(want, &fields)
		h := lin.Hires
		if h == nil {
			h = &library.Hires{}
		}
		for name, g := range map[string]any{"scale": h.Scale, "upscaler": h.Upscaler, "steps": h.Steps, "denoise": h.Denoise} {
			s.check("hires."+name, same(g, fields[name]), show(g), string(fields[name]))
		}
	}
	for field, want := range f.Expected {
		g, scored := got[field]
		if !scored {
			continue
		}
		s.check(field, same(g, want), show(g), string(want))
	}
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// same compares loosely where the manifest does: white space, number forms, and
// a list of regional texts against the joined prompt.
func same(got any, want json.RawMessage) bool {
	b, _ := json.Marshal(got)
	var g, w any
	dec := func(b []byte, v *any) {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		_ = d.Decode(v)
	}
	dec(b, &g)
	dec(want, &w)
	if list, ok := w.([]any); ok {
		var all []string
		for _, e := range list {
			all = append(all, fmt.Sprint(e))
		}
		w = strings.Join(all, "\n")
	}
	gs, gok := g.(string)
	ws, wok := w.(string)
	if gok && wok {
		return squeeze(gs) == squeeze(ws)
	}
	gn, gok := g.(json.Number)
	wn, wok := w.(json.Number)
	if gok && wok {
		a, _ := gn.Float64()
		b, _ := wn.Float64()
		return gn == wn || math.Abs(a-b) < 1e-9 && a < 1<<50
	}
	return g == nil && w == nil
}

func scoreSets(s *score, f corpusFile, lin library.Lineage) {
	if f.Derived.Models != nil {
		var want, got []string
		for _, m := range f.Derived.Models {
			want = append(want, m.Type+" "+m.Name+" @"+m.NodeID)
		}
		for _, m := range lin.Models {
			got = append(got, m.Type+" "+m.Name+" @"+m.NodeID)
		}
		sort.Strings(want)
		sort.Strings(got)
		s.check("models", slices.Equal(got, want), got, want)
	}
	for _, pair := range f.Derived.OrderPairs {
		at := func(id string) int {
			return slices.IndexFunc(lin.Models, func(m library.ModelUse) bool { return m.NodeID == id })
		}
		a, b := at(pair[0]), at(pair[1])
		s.check("order_pairs", a >= 0 && a < b, []int{a, b}, pair)
	}
	if f.Derived.Parents != nil {
		got := []string{}
		for _, p := range lin.Parents {
			got = append(got, p.Name)
		}
		want := slices.Clone(f.Derived.Parents)
		sort.Strings(got)
		sort.Strings(want)
		s.check("parents", slices.Equal(got, want), got, want)
	}
	if f.Derived.OutputNode != "" {
		i := slices.IndexFunc(lin.Evidence, func(e library.Evidence) bool { return e.Field == "output" })
		s.check("output_node", i >= 0 && lin.Evidence[i].Node == f.Derived.OutputNode, lin.Evidence[max(i, 0)].Node, f.Derived.OutputNode)
	}
}

func report(t *testing.T, s *score) {
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	sort.Strings(names)
	right, all := 0, 0
	for _, name := range names {
		c := s.fields[name]
		t.Logf("%-13s %4d / %4d", name, c.right, c.all)
		switch name {
		case "models", "order_pairs", "parents":
			if c.right != c.all {
				t.Errorf("%s: %d of %d right, all must be", name, c.right, c.all)
			}
		default:
			right, all = right+c.right, all+c.all
		}
	}
	share := 100 * float64(right) / float64(max(all, 1))
	t.Logf("scalars       %4d / %4d = %.2f %%", right, all, share)
	if share < 99 {
		t.Errorf("scalars: %.2f %% right, at least 99 %% must be", share)
	}
}
