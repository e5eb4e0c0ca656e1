package indexer

import (
	"slices"
	"strings"

	"vitrine/library"
)

// lineage is what the index wants to know of a stored library.Lineage. Evidence,
// the single sampler passes and more are left out, and so are the models: their
// rows know more about them.
type lineage struct {
	library.Lineage
	models int // how many the file names
	nodes  []graphNode
}

// graphNode is one executed node with its scalar inputs in order of their names.
type graphNode struct {
	class  string
	inputs []nodeInput
}

type nodeInput struct{ name, value string }

// generated reports whether the file says anything about how it was made.
func (l *lineage) generated() bool { return l.models > 0 || l.HasGenerationData() }

// readLineage reads the stored document.
func readLineage(doc []byte) (lineage, error) {
	var l lineage
	if len(doc) == 0 {
		return l, nil
	}
	r := &jsonReader{s: string(doc)}
	err := r.object(func(key string) (err error) {
		switch key {
		case "tool":
			l.Tool, err = r.text()
		case "tool_version":
			l.ToolVersion, err = r.text()
		case "positive":
			l.Positive, err = r.optional()
		case "negative":
			l.Negative, err = r.optional()
		case "regions":
			err = r.into(&l.Regions)
		case "models":
			err = r.array(func() error { l.models++; return nil })
		case "parameters":
			err = r.into(&l.Parameters)
		case "hires":
			err = r.into(&l.Hires)
		case "workflow":
			err = l.readWorkflow(r)
		case "image_tool":
			err = r.into(&l.ImageTool)
		case "c2pa":
			err = r.into(&l.C2PA)
		case "extra":
			err = r.into(&l.Extra)
		}
		return err
	})
	return l, err
}

func (l *lineage) readWorkflow(r *jsonReader) error {
	if r.null() {
		return nil
	}
	w := &library.Workflow{}
	l.Workflow = w
	return r.object(func(key string) (err error) {
		switch key {
		case "node_count":
			err = r.into(&w.NodeCount)
		case "custom_nodes":
			err = r.into(&w.CustomNodes)
		case "name":
			w.Name, err = r.text()
		case "hash":
			w.Hash, err = r.text()
		case "nodes":
			err = r.array(func() error {
				n, err := readNode(r)
				l.nodes = append(l.nodes, n)
				return err
			})
		}
		return err
	})
}

func readNode(r *jsonReader) (graphNode, error) {
	var n graphNode
	err := r.object(func(key string) (err error) {
		switch key {
		case "class":
			n.class, err = r.text()
		case "inputs":
			err = r.object(func(name string) error {
				v, err := r.text()
				n.inputs = append(n.inputs, nodeInput{name, v})
				return err
			})
		}
		return err
	})
	slices.SortFunc(n.inputs, func(a, b nodeInput) int { return strings.Compare(a.name, b.name) })
	return n, err
}
