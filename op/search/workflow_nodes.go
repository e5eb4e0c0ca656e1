package search

import (
	"context"

	"vitrine/library"
	"vitrine/op/annotations"
	"vitrine/store"
)

// nodeOutput is an executed node of a workflow.
type nodeOutput struct {
	ID          string                   `json:"workflow_node_id" doc:"For CreateAnnotation. Stays the same when the file is read again."`
	NodeID      string                   `json:"node_id" doc:"Its id in the file."`
	Class       string                   `json:"class"`
	Title       string                   `json:"title,omitempty"`
	Annotations []annotations.Annotation `json:"annotations"`
}

// The most nodes and annotations that the details of an asset hold.
const (
	maxNodesShown       = 500
	maxAnnotationsShown = 100
)

// annotated fills in the nodes of the workflow with the annotations that the caller sees,
// and those on the asset as a whole and on its runs.
func (s *Service) annotated(ctx context.Context, actor library.Actor, d store.AssetDetail, out *detailsOutput) error {
	list, err := s.Store.Annotations.OfAsset(ctx, actor, d.Asset.Hash, maxAnnotationsShown)
	if err != nil {
		return err
	}
	byTarget := map[string][]annotations.Annotation{}
	for _, n := range list {
		byTarget[n.Target] = append(byTarget[n.Target], annotations.Describe(n))
	}
	if w := d.Lineage.Workflow; w != nil {
		out.Workflow.Nodes = []nodeOutput{}
		for i, n := range w.Nodes {
			id := library.WorkflowNodeID(d.Asset.Hash, n.ID)
			if i < maxNodesShown || byTarget[id] != nil {
				out.Workflow.Nodes = append(out.Workflow.Nodes, nodeOutput{ID: id, NodeID: n.ID, Class: n.Class, Title: n.Title, Annotations: orEmpty(byTarget[id])})
			}
			delete(byTarget, id)
		}
	}
	for _, n := range list { // in their order
		if byTarget[n.Target] != nil {
			out.Annotations = append(out.Annotations, annotations.Describe(n))
		}
	}
	return nil
}
