package pipelines

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

type explainInput struct {
	op.TenantInput
	Stages []map[string]any `json:"stages,omitempty" maxItems:"50" doc:"As in ExecutePipeline."`
	Text   string           `json:"text,omitempty" maxLength:"65536" doc:"Or the text form."`
	Vars   map[string]any   `json:"vars,omitempty" doc:"Values of {{vars.NAME}}."`
}

// Validate implements op.Validator.
func (in *explainInput) Validate() []library.FieldError {
	if (len(in.Stages) == 0) == (in.Text == "") {
		return []library.FieldError{{Field: "text", Code: "required", Message: "Send either stages or text."}}
	}
	return op.CheckObject("vars", in.Vars, op.SmallObject)
}

type explainOutput struct {
	Stages []library.PipelineStage `json:"stages" doc:"The stages as they are run."`
	Text   string                  `json:"text" doc:"The same in the text form."`
	Plan   []pipeline.PlanStep     `json:"plan" doc:"What is done for each stage and where: in the search index, or over rows of the database."`
	Vars   []string                `json:"vars" doc:"The names of the variables that the stages use."`
}

func (s *Service) explainPipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "ExplainPipeline", Title: "Explain a pipeline", Domain: op.Pipelines,
		Doc:    "Checks stages without running them, converts them between JSON and the text form, and returns how they would be run.",
		Method: "POST", Path: "/api/v1/pipelines/explain", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true, OneOf: []string{"stages", "text"},
		Example: map[string]any{"text": `search fox | where steps > 30 | sort created desc | limit 50 | count group_by=status`},
	}, func(ctx context.Context, actor library.Actor, in explainInput) (out explainOutput, err error) {
		stages := stagesOf(in.Stages)
		if in.Text != "" {
			if stages, err = pipeline.ParseText(in.Text); err != nil {
				return out, err
			}
		}
		out.Vars = append([]string{}, pipeline.UsedVars(stages)...)
		if stages, err = pipeline.Fill("vars", stages, nil, in.Vars, false); err != nil {
			return out, err
		}
		out.Stages, out.Plan, err = s.Engine.Explain(ctx, actor, stages)
		out.Text = pipeline.Text(stages)
		return out, err
	})
}
