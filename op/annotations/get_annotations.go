package annotations

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type listInput struct {
	op.TenantInput
	OnNode
	Resolved bool `json:"include_resolved,omitempty" default:"false"`
	History  bool `json:"include_history,omitempty" default:"false" doc:"With all versions of each."`
	Limit    int  `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset   int  `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0"`
}

// WithHistory is an annotation and the versions that it had.
type WithHistory struct {
	Annotation
	History []Version `json:"history,omitempty" doc:"The newest first, with include_history."`
}

type listOutput struct {
	Data  []WithHistory `json:"data" doc:"The oldest first."`
	Total int           `json:"total"`
}

func (s *Service) getAnnotations() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAnnotations", Title: "Get the annotations of a workflow node", Domain: op.Annotations,
		Doc:    "Returns the notes on a node of an asset's workflow graph, on an asset or on a run.",
		Method: "GET", Path: "/api/v1/workflow-nodes/{workflow_node_id}/annotations", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"workflow_node_id": exampleNode, "include_resolved": true},
	}, s.list)
}

func (s *Service) list(ctx context.Context, actor library.Actor, in listInput) (listOutput, error) {
	list, total, err := s.Store.Annotations.Of(ctx, actor, in.target(), in.Resolved, in.Limit, in.Offset)
	out := listOutput{Data: []WithHistory{}, Total: total}
	if err != nil {
		return out, err
	}
	var versions map[string][]library.AnnotationVersion
	if in.History {
		if versions, err = s.Store.Annotations.VersionsOf(ctx, actor, list); err != nil {
			return out, err
		}
	}
	for _, n := range list {
		shown := WithHistory{Annotation: Describe(n)}
		if in.History {
			shown.History = describeVersions(versions[n.ID])
		}
		out.Data = append(out.Data, shown)
	}
	return out, nil
}
