package comfy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"vitrine/internal/randtest"
)

// tangle draws graphs that no editor would make: nodes of every class that is known,
// linked to each other by every name that a rule or the table knows.
type tangle struct {
	draw    *rand.Rand
	classes []string // of the table, and words of the code
	names   []string // of inputs
	bundles []string // classes that hold others' values
}

func newTangle(t *testing.T, seed uint64) *tangle {
	t.Helper()
	g := &tangle{draw: rand.New(rand.NewPCG(seed, 14)), names: wordsOfTheReader(t)}
	known := classes.Load().byName
	g.classes = slices.Sorted(maps.Keys(known))
	for _, class := range g.classes {
		about := known[class]
		if about.Role == RoleBundle || len(about.Stream) > 0 || len(about.Passes) > 0 {
			g.bundles = append(g.bundles, class)
		}
		g.names = slices.Concat(g.names, about.Stream, slices.Sorted(maps.Keys(about.Inputs)), slices.Sorted(maps.Values(about.Passes)))
	}
	slices.Sort(g.names)
	g.names = slices.Compact(g.names)
	return g
}

func oneOf(draw *rand.Rand, list []string) string { return list[draw.IntN(len(list))] }

// graph draws an executed graph of a few nodes, whose links mostly lead back.
func (g *tangle) graph() []byte {
	size := 2 + g.draw.IntN(6)
	nodes := map[string]any{"9": map[string]any{"class_type": "SaveImage", "inputs": map[string]any{"images": []any{"0", 0}}}}
	shared := make([]string, 3) // a few names that come again at every node
	for i := range shared {
		shared[i] = oneOf(g.draw, g.names)
	}
	for i := range size {
		class := oneOf(g.draw, g.classes)
		switch g.draw.IntN(6) {
		case 0:
			class = oneOf(g.draw, g.names)
		case 1, 2:
			class = oneOf(g.draw, g.bundles)
		case 3:
			class = []string{"KSampler", "SamplerCustomAdvanced", "CFGGuider", "CLIPTextEncode", "ImpactSwitch", "LatentUpscaleBy", "StringConcatenate"}[g.draw.IntN(7)]
		}
		inputs := map[string]any{}
		for _, name := range g.inputNames(class, shared) {
			inputs[name] = g.value(size)
		}
		nodes[strconv.Itoa(i)] = map[string]any{"class_type": class, "inputs": inputs}
	}
	b, err := json.Marshal(nodes)
	if err != nil {
		panic(err)
	}
	return b
}

func (g *tangle) inputNames(class string, shared []string) []string {
	names := slices.Clone(shared)
	if about := classes.Load().byName[class]; about != nil {
		names = slices.Concat(names, about.Widgets, about.Outputs, about.Stream, []string{about.Bundle})
	}
	for range 1 + g.draw.IntN(4) {
		names = append(names, oneOf(g.draw, g.names))
	}
	return names
}

func (g *tangle) value(size int) any {
	switch g.draw.IntN(8) {
	case 0:
		return g.draw.IntN(5)
	case 1:
		return oneOf(g.draw, []string{"a red fox, in snow", "", "x.safetensors", "true", "euler", "1", "0", "a", "None"})
	}
	return []any{strconv.Itoa(g.draw.IntN(size)), g.draw.IntN(5)}
}

// Two bundles that name each other as what they hold once overflowed the stack, which no
// handler survives.
func TestHostile_BundlesInACircleEnd(t *testing.T) {
	bundle := func(id string) string {
		return fmt.Sprintf(`{"class_type":"FromBasicPipe_v2","inputs":{"model":[%q,1],"positive":[%q,4],"basic_pipe":[%q,0]}}`, id, id, id)
	}
	doc := `{"1":` + bundle("2") + `,"2":` + bundle("1") + `,"3":{"class_type":"KSampler","inputs":{"seed":7,"steps":20,"model":["1",1],"positive":["1",4]}},"4":{"class_type":"SaveImage","inputs":{"images":["3",0]}}}`
	lin, ok := Read(Input{Prompt: []byte(doc)})
	if !ok || lin.Parameters == nil || lin.Parameters.Seed == nil || lin.Positive != nil || len(lin.Models) > 0 {
		t.Errorf("read as %+v", lin)
	}
}

// Every node that takes a stream of settings goes through all of it: many of them over a
// long stream once took memory and time without bound.
func TestHostile_ManyNodesOnOneStreamTakeBoundedMemory(t *testing.T) {
	nodes := map[string]any{"s": map[string]any{"class_type": "SaveImage", "inputs": map[string]any{"images": []any{"t0", 0}}}}
	for i := range 100 {
		inputs := map[string]any{"inputs": []any{"i" + strconv.Itoa(i+1), 0}}
		for j := range 60 {
			inputs[fmt.Sprintf("value_%d_%d", i, j)] = j
		}
		nodes["i"+strconv.Itoa(i)] = map[string]any{"class_type": "SeargeInput1", "inputs": inputs}
	}
	for i := range 5000 {
		nodes["t"+strconv.Itoa(i)] = map[string]any{"class_type": "SeargeParameterProcessor", "inputs": map[string]any{"inputs": []any{"i0", 0}}}
	}
	doc, err := json.Marshal(nodes)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, ok := Read(Input{Prompt: doc}); !ok {
		t.Fatal("no graph found")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 128<<20 {
		t.Errorf("reading a document of %d KiB took %d MiB", len(doc)>>10, took>>20)
	}
}

// A tangled graph takes no longer than any other: every way through it ends.
func TestHostile_TangledGraphsEnd(t *testing.T) {
	rounds := randtest.Cases(t, 400)
	for _, seed := range randtest.Seeds(t) {
		g := newTangle(t, seed)
		for range rounds {
			doc := g.graph()
			begun := time.Now()
			Read(Input{Prompt: doc})
			if took := time.Since(begun); took > 5*time.Second {
				t.Fatalf("reading took %s: %s", took, doc)
			}
		}
	}
}
