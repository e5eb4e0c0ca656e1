package annotations

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type oneInput struct {
	op.TenantInput
	OneAnnotation
}

type oneOutput struct {
	Annotation
	History []Version `json:"history" doc:"Every version, the newest first."`
}

func (s *Service) getAnnotation() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAnnotation", Title: "Get an annotation", Domain: op.Annotations,
		Doc:    "Returns an annotation with every version that it had.",
		Method: "GET", Path: "/api/v1/annotations/{annotation_id}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"annotation_id": exampleAnnotation},
	}, func(ctx context.Context, actor library.Actor, in oneInput) (oneOutput, error) {
		n, versions, err := s.Store.Annotations.Versions(ctx, actor, in.id())
		if err != nil {
			return oneOutput{}, err
		}
		return oneOutput{Describe(n), describeVersions(versions)}, nil
	})
}
