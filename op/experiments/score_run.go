package experiments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type scoreInput struct {
	op.TenantInput
	Run    string          `json:"collection_item_h" id:"run" doc:"The run."`
	Scores map[string]int  `json:"scores" doc:"Dimension to 1 (worst) to 5 (best)."`
	Flags  map[string]bool `json:"flags,omitempty"`
	Evaluation
	Comments string `json:"comments,omitempty" maxLength:"2000"`

	scores map[string]int
	flags  map[string]bool
}

// Validate implements op.Validator.
func (in *scoreInput) Validate() []library.FieldError {
	var errs, more []library.FieldError
	in.scores, errs = dimensions("scores", in.Scores)
	in.flags, more = dimensions("flags", in.Flags)
	errs = append(errs, more...)
	if len(in.Scores) == 0 {
		errs = append(errs, library.FieldError{Field: "scores", Code: "required", Message: "Expected at least one dimension with its score."})
	}
	for _, name := range sortedKeys(in.scores) {
		if v := in.scores[name]; v < library.MinScore || v > library.MaxScore {
			errs = append(errs, library.FieldError{Field: "scores." + name, Code: "range", Message: "Scores are whole numbers from 1 to 5."})
		}
	}
	return errs
}

type scoreOutput struct {
	Run           string          `json:"collection_item_h"`
	Evaluator     string          `json:"evaluator"`
	EvaluatorType string          `json:"evaluator_type"`
	Scores        map[string]int  `json:"scores" doc:"Every dimension that this evaluator has scored."`
	Flags         map[string]bool `json:"flags"`
	Comments      string          `json:"comments,omitempty"`
	AnnotationID  string          `json:"annotation_id" doc:"The evaluation annotation."`
	Node          string          `json:"workflow_node_id" doc:"What it is about: the run's sampler node, or the run if its file has no graph."`
	op.Undoable
	op.Indexed
}

func (s *Service) scoreRun() op.Operation {
	return op.Define(op.Meta{
		Name: "ScoreRun", Title: "Score a run", Domain: op.Experiments,
		Doc:    "Scores a run per dimension, and writes an evaluation annotation. A repeated call of the same evaluator changes the dimensions that are sent.",
		Method: "POST", Path: "/api/v1/runs/{collection_item_h}/scores", Permission: library.PermWrite, Idempotent: true,
		Example: map[string]any{"collection_item_h": exampleRun, "scores": map[string]any{"sharpness": 4, "anatomy": 2}, "flags": map[string]any{"extra fingers": true}},
	}, func(ctx context.Context, actor library.Actor, in scoreInput) (scoreOutput, error) {
		done, err := s.Experiments.Score(ctx, actor, library.RunScore{Run: strings.ToLower(in.Run), Evaluator: in.evaluator(actor),
			EvaluatorType: library.EvaluatorType(in.EvaluatorType), Scores: in.scores, Flags: in.flags, Comments: in.Comments}, evaluationText)
		if err != nil {
			return scoreOutput{}, err
		}
		return scoreOutput{Run: done.Run, Evaluator: done.Evaluator, EvaluatorType: string(done.EvaluatorType), Scores: done.Scores, Flags: done.Flags, Comments: done.Comments,
			AnnotationID: done.AnnotationID, Node: done.Target, Undoable: op.Undoable{OperationID: done.OperationID}, Indexed: op.Indexed{IndexToken: done.OperationID}}, nil
	})
}

// evaluationText returns scores as the content of their annotation.
func evaluationText(e library.Experiment, s library.RunScore) (string, error) {
	if len(s.Scores) > maxDimensions || len(s.Flags) > maxDimensions {
		return "", library.Invalid(library.FieldError{Field: "scores", Code: "length", Message: fmt.Sprintf("An evaluator scores at most %d dimensions and %d flags of a run.", maxDimensions, maxDimensions),
			Hint: "Score under names that were used before."})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Experiment string          `json:"experiment"`
		Run        string          `json:"collection_item_h"`
		Evaluator  string          `json:"evaluator"`
		Type       string          `json:"evaluator_type"`
		Scores     map[string]int  `json:"scores"`
		Flags      map[string]bool `json:"flags,omitempty"`
		Comments   string          `json:"comments,omitempty"`
	}{e.Path, s.Run, s.Evaluator, string(s.EvaluatorType), s.Scores, s.Flags, s.Comments})
	return strings.TrimSpace(b.String()), err
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
