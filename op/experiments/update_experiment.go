package experiments

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	InExperiment
	Hypothesis          *string        `json:"hypothesis,omitempty" maxLength:"2000"`
	IndependentVariable *string        `json:"independent_variable,omitempty" maxLength:"100" doc:"What differs between conditions, such as cfg, sampler, model, or a key of run_params."`
	ControlVariable     *string        `json:"control_variable,omitempty" maxLength:"200"`
	ModelName           *string        `json:"model_name,omitempty" maxLength:"300" doc:"Of runs that name none."`
	WorkflowName        *string        `json:"workflow_name,omitempty" maxLength:"300"`
	Resolution          *string        `json:"resolution,omitempty" maxLength:"50"`
	DomainContext       map[string]any `json:"domain_context,omitempty" doc:"Replaces what was there."`
}

// Validate implements op.Validator.
func (in *updateInput) Validate() []library.FieldError {
	return op.CheckObject("domain_context", in.DomainContext, op.SmallObject)
}

func (s *Service) updateExperiment() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateExperiment", Title: "Change an experiment", Domain: op.Experiments,
		Doc:    "Changes the fields that are sent. UpdateCollection changes name and description.",
		Method: "PATCH", Path: "/api/v1/experiments/{collection_h}", Permission: library.PermWrite, Idempotent: true, RESTOnly: true, Conditional: true,
		AnyOf:   []string{"hypothesis", "independent_variable", "control_variable", "model_name", "workflow_name", "resolution", "domain_context"},
		Example: map[string]any{"collection_h": exampleExperiment, "hypothesis": "Faces are best at a cfg of 4 to 6."},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (createOutput, error) {
		done, err := s.Store.Experiments.Change(ctx, actor, in.CollectionH, in.apply)
		if err != nil {
			return createOutput{}, err
		}
		return createOutput{describe(done.Experiment), op.Undoable{OperationID: done.OperationID}}, nil
	})
}

// apply sets the fields that were sent.
func (in *updateInput) apply(e *library.Experiment) {
	for field, sent := range map[*string]*string{&e.Hypothesis: in.Hypothesis, &e.IndependentVariable: in.IndependentVariable, &e.ControlVariable: in.ControlVariable,
		&e.ModelName: in.ModelName, &e.WorkflowName: in.WorkflowName, &e.Resolution: in.Resolution} {
		if sent != nil {
			*field = *sent
		}
	}
	if in.DomainContext != nil {
		e.DomainContext = in.DomainContext
	}
}
