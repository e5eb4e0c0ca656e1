package comfy

import (
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

const maxInputText = 16 << 10 // a node's input in the list of executed nodes

// workflow keeps both documents and lists what ran.
func (r *reader) workflow(prompt, workflow document) *library.Workflow {
	w := &library.Workflow{
		ToolName: "ComfyUI", Source: "extracted", NodeCount: len(r.g.nodes), Hash: r.g.structureHash(),
		JSON: rawJSON(workflow), PromptJSON: rawJSON(prompt), Name: graphName(workflow.doc),
		CustomNodes: customNodes(r.g, workflow.doc), Unknown: []string{},
	}
	if len(r.g.nodes) >= maxNodes {
		r.notes.warn("the graph has more nodes than are read")
	}
	for _, n := range r.runs.sequence {
		w.Nodes = append(w.Nodes, nodeUse(n))
		if !r.understood(n) && !slices.Contains(w.Unknown, n.class) {
			w.Unknown = append(w.Unknown, n.class)
		}
	}
	slices.Sort(w.Unknown)
	return w
}

// rawJSON returns the document as valid JSON, unwrapped and without the tokens that
// JSON does not know; byte for byte where the file's own bytes are valid.
func rawJSON(d document) library.RawJSON {
	if d.doc.Kind != jsonscan.Object {
		return nil
	}
	if len(d.raw) > 0 && isValidJSON(d.raw) {
		return library.RawJSON(d.raw)
	}
	return library.RawJSON(d.doc.Encode(nil))
}

func nodeUse(n *node) library.NodeUse {
	u := library.NodeUse{ID: n.id, Class: n.class, Title: n.title}
	for i := range n.inputs {
		in := &n.inputs[i]
		s, ok := scalar(in.val)
		if in.linked() || !ok {
			continue
		}
		if len(s) > maxInputText {
			s = strings.ToValidUTF8(s[:maxInputText], "")
		}
		if u.Inputs == nil {
			u.Inputs = map[string]string{}
		}
		u.Inputs[in.written()] = s
	}
	return u
}

// graphName finds the title people gave the graph.
func graphName(doc value) string {
	for _, v := range []value{doc.Get("name"), doc.Get("extra").Get("name"), doc.Get("extra").Get("info").Get("name"), doc.Get("extra").Get("workspace_info").Get("name"), doc.Get("extra").Get("title")} {
		if s := strings.TrimSpace(v.Str()); s != "" && len(s) < 500 {
			return s
		}
	}
	return ""
}

// understood reports whether some rule knew what a node is for.
func (r *reader) understood(n *node) bool {
	if n.about != nil || isOutputClass(n) || r.pictures.isSampler(n) || isEncoder(n) || isLatentSource(n) || isGenerator(n) {
		return true
	}
	if _, isSwitch := r.switches.chosen(n); isSwitch || len(r.models.of(n)) > 0 || len(r.parents.of(n)) > 0 {
		return true
	}
	for i := range textInputs(n) {
		if _, ok := r.texts.memo[textKey{n, i, rolePositive}]; ok {
			return true
		}
	}
	return resizes(n) || n.like("plumbing")
}

// conflicts compares the values that were used with those of the same nodes in
// the editor's graph.
func (r *reader) conflicts(layout *graph) []library.Conflict {
	var out []library.Conflict
	for _, e := range r.notes.evidence {
		n, l := r.g.byID[e.Node], layout.byID[e.Node]
		if n == nil || l == nil || n.class != l.class {
			continue
		}
		for _, name := range inputsOf(e.Field) {
			a, b := n.in(name), l.in(name)
			if a == nil || b == nil || !differ(a, b) {
				continue
			}
			c := library.Conflict{Field: e.Field, Taken: "prompt node " + e.Node, Other: "workflow node " + e.Node}
			if len(out) == 0 || out[len(out)-1] != c {
				out = append(out, c)
			}
		}
	}
	return out
}

// inputsOf returns the inputs from which a field may have been read.
func inputsOf(field string) []string {
	switch field {
	case "positive", "negative":
		return append(mainFields[:len(mainFields):len(mainFields)], encoderFields...)
	case "seed":
		return seedNames
	case "steps":
		return stepsNames
	case "cfg_scale":
		return cfgNames
	case "sampler":
		return samplerNames
	case "scheduler":
		return schedulerNames
	case "denoise":
		return denoiseNames
	case "models":
		return []string{"ckpt_name", "unet_name", "lora_name", "vae_name", "clip_name", "clip_name1", "clip_name2", "control_net_name", "model_name"}
	}
	return nil
}

func differ(a, b *input) bool {
	x, xok := scalar(a.val)
	y, yok := scalar(b.val)
	if !xok || !yok || a.linked() || b.linked() || x == y {
		return false
	}
	f, g := parseFloat(x), parseFloat(y)
	return f == nil || g == nil || *f != *g
}
