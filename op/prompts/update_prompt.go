package prompts

import (
	"context"
	"strings"
	"unicode/utf8"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type updateInput struct {
	op.TenantInput
	OfPrompt
	Text         *string          `json:"prompt_text,omitempty" minLength:"1" maxLength:"20000" doc:"A new version."`
	Message      string           `json:"message,omitempty" maxLength:"1000" tool:"plain" doc:"About the new version."`
	Name         *string          `json:"name,omitempty" maxLength:"200"`
	Description  *string          `json:"description,omitempty" maxLength:"5000"`
	TargetModel  *string          `json:"target_model,omitempty" maxLength:"200"`
	Category     *string          `json:"category,omitempty" maxLength:"100"`
	Tags         *[]string        `json:"tags,omitempty" maxItems:"50" maxLength:"100" tool:"plain" doc:"Replaces all."`
	Version      string           `json:"version,omitempty" maxLength:"50" doc:"What labels and evaluation are about: a number, label or version_h. Default: the new or latest one."`
	Labels       []string         `json:"labels,omitempty" maxItems:"20" maxLength:"50" tool:"plain" doc:"Moved to the version, such as production."`
	RemoveLabels []string         `json:"remove_labels,omitempty" maxItems:"20" maxLength:"50"`
	Evaluation   *evaluationInput `json:"evaluation,omitempty" tool:"open" doc:"{scores: {dimension: 1 to 5}, comments, evaluator_type}."`

	labels, removed []string
}

type evaluationInput struct {
	Scores    map[string]float64 `json:"scores" doc:"1 to 5 per dimension, such as {\"adherence\": 4}."`
	Evaluator string             `json:"evaluator_type,omitempty" enum:"human,vlm_assisted,embedding_similarity" default:"human"`
	Comments  string             `json:"comments,omitempty" maxLength:"5000"`
}

// maxDimensions is how many scores an evaluation has at most.
const maxDimensions = 20

func (in *evaluationInput) check() (errs []library.FieldError) {
	if len(in.Scores) == 0 || len(in.Scores) > maxDimensions {
		errs = append(errs, library.FieldError{Field: "evaluation.scores", Code: "range", Message: "Expected 1 to 20 scores."})
	}
	for dimension, score := range in.Scores {
		if n := utf8.RuneCountInString(strings.TrimSpace(dimension)); n == 0 || n > 64 {
			errs = append(errs, library.FieldError{Field: "evaluation.scores", Code: "length", Message: "The name of a dimension has 1 to 64 characters."})
		}
		if score < 1 || score > 5 {
			errs = append(errs, library.FieldError{Field: "evaluation.scores", Code: "range", Message: "Scores are numbers from 1 to 5."})
			break
		}
	}
	return errs
}

// Validate implements op.Validator.
func (in *updateInput) Validate() (errs []library.FieldError) {
	var more []library.FieldError
	in.labels, errs = labels("labels", in.Labels)
	in.removed, more = labels("remove_labels", in.RemoveLabels)
	errs = append(errs, more...)
	if in.Text != nil {
		errs = append(errs, checkText(*in.Text)...)
		if in.Version != "" {
			errs = append(errs, library.FieldError{Field: "version", Code: "conflict", Message: "With prompt_text, labels and evaluation are about the new version.", Hint: "Leave version out."})
		}
	} else if in.Message != "" {
		errs = append(errs, library.FieldError{Field: "message", Code: "conflict", Message: "A message is about a new version.", Hint: "Send prompt_text with it."})
	}
	if in.Tags != nil {
		errs = append(errs, tagErrors(*in.Tags)...)
	}
	if in.Evaluation != nil {
		errs = append(errs, in.Evaluation.check()...)
	}
	return errs
}

func (in *updateInput) edit() store.PromptEdit {
	e := store.PromptEdit{Message: in.Message, Version: strings.ToLower(strings.TrimSpace(in.Version)), Labels: in.labels, RemoveLabels: in.removed}
	if e.Version == "" {
		e.Version = store.LatestVersion
	}
	if in.Text != nil {
		e.Text = *in.Text
	}
	if in.Name != nil || in.Description != nil || in.TargetModel != nil || in.Category != nil || in.Tags != nil {
		e.Change = in.apply
	}
	if v := in.Evaluation; v != nil {
		e.Evaluation = &library.PromptEvaluation{Scores: v.Scores, Evaluator: v.Evaluator, Comments: v.Comments}
	}
	return e
}

func (in *updateInput) apply(p *library.Prompt) error {
	for _, f := range []struct{ to, sent *string }{{&p.Name, in.Name}, {&p.Description, in.Description}, {&p.TargetModel, in.TargetModel}, {&p.Category, in.Category}} {
		if f.sent != nil {
			*f.to = *f.sent
		}
	}
	if in.Tags != nil {
		p.Tags = *in.Tags
	}
	return nil
}

type updateOutput struct {
	Prompt
	Version
	Added      bool       `json:"version_added" doc:"false: no text was sent, or a version of the prompt has it already."`
	Evaluation string     `json:"evaluation_id,omitempty"`
	Variables  []Variable `json:"variables"`
	Warnings   []string   `json:"warnings,omitempty"`
	op.Undoable
}

func (s *Service) updatePrompt() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdatePrompt", Title: "Change a prompt", Domain: op.Prompts,
		Doc:    "Adds a version to a prompt, changes its fields, moves labels to a version or evaluates it. Versions never change.",
		Method: "PATCH", Path: "/api/v1/prompts/{prompt_h}", Permission: library.PermWrite, Chained: true, Conditional: true,
		AnyOf:   []string{"prompt_text", "name", "description", "target_model", "category", "tags", "labels", "remove_labels", "evaluation"},
		Example: map[string]any{"prompt_h": examplePrompt, "prompt_text": exampleText + ", 85mm", "message": "Longer lens.", "labels": []string{"staging"}},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (updateOutput, error) {
		done, err := s.Store.Prompts.Change(ctx, actor, in.hash(), in.edit())
		if err != nil {
			return updateOutput{}, err
		}
		out := updateOutput{Prompt: describe(done.Prompt), Version: describeVersion(done.Version), Added: done.Created, Evaluation: done.Evaluation,
			Undoable: op.Undoable{OperationID: done.OperationID}}
		out.Variables, out.Warnings = variablesOf(done.Version.Text)
		return out, nil
	})
}
