package annotations

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type createInput struct {
	op.TenantInput
	OnNode
	Content     string `json:"content" minLength:"1" maxLength:"10000"`
	ContentType string `json:"content_type,omitempty" enum:"text,markdown,json" default:"text"`
	Visibility  string `json:"visibility,omitempty" enum:"private,team,public" default:"team" doc:"private: only the author, admins neither. team: everybody in the tenant."`
}

// Validate implements op.Validator.
func (in *createInput) Validate() []library.FieldError {
	return append(blank(in.Content), library.ContentType(in.ContentType).CheckContent(in.Content)...)
}

func (s *Service) createAnnotation() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateAnnotation", Title: "Annotate a workflow node", Domain: op.Annotations,
		Doc:    "Adds a note to a node of an asset's workflow graph, to an asset or to a run. Searches find it by annotation:word.",
		Method: "POST", Path: "/api/v1/annotations", Permission: library.PermWrite, Creates: "/api/v1/annotations/{annotation_id}", Chained: true,
		Example: map[string]any{"workflow_node_id": exampleNode, "content": "too dark; try more steps", "visibility": "team"},
	}, func(ctx context.Context, actor library.Actor, in createInput) (written, error) {
		return describeWrite(s.Store.Annotations.Create(ctx, actor, in.target(), library.Annotation{Content: in.Content, ContentType: library.ContentType(in.ContentType), Visibility: library.Visibility(in.Visibility)}))
	})
}
