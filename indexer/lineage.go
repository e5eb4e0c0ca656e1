package indexer

import (
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
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
	r := jsonscan.New(doc)
	err := r.Object(func(key string) (err error) {
		switch key {
		case "tool":
			l.Tool, err = r.Text()
		case "tool_version":
			l.ToolVersion, err = r.Text()
		case "positive":
			l.Positive, err = r.Optional()
		case "negative":
			l.Negative, err = r.Optional()
		case "regions":
			err = r.Into(&l.Regions)
		case "models":
			err = r.Array(func() error { l.models++; return nil })
		case "parameters":
			err = r.Into(&l.Parameters)
		case "hires":
			err = r.Into(&l.Hires)
		case "workflow":
			err = l.readWorkflow(r)
		case "image_tool":
			err = r.Into(&l.ImageTool)
		case "c2pa":
			err = r.Into(&l.C2PA)
		case "extra":
			err = r.Into(&l.Extra)
		}
		return err
	})
	return l, err
}

func (l *lineage) readWorkflow(r *jsonscan.Reader) error {
	if r.Null() {
		return nil
	}
	w := &library.Workflow{}
	l.Workflow = w
	return r.Object(func(key string) (err error) {
		switch key {
		case "node_count":
			err = r.Into(&w.NodeCount)
		case "custom_nodes":
			err = r.Into(&w.CustomNodes)
		case "name":
			w.Name, err = r.Text()
		case "hash":
			w.Hash, err = r.Text()
		case "nodes":
			err = r.Array(func() error {
				n, err := readNode(r)
				l.nodes = append(l.nodes, n)
				return err
			})
		}
		return err
	})
}

func readNode(r *jsonscan.Reader) (graphNode, error) {
	var n graphNode
	err := r.Object(func(key string) (err error) {
		switch key {
		case "class":
			n.class, err = r.Text()
		case "inputs":
			err = r.Object(func(name string) error {
				v, err := r.Text()
				n.inputs = append(n.inputs, nodeInput{name, v})
				return err
			})
		}
		return err
	})
	slices.SortFunc(n.inputs, func(a, b nodeInput) int { return strings.Compare(a.name, b.name) })
	return n, err
}
