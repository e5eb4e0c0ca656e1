package annotations

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type deleteInput struct {
	op.TenantInput
	OneAnnotation
}

func (s *Service) deleteAnnotation() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteAnnotation", Title: "Delete an annotation", Domain: op.Annotations,
		Doc:    "Deletes an annotation. UndoOperation restores it.",
		Method: "DELETE", Path: "/api/v1/annotations/{annotation_id}", Permission: library.PermWrite, Destructive: true, Conditional: true,
		Example: map[string]any{"annotation_id": exampleAnnotation},
	}, func(ctx context.Context, actor library.Actor, in deleteInput) (written, error) {
		return describeWrite(s.Store.Annotations.Delete(ctx, actor, in.id()))
	})
}
