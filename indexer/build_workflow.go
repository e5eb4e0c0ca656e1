package indexer

import "vitrine/mappings"

// buildWorkflow fills in the node graph: its classes, the scalar inputs of its
// nodes, its name and its structural hash.
func buildWorkflow(d *mappings.Document, l *lineage) {
	w := l.Workflow
	if w == nil {
		return
	}
	d.HasWorkflow = true
	d.GTNodeCount = w.NodeCount
	var classes, props, packs, names set
	for _, n := range l.nodes {
		// The inputs of one node have distinct names, so only a class that came
		// before can have brought the same property.
		add := props.addNew
		if classes.has(n.class) {
			add = props.add
		}
		classes.add(n.class)
		for _, in := range n.inputs {
			if len(props.list) == mappings.MaxNodeProps {
				break
			}
			add(mappings.NodeProp(n.class, in.name, in.value))
		}
	}
	for _, p := range w.CustomNodes {
		packs.add(p)
	}
	names.add(w.Name)
	names.add(w.Hash)
	d.GTNodes, d.GTNodeProps, d.GTPacks, d.GTWorkflow = classes.list, props.list, packs.list, names.list
}
