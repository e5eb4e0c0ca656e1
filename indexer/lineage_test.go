package indexer

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/library"
)

func TestLineage_IsReadAsEncodingJSONReadsIt(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		var want library.Lineage
		fill(t, reflect.ValueOf(&want).Elem(), "lineage")
		doc, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "spaced") {
			var spaced bytes.Buffer
			if err := json.Indent(&spaced, doc, "", " "); err != nil {
				t.Fatal(err)
			}
			doc = spaced.Bytes()
		}
		want = library.Lineage{}
		if err := json.Unmarshal(doc, &want); err != nil {
			t.Fatal(err)
		}
		got, err := readLineage(doc)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if got.models != len(want.Models) || got.generated() != want.HasGenerationData() {
			t.Fatalf("%d models, generated %v\n%s", got.models, got.generated(), doc)
		}
		if diff := cmp.Diff(nodesOf(want.Workflow), readNodes(got.nodes), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("nodes: %s\n%s", diff, doc)
		}
		want.Models, want.Samplers, want.Parents, want.Evidence, want.Conflicts, want.Warnings = nil, nil, nil, nil, nil, nil
		if w := want.Workflow; w != nil {
			want.Workflow = &library.Workflow{NodeCount: w.NodeCount, CustomNodes: w.CustomNodes, Name: w.Name, Hash: w.Hash}
		}
		if diff := cmp.Diff(want, got.Lineage); diff != "" {
			t.Fatalf("%s\n%s", diff, doc)
		}
	})
}

type plainNode struct {
	Class  string
	Inputs map[string]string
}

func nodesOf(w *library.Workflow) (out []plainNode) {
	if w == nil {
		return nil
	}
	for _, n := range w.Nodes {
		out = append(out, plainNode{n.Class, n.Inputs})
	}
	return out
}

func readNodes(nodes []graphNode) (out []plainNode) {
	for _, n := range nodes {
		p := plainNode{Class: n.class, Inputs: map[string]string{}}
		for _, in := range n.inputs {
			p.Inputs[in.name] = in.value
		}
		out = append(out, p)
	}
	return out
}

func TestLineage_DamagedLineageIsAnErrorAndNeverAPanic(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(typicalAsset("a").Lineage)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := readLineage(whole[:n]); n > 0 && err == nil {
			t.Errorf("cut after %d bytes, it is read without an error: %s", n, whole[:n])
		}
	}
	randtest.Check(t, func(t *rapid.T) {
		damaged := bytes.Clone(whole)
		for range rapid.IntRange(1, 4).Draw(t, "places") {
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("{}[]\",:\\x0 ")).Draw(t, "byte")
		}
		_, _ = readLineage(damaged)
	})
}
