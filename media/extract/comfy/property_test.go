package comfy

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vitrine/internal/jsonscan"
	"vitrine/internal/randtest"
)

// Graphs of real classes and inputs, wired at random: cycles, links to the wrong
// outputs, several outputs, missing nodes.
func TestProperty_RandomGraphsAreReadTheSameTwice(t *testing.T) {
	cases := readCases(t)
	var pool []value
	for _, c := range cases {
		if doc, ok := decodeAlone(c.Prompt); ok {
			for _, m := range doc.Members {
				pool = append(pool, m.Val)
			}
		}
	}
	randtest.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "nodes")
		id := rapid.SampledFrom([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10:1", "x", "12", "20", "30"})
		doc := value{Kind: jsonscan.Object}
		for range n {
			node := rapid.SampledFrom(pool).Draw(t, "node")
			doc.Members = append(doc.Members, pair(id.Draw(t, "id"), rewire(t, node, id)))
		}
		in := Input{Prompt: doc.Encode(nil), FileWidth: 768, FileHeight: 512, MIME: "image/png"}
		start := time.Now()
		lin, ok := Read(in)
		if !ok {
			t.Fatal("a graph of nodes was not read")
		}
		again, _ := Read(in)
		a, err := json.Marshal(lin)
		b, _ := json.Marshal(again)
		if err != nil || string(a) != string(b) {
			t.Fatalf("two reads of one graph differ (%v):\n%s\n%s", err, a, b)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Fatalf("two reads took %v", took)
		}
		for i, m := range lin.Models {
			if m.Sequence != i || m.Name == "" || m.Type == "" {
				t.Fatalf("model %d is %+v", i, m)
			}
		}
	})
}

// rewire copies a node with its links drawn anew.
func rewire(t *rapid.T, node value, id *rapid.Generator[string]) value {
	out := node
	out.Members = append([]member(nil), node.Members...)
	for i := range out.Members {
		if out.Members[i].Name != "inputs" {
			continue
		}
		inputs := out.Members[i].Val
		inputs.Members = append([]member(nil), inputs.Members...)
		for j := range inputs.Members {
			if v := inputs.Members[j].Val; v.Kind == jsonscan.Array && len(v.List) == 2 {
				slot := rapid.SampledFrom([]string{"0", "0", "1", "2", "5", "-1", "999999"}).Draw(t, "slot")
				inputs.Members[j].Val = value{Kind: jsonscan.Array, List: []value{{Kind: jsonscan.String, Text: id.Draw(t, "from")}, {Kind: jsonscan.Number, Text: slot}}}
			}
		}
		out.Members[i].Val = inputs
	}
	return out
}
