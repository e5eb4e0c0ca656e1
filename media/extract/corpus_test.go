package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"vitrine/library"
)

// The bar of the score test: what share must be right.
const (
	minFields = 0.99 // of all scalar fields
	minFiles  = 0.97 // of files with every field right
)

// corpusFile is one entry of the corpus manifest. A member of Expected that is
// null must be read as nothing; one that is absent is not scored.
type corpusFile struct {
	File     string         `json:"file"`
	Expected map[string]any `json:"expected"`
	Derived  *struct {
		Models     []derivedModel `json:"models"`
		OrderPairs [][2]string    `json:"order_pairs"`
		Parents    []string       `json:"parents"`
	} `json:"derived"`
}

type derivedModel struct {
	NodeID string `json:"node_id"`
	Type   string `json:"type"`
	Name   string `json:"name"`
}

func readManifest(t *testing.T) (dir string, files []corpusFile) {
	t.Helper()
	dir = filepath.Join("..", "..", "..", "shared", "corpus")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip("the corpus of real files is not here (expected in ../shared/corpus beside the project): the score is not measured")
	}
	var manifest struct {
		Files []corpusFile `json:"files"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	return dir, manifest.Files
}

// tally counts right and wrong readings.
type tally struct{ right, total int }

func (c *tally) add(ok bool) {
	c.total++
	if ok {
		c.right++
	}
}

func (c tally) share() float64 {
	if c.total == 0 {
		return 1
	}
	return float64(c.right) / float64(c.total)
}

func (c tally) String() string { return fmt.Sprintf("%d/%d", c.right, c.total) }

// score holds the measures of lineage extraction.
type score struct {
	fields, files, models, order, parents tally
	byTool                                map[string]map[string]*tally
	invented                              int
}

func (s *score) field(tool, name string, ok bool) {
	s.fields.add(ok)
	if s.byTool[tool] == nil {
		s.byTool[tool] = map[string]*tally{}
	}
	if s.byTool[tool][name] == nil {
		s.byTool[tool][name] = &tally{}
	}
	s.byTool[tool][name].add(ok)
}

func TestCorpus_Score(t *testing.T) {
	dir, files := readManifest(t)
	s := score{byTool: map[string]map[string]*tally{}}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.File)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{Filename: filepath.Base(f.File)})
		if err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		s.file(t, f, &res.Lineage)
	}
	t.Log("\n" + s.table())
	if s.fields.share() < minFields {
		t.Errorf("scalar fields: %v right, the bar is %.0f %%", s.fields, 100*minFields)
	}
	if s.files.share() < minFiles {
		t.Errorf("files fully right: %v, the bar is %.0f %%", s.files, 100*minFiles)
	}
	for name, c := range map[string]tally{"model sets": s.models, "load order pairs": s.order, "parent sets": s.parents} {
		if c.right != c.total {
			t.Errorf("%s: %v right, all must be", name, c)
		}
	}
	if s.invented > 0 {
		t.Errorf("%d values read out of files that hold none", s.invented)
	}
}

// file scores one file.
func (s *score) file(t *testing.T, f corpusFile, l *library.Lineage) {
	t.Helper()
	tool, _ := f.Expected["tool"].(string)
	if tool == "" {
		tool = "(none)"
	}
	right := true
	check := func(name string, ok bool, got, want any) {
		s.field(tool, name, ok)
		if !ok {
			right = false
			t.Logf("%s: %s is %s, want %s", f.File, name, show(got), show(want))
		}
	}
	for _, name := range scalarNames {
		want, scored := f.Expected[name]
		if !scored {
			continue
		}
		got := scalar(l, name)
		if parts, several := want.([]any); several {
			check(name, joins(got, parts), got, want)
			continue
		}
		check(name, equalValue(got, want), got, want)
		if want == nil && got != nil {
			s.invented++
		}
	}
	if want, ok := f.Expected["hires"].(map[string]any); ok {
		for key, v := range want {
			got := hires(l, key)
			check("hires."+key, equalValue(got, v), got, v)
		}
	}
	if want, ok := f.Expected["c2pa"].(map[string]any); ok {
		got := c2pa(l)
		check("c2pa.claim_generator", equalValue(got[0], want["claim_generator"]), got[0], want["claim_generator"])
		check("c2pa.source_type", equalValue(got[1], want["digital_source_type"]), got[1], want["digital_source_type"])
	}
	if want, ok := f.Expected["character_prompts"].([]any); ok {
		got := characters(l)
		check("characters", len(got) == len(want), got, want)
		for i, c := range want {
			if i < len(got) {
				check("characters", equalValue(got[i], c.(map[string]any)["prompt"]), got[i], c)
			}
		}
	}
	if _, ok := f.Expected["models"]; ok || f.Expected["generation_parameters"] != nil {
		if l.Models == nil || len(l.Models) > 0 || l.Parameters != nil {
			s.invented++
			right = false
			t.Logf("%s: models %v, parameters %v out of nothing", f.File, l.Models, l.Parameters)
		}
	}
	right = s.derived(t, f, l) && right
	s.files.add(right)
}

// derived scores models, load order and parents against the executed graph. An
// empty derived list beside an expected model is no claim that nothing was
// loaded: the list was derived without a rule for that loader.
func (s *score) derived(t *testing.T, f corpusFile, l *library.Lineage) bool {
	t.Helper()
	if f.Derived == nil {
		return true
	}
	right := true
	if len(f.Derived.Models) > 0 || f.Expected["model"] == nil {
		ok := sameModels(l.Models, f.Derived.Models)
		s.models.add(ok)
		if right = right && ok; !ok {
			t.Logf("%s: models are %s, want %s", f.File, show(l.Models), show(f.Derived.Models))
		}
	}
	for _, p := range f.Derived.OrderPairs {
		ok := before(l.Models, p[0], p[1])
		s.order.add(ok)
		if right = right && ok; !ok {
			t.Logf("%s: node %s must come before %s", f.File, p[0], p[1])
		}
	}
	if f.Derived.Parents != nil {
		var got []string
		for _, p := range l.Parents {
			got = append(got, p.Name)
		}
		want := slices.Clone(f.Derived.Parents)
		slices.Sort(got)
		slices.Sort(want)
		ok := slices.Equal(got, want)
		s.parents.add(ok)
		if right = right && ok; !ok {
			t.Logf("%s: parents are %q, want %q", f.File, got, want)
		}
	}
	return right
}

func sameModels(got []library.ModelUse, want []derivedModel) bool {
	var g, w []string
	for _, m := range got {
		g = append(g, m.NodeID+"|"+m.Type+"|"+m.Name)
	}
	for _, m := range want {
		w = append(w, m.NodeID+"|"+m.Type+"|"+m.Name)
	}
	slices.Sort(g)
	slices.Sort(w)
	return slices.Equal(g, w)
}

func before(models []library.ModelUse, first, second string) bool {
	index := func(node string) int {
		return slices.IndexFunc(models, func(m library.ModelUse) bool { return m.NodeID == node })
	}
	i, j := index(first), index(second)
	return i >= 0 && j >= 0 && i < j
}

var scalarNames = []string{"tool", "prompt", "negative", "seed", "steps", "sampler", "scheduler", "cfg", "guidance", "denoise",
	"width", "height", "clip_skip", "model", "model_hash", "node_count", "samplers", "primary_node"}

// scalar returns a reading by the manifest's name for it, nil when there is none.
func scalar(l *library.Lineage, name string) any {
	p := l.Parameters
	if p == nil {
		p = &library.GenerationParameters{}
	}
	switch name {
	case "tool":
		return text(l.Tool)
	case "prompt":
		return value(l.Positive)
	case "negative":
		return value(l.Negative)
	case "seed":
		return value(p.Seed)
	case "steps":
		return value(p.Steps)
	case "sampler":
		return value(p.Sampler)
	case "scheduler":
		return value(p.Scheduler)
	case "cfg":
		return value(p.CFGScale)
	case "guidance":
		return value(p.Guidance)
	case "denoise":
		return value(p.Denoise)
	case "width":
		return value(p.Width)
	case "height":
		return value(p.Height)
	case "clip_skip":
		return value(p.ClipSkip)
	case "model":
		return value(p.ModelName)
	case "model_hash":
		return text(checkpointHash(l))
	case "samplers":
		return len(l.Samplers)
	case "primary_node":
		if len(l.Samplers) > 0 {
			return text(l.Samplers[0].NodeID)
		}
	case "node_count":
		if l.Workflow != nil {
			return l.Workflow.NodeCount
		}
	}
	return nil
}

func checkpointHash(l *library.Lineage) string {
	for _, m := range l.Models {
		if m.Hash != "" && (m.Type == "checkpoint" || m.Type == "unet") {
			return m.Hash
		}
	}
	return ""
}

func hires(l *library.Lineage, key string) any {
	if l.Hires == nil {
		return nil
	}
	switch key {
	case "scale":
		return value(l.Hires.Scale)
	case "upscaler":
		return value(l.Hires.Upscaler)
	case "steps":
		return value(l.Hires.Steps)
	case "denoise":
		return value(l.Hires.Denoise)
	}
	return nil
}

func c2pa(l *library.Lineage) [2]any {
	if l.C2PA == nil {
		return [2]any{}
	}
	return [2]any{text(l.C2PA.ClaimGenerator), text(l.C2PA.SourceType)}
}

func characters(l *library.Lineage) (prompts []any) {
	for _, r := range l.Regions {
		if r.Kind == "character" {
			prompts = append(prompts, value(r.Positive))
		}
	}
	return prompts
}

func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// equalValue compares a reading with the manifest's value: texts without regard
// to white space, numbers by value.
func equalValue(got, want any) bool {
	if got == nil || want == nil {
		return got == nil && want == nil
	}
	if n, ok := want.(json.Number); ok {
		if seed, isSeed := got.(uint64); isSeed {
			return fmt.Sprint(seed) == n.String()
		}
		var g float64
		fmt.Sscan(fmt.Sprint(got), &g)
		w, err := n.Float64()
		return err == nil && math.Abs(g-w) < 1e-6
	}
	fold := func(v any) string { return strings.Join(strings.Fields(fmt.Sprint(v)), " ") }
	return fold(got) == fold(want)
}

// joins reports whether a text consists of these parts, in any order.
func joins(got any, parts []any) bool {
	fold := func(v any) string { return strings.Join(strings.Fields(fmt.Sprint(v)), " ") }
	whole, length := fold(got), -1
	for _, part := range parts {
		if !strings.Contains(whole, fold(part)) {
			return false
		}
		length += len(fold(part)) + 1
	}
	return len(whole) == length
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 300)])
}

func (s *score) table() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	var tools []string
	for tool := range s.byTool {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	for _, tool := range tools {
		var names []string
		for name := range s.byTool[tool] {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(w, "%s\t", tool)
		for _, name := range names {
			fmt.Fprintf(w, "%s %v  ", name, s.byTool[tool][name])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	fmt.Fprintf(&out, "fields %v  files %v  model sets %v  order pairs %v  parents %v  invented %d",
		s.fields, s.files, s.models, s.order, s.parents, s.invented)
	return out.String()
}
