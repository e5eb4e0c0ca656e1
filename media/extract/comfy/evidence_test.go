package comfy

import (
	"strings"
	"testing"
)

// A cut executed graph is no reason to read nothing.
func TestEvidence_EditorGraphServesWhenTheExecutedGraphIsCut(t *testing.T) {
	c := readCases(t)["plain"]
	in := c.input()
	in.Workflow = editorVersion(t, c.Prompt)
	in.Prompt = in.Prompt[:len(in.Prompt)/2]
	lin, ok := Read(in)
	if !ok {
		t.Fatal("no graph found")
	}
	compareCase(t, c, lin)
	if len(lin.Warnings) == 0 || !strings.Contains(lin.Warnings[0], "executed graph") {
		t.Errorf("warnings are %q", lin.Warnings)
	}
}

// Where the two graphs hold different values for a node, the executed one is
// believed and the difference is told.
func TestEvidence_ConflictingGraphsAreTold(t *testing.T) {
	c := readCases(t)["plain"]
	in := c.input()
	in.Workflow = []byte(strings.Replace(string(editorVersion(t, c.Prompt)), "a red fox", "a grey wolf", 1))
	lin, _ := Read(in)
	compareCase(t, c, lin)
	if len(lin.Conflicts) != 1 || lin.Conflicts[0].Field != "positive" {
		t.Errorf("conflicts are %+v, want one of the positive prompt", lin.Conflicts)
	}
}

// Evidence names the node that really gave a value.
func TestEvidence_NamesTheNode(t *testing.T) {
	lin, _ := Read(readCases(t)["custom_sampling"].input())
	want := map[string]string{"seed": "25", "steps": "17", "scheduler": "17", "denoise": "17", "sampler": "16", "guidance": "26", "positive": "6", "width": "27", "model_name": "12"}
	for _, e := range lin.Evidence {
		if node, asked := want[e.Field]; asked {
			if e.Node != node || e.Place != "prompt" || e.Rule == "" {
				t.Errorf("%s: %+v, want node %s of the prompt", e.Field, e, node)
			}
			delete(want, e.Field)
		}
	}
	if len(want) > 0 {
		t.Errorf("no evidence for %v", want)
	}
}
