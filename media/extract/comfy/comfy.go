// Package comfy reads the node graphs that ComfyUI leaves in the files it writes.
//
// In go the two documents of a file, the executed graph ("prompt") and the
// editor's graph ("workflow"), and what is known of the file itself. Out comes a
// library.Lineage: prompts, every model that was loaded, the settings of every
// sampling pass, the files it was made from, and where each of these was read.
//
// Graphs are read as graphs: from the node that wrote this very file back along
// its links. Nothing is taken from a node that did not take part, nothing is
// guessed from titles, and node classes that no table knows are understood by the
// names and shapes of their inputs. The package does no I/O, never panics on bad
// input, and takes time linear in the size of the documents.
package comfy

import (
	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// Input is what a file says. Prompt and Workflow are JSON as found, either may be
// nil: a byte order mark, trailing NULs, bare NaN and Infinity, and documents
// wrapped in JSON strings up to four times are all read.
type Input struct {
	Prompt   []byte // executed ("API") graph
	Workflow []byte // editor's graph

	FileWidth  int // pixels, 0 when unknown
	FileHeight int
	Filename   string // as uploaded; tells which of several outputs wrote the file
	MIME       string // tells what medium the output node must have
}

// Read returns what the graphs of a file say about how it was made. It returns
// false when neither document is a ComfyUI graph.
func Read(in Input) (library.Lineage, bool) {
	prompt, workflow := classify(in)
	var layout, g *graph
	if workflow.doc.Kind == jsonscan.Object {
		layout = convert(workflow.doc)
	}
	switch {
	case prompt.doc.Kind == jsonscan.Object:
		g = readPrompt(prompt.doc)
		if layout != nil {
			g.annotate(layout)
		}
		g.describe()
	case layout != nil && len(layout.nodes) > 0:
		g = layout
	default:
		return library.Lineage{}, false
	}
	r := newReader(in, g)
	if len(in.Prompt) > 0 && prompt.doc.Kind != jsonscan.Object {
		r.notes.warn("the executed graph could not be read; the editor's graph was read instead")
	}
	lin := r.lineage()
	lin.Workflow = r.workflow(prompt, workflow)
	if prompt.doc.Kind == jsonscan.Object && layout != nil {
		lin.Conflicts = r.conflicts(layout)
	}
	if v := workflow.doc.Get("extra").Get("frontendVersion").Str(); v != "" && len(v) < 40 {
		lin.Extra = with(lin.Extra, "frontend_version", v)
	}
	lin.Warnings = r.notes.warnings
	return lin, true
}

// with adds an entry to a map that may be nil.
func with(m map[string]string, key, val string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = val
	return m
}

// document is one of the two documents of a file, decoded and as found.
type document struct {
	doc value
	raw []byte
}

// classify decodes both documents and sorts them by their shape, because savers
// of some packs swap or nest them.
func classify(in Input) (prompt, workflow document) {
	budget := jsonscan.MaxValues
	for _, raw := range [][]byte{in.Prompt, in.Workflow} {
		if len(raw) == 0 {
			continue
		}
		doc, ok := decode(raw, &budget)
		if !ok {
			continue
		}
		place(document{doc, raw}, &prompt, &workflow, &budget, 0)
	}
	return prompt, workflow
}

func place(d document, prompt, workflow *document, budget *int, depth int) {
	switch {
	case isEditorGraph(d.doc):
		if workflow.doc.Kind != jsonscan.Object {
			*workflow = d
		}
	case isAPIGraph(d.doc):
		if prompt.doc.Kind != jsonscan.Object {
			*prompt = d
		}
	case depth < 3: // {"prompt": …, "workflow": …} and {"extra_pnginfo": {"workflow": …}}
		for _, name := range []string{"prompt", "workflow", "extra_data", "extra_pnginfo", "output"} {
			inner := d.doc.Get(name)
			if inner.Kind == jsonscan.String {
				inner, _ = decode([]byte(inner.Text), budget)
			}
			if inner.Kind == jsonscan.Object {
				place(document{doc: inner}, prompt, workflow, budget, depth+1)
			}
		}
	}
}

func isEditorGraph(v value) bool { return v.Get("nodes").Kind == jsonscan.Array }

func isAPIGraph(v value) bool {
	for i := range v.Members {
		if v.Members[i].Val.Get("class_type").Kind == jsonscan.String {
			return true
		}
	}
	return false
}
