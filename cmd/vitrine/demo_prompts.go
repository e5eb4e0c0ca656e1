package main

import (
	"context"

	"vitrine/api/client"
)

// demoPrompt is a prompt of the demo: its versions, the oldest first, with what is said of
// each.
type demoPrompt struct {
	create   client.CreatePromptInput
	versions []client.UpdatePromptInput
	scores   []client.PromptEvaluation // of the newest version
}

// demoPrompts are templates of the sample library's own prompts, so that they have images,
// and one that shows what variables can be.
var demoPrompts = []demoPrompt{
	{
		create: client.CreatePromptInput{Name: "Subject in tones", Category: "scenes", TargetModel: "sdxl", Tags: []string{"sample", "light"}, Labels: []string{"draft"}, Message: "First try.",
			Description: "One scene in two sentences: what is to be seen, then its light.", PromptText: "{{scene}}. Think {{subject}} with {{color}} light; {{mood}}."},
		versions: []client.UpdatePromptInput{{PromptText: new("{{scene}}. {{subject}} in {{color}} tones, with {{mood}}."), Message: "Tones work better than light.", Labels: []string{"production"}}},
		scores: []client.PromptEvaluation{
			{Scores: map[string]float64{"adherence": 4, "light": 5}, Comments: "Colors are right nearly always."},
			{Scores: map[string]float64{"adherence": 3, "light": 4}, EvaluatorType: "vlm_assisted"},
		},
	},
	{
		create: client.CreatePromptInput{Name: "Studio portrait", Category: "portrait", TargetModel: "flux", Tags: []string{"people"}, Labels: []string{"production"},
			Description: "Defaults, a type and options: try RenderPrompt.", PromptText: "a {{mood|calm}} portrait of {{subject}}, {{age:integer|40}} years old, {{light:enum(soft, hard)|soft}} studio light"},
		versions: []client.UpdatePromptInput{{PromptText: new("a {{mood|calm}} portrait of {{subject}}, {{age:integer|40}} years old, {{light:enum(soft, hard)|soft}} studio light, {{lens|85mm}}"),
			Message: "Say the lens.", Labels: []string{"staging"}}},
	},
}

// demoSavePrompts saves the prompts. What an earlier run saved is left as it is.
func demoSavePrompts(ctx context.Context, api *client.Client) error {
	for _, p := range demoPrompts {
		made, err := api.CreatePrompt(ctx, p.create)
		if err != nil {
			return err
		}
		if made.AlreadyExists {
			continue
		}
		for _, v := range p.versions {
			v.PromptH = made.PromptH
			if _, err := api.UpdatePrompt(ctx, v); err != nil {
				return err
			}
		}
		for _, e := range p.scores {
			if _, err := api.UpdatePrompt(ctx, client.UpdatePromptInput{PromptH: made.PromptH, Evaluation: &e}); err != nil {
				return err
			}
		}
	}
	return nil
}
