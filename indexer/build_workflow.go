package indexer

import (
	"maps"
	"slices"

	"vitrine/library"
	"vitrine/mappings"
)

// buildWorkflow fills in the node graph: its classes, the scalar inputs of its
// nodes, its name and its structural hash.
func buildWorkflow(d *mappings.Document, w *library.Workflow) {
	if w == nil {
		return
	}
	d.HasWorkflow = true
	d.GTNodeCount = w.NodeCount
	var classes, props, packs, names set
	for i := range w.Nodes {
		n := &w.Nodes[i]
		classes.add(n.Class)
		for _, input := range slices.Sorted(maps.Keys(n.Inputs)) {
			if len(props.list) == mappings.MaxNodeProps {
				break
			}
			props.add(mappings.NodeProp(n.Class, input, n.Inputs[input]))
		}
	}
	for _, p := range w.CustomNodes {
		packs.add(p)
	}
	names.add(w.Name)
	names.add(w.Hash)
	d.GTNodes, d.GTNodeProps, d.GTPacks, d.GTWorkflow = classes.list, props.list, packs.list, names.list
}
