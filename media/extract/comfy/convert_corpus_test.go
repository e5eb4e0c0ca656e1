package comfy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// The editor's graph of a real file, turned into an executable one, must be the
// graph that was executed: same nodes, same links, same values.
func TestConvertCorpus_EditorGraphConvertsToTheExecutedGraph(t *testing.T) {
	same, all := 0, 0
	for _, f := range readCorpus(t) {
		prompt, workflow := classify(inputOf(t, f.File))
		if prompt.doc.Kind != jsonscan.Object || workflow.doc.Kind != jsonscan.Object {
			continue
		}
		all++
		diffs := graphDiff(readPrompt(prompt.doc), convert(workflow.doc))
		if len(diffs) == 0 {
			same++
			continue
		}
		t.Logf("%s\n  %s", f.File, strings.Join(diffs, "\n  "))
	}
	t.Logf("%d of %d graphs convert exactly", same, all)
	if all > 0 && same*100 < all*93 {
		t.Errorf("%d of %d graphs convert exactly, at least 93 %% must", same, all)
	}
}

func graphDiff(want, got *graph) []string {
	var out []string
	for _, n := range want.nodes {
		m := got.byID[n.id]
		if m == nil {
			out = append(out, "missing node "+n.id+" "+n.class)
			continue
		}
		if m.class != n.class {
			out = append(out, "class of "+n.id+": "+m.class+" for "+n.class)
		}
		for i := range n.inputs {
			a := &n.inputs[i]
			b := m.in(a.name)
			switch {
			case a.name == "choose file to upload" || a.name == "video-preview" || a.name == "upload":
				// buttons of the editor, not inputs
			case b == nil:
				out = append(out, n.id+" "+n.class+" lacks input "+a.name)
			case a.linked() != b.linked():
				out = append(out, n.id+" "+n.class+" input "+a.name+" linked only in one")
			case a.linked() && (a.from.node.id != b.from.node.id || a.from.slot != b.from.slot):
				out = append(out, n.id+" "+n.class+" input "+a.name+" linked to "+b.from.node.id+" for "+a.from.node.id)
			case !a.linked() && differ(a, b):
				x, _ := scalar(a.val)
				y, _ := scalar(b.val)
				out = append(out, n.id+" "+n.class+" input "+a.name+" is "+clip(y)+" for "+clip(x))
			}
		}
	}
	for _, n := range got.nodes {
		if want.byID[n.id] == nil {
			out = append(out, "extra node "+n.id+" "+n.class)
		}
	}
	slices.Sort(out)
	return out
}

// Without the executed graph the editor's graph must tell the same story.
func TestConvertCorpus_EditorGraphAloneReadsLikeTheExecutedGraph(t *testing.T) {
	all := 0
	for _, f := range readCorpus(t) {
		in := inputOf(t, f.File)
		if in.Prompt == nil || in.Workflow == nil {
			continue
		}
		prompt, workflow := classify(in)
		if contradict(readPrompt(prompt.doc), convert(workflow.doc)) {
			continue
		}
		all++
		both, _ := Read(in)
		in.Prompt = nil
		alone, ok := Read(in)
		if !ok {
			t.Errorf("%s: the editor's graph alone is not read", f.File)
			continue
		}
		if sizeOfFile(both) {
			both.Parameters.Width, both.Parameters.Height = nil, nil
		}
		for _, lin := range []*library.Lineage{&both, &alone} {
			lin.Evidence, lin.Conflicts, lin.Warnings = nil, nil, nil
			lin.Workflow.PromptJSON, lin.Workflow.JSON, lin.Workflow.Nodes, lin.Workflow.Unknown = nil, nil, nil, nil
		}
		if diff := cmp.Diff(both, alone); diff != "" {
			t.Errorf("%s: -both +alone\n%s", f.File, diff)
		}
	}
	if all == 0 {
		t.Error("no file of the corpus has both graphs")
	}
}

// contradict finds files whose two graphs name different models: they were edited
// after the fact, and only the executed graph can be right.
func contradict(a, b *graph) bool {
	for _, n := range a.nodes {
		m := b.byID[n.id]
		for i := range n.inputs {
			if m == nil || !isWeightFile(n.inputs[i].val.Str()) {
				continue
			}
			if in := m.in(n.inputs[i].name); in != nil && differ(&n.inputs[i], in) {
				return true
			}
		}
	}
	return false
}
