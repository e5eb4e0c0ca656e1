package prompts

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type createInput struct {
	op.TenantInput
	Text        string   `json:"prompt_text" minLength:"1" maxLength:"20000" doc:"{{name}} is a variable, {{name|x}} has a default, {{name:integer}} or {{name:enum(a, b)}} a type."`
	Name        string   `json:"name,omitempty" maxLength:"200"`
	Description string   `json:"description,omitempty" maxLength:"5000"`
	TargetModel string   `json:"target_model,omitempty" maxLength:"200"`
	Category    string   `json:"category,omitempty" maxLength:"100"`
	Tags        []string `json:"tags,omitempty" maxItems:"50" maxLength:"100"`
	Labels      []string `json:"labels,omitempty" maxItems:"20" maxLength:"50" doc:"Such as production. They point at the first version."`
	Message     string   `json:"message,omitempty" maxLength:"1000" tool:"plain" doc:"About this version."`

	labels []string
}

// Validate implements op.Validator.
func (in *createInput) Validate() (errs []library.FieldError) {
	in.labels, errs = labels("labels", in.Labels)
	return append(append(checkText(in.Text), tagErrors(in.Tags)...), errs...)
}

type createOutput struct {
	Prompt
	Version
	Exists    bool       `json:"already_exists" doc:"A version of this prompt has the text. Nothing was written."`
	Variables []Variable `json:"variables"`
	Warnings  []string   `json:"warnings,omitempty"`
	op.Undoable
}

func (s *Service) createPrompt() op.Operation {
	return op.Define(op.Meta{
		Name: "CreatePrompt", Title: "Save a prompt", Domain: op.Prompts,
		Doc: "Saves a prompt or template as version 1. If a version has the same text, returns its prompt with already_exists.",
		More: "Images whose prompt is a render of the text are linked to the version, those that are stored already in the background. " +
			"Three braces are no variable, because some tools stress words by braces; \\{{ stands for two braces as text. An empty default, {{name|}}, makes a variable optional.",
		Method: "POST", Path: "/api/v1/prompts", Permission: library.PermWrite, Idempotent: true, Creates: "/api/v1/prompts/{prompt_h}", Chained: true,
		Example: map[string]any{"prompt_text": exampleText, "name": "Studio portrait", "category": "portrait", "labels": []string{"production"}},
	}, func(ctx context.Context, actor library.Actor, in createInput) (createOutput, error) {
		done, err := s.Store.Prompts.Create(ctx, actor, store.NewPrompt{Text: in.Text, Message: in.Message, Labels: in.labels,
			Prompt: library.Prompt{Name: in.Name, Description: in.Description, Category: in.Category, TargetModel: in.TargetModel, Tags: in.Tags}})
		if err != nil {
			return createOutput{}, err
		}
		out := createOutput{Prompt: describe(done.Prompt), Version: describeVersion(done.Version), Exists: !done.Created, Undoable: op.Undoable{OperationID: done.OperationID}}
		out.Variables, out.Warnings = variablesOf(done.Version.Text)
		return out, nil
	})
}
