package comfy

import "vitrine/library"

// lineage reads everything but the documents themselves.
func (r *reader) lineage() library.Lineage {
	lin := library.Lineage{Tool: "comfyui"}
	out, why := r.outputs.choose()
	if out == nil {
		lin.Models = []library.ModelUse{}
		return lin
	}
	r.notes.record("output", out, why)
	r.runs.mark(out)
	lin.Models = r.models.all()
	for i, m := range lin.Models {
		r.notes.record("models", r.models.loads[i].node, "file name input of a node the output depends on: "+m.Type)
	}
	lin.Parents = r.parents.all()
	for _, p := range lin.Parents {
		r.notes.record("parents", r.g.byID[p.NodeID], "file loaded by a node the output depends on")
	}
	r.readPasses(&lin, out)
	r.readEmbeddings(&lin)
	lin.Evidence = r.notes.evidence
	return lin
}
