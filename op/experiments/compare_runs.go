package experiments

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type compareInput struct {
	op.TenantInput
	InExperiment
	A       string            `json:"item_a" id:"run" doc:"A run's collection_item_h."`
	B       string            `json:"item_b" id:"other_run"`
	Winners map[string]string `json:"winners" doc:"Dimension to the better run's hash, or tie."`
	Evaluation
	Notes string `json:"notes,omitempty" maxLength:"2000"`

	winners map[string]string
}

// Validate implements op.Validator.
func (in *compareInput) Validate() []library.FieldError {
	winners, errs := dimensions("winners", in.Winners)
	in.winners = map[string]string{}
	a, b := strings.ToLower(in.A), strings.ToLower(in.B)
	if a == b {
		errs = append(errs, library.FieldError{Field: "item_b", Code: "conflict", Message: "A run is not compared with itself. Expected two different runs."})
	}
	if len(in.Winners) == 0 {
		errs = append(errs, library.FieldError{Field: "winners", Code: "required", Message: "Expected at least one dimension with its winner."})
	}
	for _, name := range sortedKeys(winners) {
		switch w := strings.ToLower(strings.TrimSpace(winners[name])); w {
		case "item_a", a:
			in.winners[name] = a
		case "item_b", b:
			in.winners[name] = b
		case library.Tie:
			in.winners[name] = library.Tie
		default:
			errs = append(errs, library.FieldError{Field: "winners." + name, Code: "enum", Message: "Allowed are item_a, item_b, the collection_item_h of one of them, and tie."})
		}
	}
	return errs
}

type compareOutput struct {
	A       string            `json:"item_a" doc:"The two runs, in the order of their identifiers."`
	B       string            `json:"item_b"`
	Winners map[string]string `json:"winners" doc:"Every dimension that this evaluator has compared of them: a collection_item_h, or tie."`
	Notes   string            `json:"notes,omitempty"`
	Total   int               `json:"comparison_count" doc:"Pairs that were compared in the experiment, each evaluator's apart."`
	op.Undoable
}

func (s *Service) compareRuns() op.Operation {
	return op.Define(op.Meta{
		Name: "CompareRuns", Title: "Compare two runs", Domain: op.Experiments,
		Doc:    "Records which of two runs is better per dimension, for rankings. A repeated call of the same evaluator changes the dimensions sent.",
		Method: "POST", Path: "/api/v1/experiments/{collection_h}/comparisons", Permission: library.PermWrite, Idempotent: true,
		Example: map[string]any{"collection_h": exampleExperiment, "item_a": exampleRun, "item_b": exampleOtherRun, "winners": map[string]any{"sharpness": "item_a", "anatomy": "tie"}},
	}, func(ctx context.Context, actor library.Actor, in compareInput) (compareOutput, error) {
		done, err := s.Experiments.Compare(ctx, actor, in.CollectionH, library.RunComparison{A: strings.ToLower(in.A), B: strings.ToLower(in.B), Evaluator: in.evaluator(actor),
			EvaluatorType: library.EvaluatorType(in.EvaluatorType), Winners: in.winners, Notes: in.Notes})
		if err != nil {
			return compareOutput{}, err
		}
		return compareOutput{done.A, done.B, done.Winners, done.Notes, done.Total, op.Undoable{OperationID: done.OperationID}}, nil
	})
}
