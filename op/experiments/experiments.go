// Package experiments holds the operations on experiments: collections whose assets are runs
// that are scored, compared and ranked. One file per operation; the numbers of a summary are
// made in package stats.
package experiments

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Experiments *store.Experiments
	Links       assets.Links
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.createExperiment(), s.updateExperiment(), s.registerRun(), s.scoreRun(), s.compareRuns(), s.getExperimentSummary(), s.listExperiments(), s.getExperimentGrid()}
}

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	list := op.ChangeEvents("experiment", "An experiment", exampleExperiment, []string{"hypothesis"}, "created", "updated", "deleted")
	run := exampleAsset + "/" + exampleExperiment
	for _, e := range []struct{ name, doc, noun, id string }{
		{"experiment.run_registered", "An asset was made a run of an experiment.", "experiment_run", run},
		{"experiment.run_changed", "What was said of a run was changed.", "experiment_run", run},
		{"experiment.run_removed", "A run was taken back.", "experiment_run", run},
		{"experiment.run_scored", "An evaluator scored a run, or changed the scores.", "run_score", run + "/key_7f3a"},
		{"experiment.score_removed", "The scores of an evaluator were taken back.", "run_score", run + "/key_7f3a"},
		{"experiment.runs_compared", "An evaluator compared two runs, or changed the comparison.", "run_comparison", exampleComparison},
		{"experiment.comparison_removed", "A comparison was taken back.", "run_comparison", exampleComparison},
	} {
		list = append(list, op.DefineEvent(e.name, e.doc, library.ChangeEvent{Noun: e.noun, ID: e.id, Changed: []string{}, Cause: op.ExampleCause}))
	}
	return list
}

// What stands for an experiment, an asset, runs and a comparison in examples.
const (
	exampleExperiment = "7a0d5e3b1c2f4a6980b1c2d3e4f5061728394a5b"
	exampleAsset      = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
	exampleRun        = "1f2e3d4c5b6a798897a6b5c4d3e2f10918273645"
	exampleOtherRun   = "2f2e3d4c5b6a798897a6b5c4d3e2f10918273645"
	exampleComparison = exampleExperiment + "/" + exampleRun + "/" + exampleOtherRun + "/key_7f3a"
)

// InExperiment is embedded by inputs that name an experiment.
type InExperiment struct {
	CollectionH string `json:"collection_h" id:"experiment" minLength:"1" maxLength:"600" doc:"Or its path."`
}

// The limits of what one call says.
const (
	maxDimensions = 20
	maxDimension  = 50 // characters of a name
)

// dimensions returns the members of an argument by the names of their dimensions: lower
// case, without blanks around. Names that are none are errors.
func dimensions[T any](field string, sent map[string]T) (map[string]T, []library.FieldError) {
	out := make(map[string]T, len(sent))
	var errs []library.FieldError
	if len(sent) > maxDimensions {
		errs = append(errs, library.FieldError{Field: field, Code: "length", Message: fmt.Sprintf("Expected at most %d dimensions.", maxDimensions)})
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		folded := strings.ToLower(strings.Join(strings.Fields(name), " "))
		if _, twice := out[folded]; twice || folded == "" || utf8.RuneCountInString(folded) > maxDimension {
			errs = append(errs, library.FieldError{Field: field, Code: "format", Message: "Names of dimensions have 1 to 50 characters and differ by more than case."})
			continue
		}
		out[folded] = sent[name]
	}
	return out, errs
}

// Evaluation is embedded by inputs that say who judges.
type Evaluation struct {
	Evaluator     string `json:"evaluator,omitempty" maxLength:"100" doc:"Who judges. Default: your key id."`
	EvaluatorType string `json:"evaluator_type,omitempty" enum:"human,vlm_assisted,embedding_similarity" default:"human"`
}

func (e Evaluation) evaluator(actor library.Actor) string {
	if name := strings.TrimSpace(e.Evaluator); name != "" {
		return name
	}
	return actor.ID
}

// Question is embedded by inputs that say what an experiment asks: of a new one as texts, of
// a change as pointers, of which nil leaves the field as it is.
type Question[T string | *string] struct {
	Hypothesis          T              `json:"hypothesis,omitempty" maxLength:"2000"`
	IndependentVariable T              `json:"independent_variable,omitempty" maxLength:"100" doc:"What differs between conditions, such as cfg, sampler, model, or a key of run_params."`
	ControlVariable     T              `json:"control_variable,omitempty" maxLength:"200"`
	ModelName           T              `json:"model_name,omitempty" maxLength:"300" doc:"Of runs that name none."`
	WorkflowName        T              `json:"workflow_name,omitempty" maxLength:"300"`
	Resolution          T              `json:"resolution,omitempty" maxLength:"50"`
	DomainContext       map[string]any `json:"domain_context,omitempty"`
}

// questionFields are the names of its members.
var questionFields = []string{"hypothesis", "independent_variable", "control_variable", "model_name", "workflow_name", "resolution", "domain_context"}

func (q *Question[T]) check() []library.FieldError {
	return op.CheckObject("domain_context", q.DomainContext, op.SmallObject)
}

// apply sets the fields that were sent.
func (q *Question[T]) apply(e *library.Experiment) {
	for _, f := range []struct {
		to   *string
		sent any
	}{{&e.Hypothesis, q.Hypothesis}, {&e.IndependentVariable, q.IndependentVariable}, {&e.ControlVariable, q.ControlVariable},
		{&e.ModelName, q.ModelName}, {&e.WorkflowName, q.WorkflowName}, {&e.Resolution, q.Resolution}} {
		switch sent := f.sent.(type) {
		case string:
			*f.to = sent
		case *string:
			if sent != nil {
				*f.to = *sent
			}
		}
	}
	if q.DomainContext != nil {
		e.DomainContext = q.DomainContext
	}
}

// Experiment is an experiment as it is shown. Outputs embed it.
type Experiment struct {
	CollectionH         library.CollectionHash `json:"collection_h"`
	Path                string                 `json:"path"`
	DisplayName         string                 `json:"display_name"`
	Description         string                 `json:"description,omitempty"`
	Hypothesis          string                 `json:"hypothesis,omitempty"`
	IndependentVariable string                 `json:"independent_variable,omitempty"`
	ControlVariable     string                 `json:"control_variable,omitempty"`
	ModelName           string                 `json:"model_name,omitempty"`
	WorkflowName        string                 `json:"workflow_name,omitempty"`
	Resolution          string                 `json:"resolution,omitempty"`
	DomainContext       map[string]any         `json:"domain_context,omitempty"`
	revision            int64
}

// ResourceVersion implements op.Versioned.
func (e Experiment) ResourceVersion() int64 { return e.revision }

func describe(e library.Experiment) Experiment {
	return Experiment{CollectionH: e.Hash, Path: e.Path, DisplayName: e.DisplayName, Description: e.Description, Hypothesis: e.Hypothesis, IndependentVariable: e.IndependentVariable,
		ControlVariable: e.ControlVariable, ModelName: e.ModelName, WorkflowName: e.WorkflowName, Resolution: e.Resolution, DomainContext: e.DomainContext, revision: e.Revision}
}
