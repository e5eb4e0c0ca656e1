package annotations

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	OneAnnotation
	Content    *string `json:"content,omitempty" minLength:"1" maxLength:"10000"`
	Visibility *string `json:"visibility,omitempty" enum:"private,team,public"`
	Resolved   *bool   `json:"resolved,omitempty" doc:"true: lists leave it out."`
}

// Validate implements op.Validator.
func (in *updateInput) Validate() []library.FieldError {
	if in.Content == nil {
		return nil
	}
	return blank(*in.Content)
}

func (s *Service) updateAnnotation() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateAnnotation", Title: "Change an annotation", Domain: op.Annotations,
		Doc:    "Writes a new version of an annotation; the earlier ones stay readable. Its author or an admin changes content and visibility, everybody who sees it resolved.",
		Method: "PATCH", Path: "/api/v1/annotations/{annotation_id}", Permission: library.PermWrite, Idempotent: true, Conditional: true,
		AnyOf:   []string{"content", "visibility", "resolved"},
		Example: map[string]any{"annotation_id": exampleAnnotation, "resolved": true},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (written, error) {
		return describeWrite(s.Store.Annotations.Change(ctx, actor, in.id(), func(n *library.Annotation) error { return in.apply(actor, n) }))
	})
}

func (in *updateInput) apply(actor library.Actor, n *library.Annotation) error {
	if (in.Content != nil || in.Visibility != nil) && n.Author != actor.ID && !actor.SeesAll() {
		return library.NewError(library.KindForbidden, library.CodeNotOwner, "Only the author of an annotation or an admin changes its content and visibility. Send resolved alone, or add an annotation of your own.")
	}
	if in.Content != nil {
		if errs := n.ContentType.CheckContent(*in.Content); len(errs) > 0 {
			return library.Invalid(errs...)
		}
		n.Content = *in.Content
	}
	if in.Visibility != nil {
		if *in.Visibility == string(library.VisibilityPrivate) && n.Author != actor.ID {
			return library.NewError(library.KindForbidden, library.CodeNotOwner, "Only the author of an annotation makes it private: nobody else would see it any more.")
		}
		n.Visibility = library.Visibility(*in.Visibility)
	}
	if in.Resolved != nil {
		n.Resolved = *in.Resolved
	}
	return nil
}
