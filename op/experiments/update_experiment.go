package experiments

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	InExperiment
	Question[*string]
}

// Validate implements op.Validator.
func (in *updateInput) Validate() []library.FieldError { return in.check() }

func (s *Service) updateExperiment() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateExperiment", Title: "Change an experiment", Domain: op.Experiments,
		Doc:    "Changes the fields that are sent; domain_context is replaced. UpdateCollection changes name and description.",
		Method: "PATCH", Path: "/api/v1/experiments/{collection_h}", Permission: library.PermWrite, Idempotent: true, RESTOnly: true, Conditional: true,
		AnyOf:   questionFields,
		Example: map[string]any{"collection_h": exampleExperiment, "hypothesis": "Faces are best at a cfg of 4 to 6."},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (createOutput, error) {
		done, err := s.Experiments.Change(ctx, actor, in.CollectionH, in.apply)
		if err != nil {
			return createOutput{}, err
		}
		return createOutput{describe(done.Experiment), op.Undoable{OperationID: done.OperationID}}, nil
	})
}
