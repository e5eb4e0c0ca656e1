package prompts

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/prompt"
)

type renderInput struct {
	op.TenantInput
	OfVersion
	Variables map[string]any `json:"variables,omitempty" doc:"Values by name. Those with a default may be left out."`
}

// Validate implements op.Validator.
func (in *renderInput) Validate() []library.FieldError {
	return op.CheckObject("variables", in.Variables, op.SmallObject)
}

type renderOutput struct {
	Text    string                    `json:"text" doc:"The prompt with all variables filled in."`
	RenderH string                    `json:"render_h" doc:"Identity of this text of this version."`
	PromptH library.PromptHash        `json:"prompt_h"`
	Version library.PromptVersionHash `json:"version_h"`
	Number  int                       `json:"version"`
	Labels  []string                  `json:"labels"`
	Values  map[string]string         `json:"variables" doc:"The values used, defaults included."`
}

func (s *Service) renderPrompt() op.Operation {
	return op.Define(op.Meta{
		Name: "RenderPrompt", Title: "Render a prompt", Domain: op.Prompts,
		Doc:    "Fills a prompt's variables in and returns the text. An error names all missing, unknown and invalid variables. Images generated with the text are linked to the version.",
		Method: "POST", Path: "/api/v1/prompts/{prompt_h}/render", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"prompt_h": examplePrompt, "variables": map[string]any{"subject": "an old sailor"}},
	}, func(ctx context.Context, actor library.Actor, in renderInput) (renderOutput, error) {
		p, v, err := s.Store.Prompts.Version(ctx, actor, in.hash(), in.version())
		if err != nil {
			return renderOutput{}, err
		}
		t, errs := prompt.Parse(v.Text)
		if len(errs) > 0 {
			return renderOutput{}, library.Invalid(errs...)
		}
		text, values, errs := t.Render(in.Variables)
		if len(errs) > 0 {
			return renderOutput{}, library.Invalid(errs...)
		}
		return renderOutput{Text: text, RenderH: library.NewRenderHash(v.Hash, text), PromptH: p.Hash, Version: v.Hash, Number: v.Number,
			Labels: append([]string{}, v.Labels...), Values: values}, nil
	})
}
