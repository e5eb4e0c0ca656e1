package experiments

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type createInput struct {
	op.TenantInput
	DisplayName string `json:"display_name" minLength:"1" maxLength:"200"`
	Description string `json:"description,omitempty" maxLength:"5000"`
	Question[string]
	ParentPath string `json:"parent_path,omitempty" id:"collection" maxLength:"600" doc:"Collection to put it under. Default: a root."`

	label string
}

// Validate implements op.Validator.
func (in *createInput) Validate() []library.FieldError {
	if in.label = library.CollectionLabel(in.DisplayName); in.label == "" {
		return []library.FieldError{{Field: "display_name", Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."}}
	}
	return in.check()
}

type createOutput struct {
	Experiment
	op.Undoable
}

func (s *Service) createExperiment() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateExperiment", Title: "Create an experiment", Domain: op.Experiments,
		Doc:    "Creates an experiment: a collection in which every asset is a run to score and compare.",
		Method: "POST", Path: "/api/v1/experiments", Permission: library.PermWrite, Creates: "/api/v1/collections/{collection_h}", Chained: true,
		Example: map[string]any{"display_name": "CFG for portraits", "hypothesis": "Faces are best at a cfg of 5 to 7.", "independent_variable": "cfg"},
	}, func(ctx context.Context, actor library.Actor, in createInput) (createOutput, error) {
		e := library.Experiment{Collection: library.Collection{Name: in.label, DisplayName: strings.TrimSpace(in.DisplayName), Description: in.Description}}
		in.apply(&e)
		done, err := s.Experiments.Create(ctx, actor, e, in.ParentPath)
		if err != nil {
			return createOutput{}, err
		}
		return createOutput{describe(done.Experiment), op.Undoable{OperationID: done.OperationID}}, nil
	})
}
