package indexer

import (
	"encoding/json"
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

// readLineage reads the stored document. Decoding it whole by encoding/json was
// more than half of the indexer's own work per asset.
func readLineage(doc []byte) (lineage, error) {
	var l lineage
	if len(doc) == 0 {
		return l, nil
	}
	err := members(doc, func(key string, value []byte) (err error) {
		switch key {
		case "tool":
			l.Tool, err = unquote(value)
		case "tool_version":
			l.ToolVersion, err = unquote(value)
		case "positive":
			l.Positive, err = optional(value)
		case "negative":
			l.Negative, err = optional(value)
		case "regions":
			err = json.Unmarshal(value, &l.Regions)
		case "models":
			err = elements(value, func([]byte) error { l.models++; return nil })
		case "parameters":
			err = json.Unmarshal(value, &l.Parameters)
		case "hires":
			err = json.Unmarshal(value, &l.Hires)
		case "workflow":
			err = l.readWorkflow(value)
		case "image_tool":
			err = json.Unmarshal(value, &l.ImageTool)
		case "c2pa":
			err = json.Unmarshal(value, &l.C2PA)
		case "extra":
			err = json.Unmarshal(value, &l.Extra)
		}
		return err
	})
	return l, err
}

// optional reads a string that may be null.
func optional(value []byte) (*string, error) {
	if string(value) == "null" {
		return nil, nil
	}
	s, err := unquote(value)
	return &s, err
}

func (l *lineage) readWorkflow(doc []byte) error {
	if string(doc) == "null" {
		return nil
	}
	w := &library.Workflow{}
	l.Workflow = w
	return members(doc, func(key string, value []byte) (err error) {
		switch key {
		case "node_count":
			err = json.Unmarshal(value, &w.NodeCount)
		case "custom_nodes":
			err = json.Unmarshal(value, &w.CustomNodes)
		case "name":
			w.Name, err = unquote(value)
		case "hash":
			w.Hash, err = unquote(value)
		case "nodes":
			err = elements(value, func(node []byte) error {
				n, err := readNode(node)
				l.nodes = append(l.nodes, n)
				return err
			})
		}
		return err
	})
}

func readNode(doc []byte) (graphNode, error) {
	var n graphNode
	err := members(doc, func(key string, value []byte) (err error) {
		switch {
		case key == "class":
			n.class, err = unquote(value)
		case key == "inputs" && string(value) != "null":
			err = members(value, func(name string, value []byte) error {
				v, err := unquote(value)
				n.inputs = append(n.inputs, nodeInput{name, v})
				return err
			})
		}
		return err
	})
	slices.SortFunc(n.inputs, func(a, b nodeInput) int { return strings.Compare(a.name, b.name) })
	return n, err
}
