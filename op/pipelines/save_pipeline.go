package pipelines

import (
	"context"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

type saveInput struct {
	op.TenantInput
	PipelineH string           `json:"pipeline_definition_h,omitempty" id:"pipeline" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"40 hex digits" doc:"Of the pipeline to change; a new version is kept. Absent: a new pipeline."`
	Name      string           `json:"name" minLength:"1" maxLength:"200"`
	Stages    []map[string]any `json:"stages" minItems:"1" maxItems:"50" doc:"As in ExecutePipeline; {{vars.NAME}} in texts."`
	Descr     string           `json:"description,omitempty" maxLength:"5000"`
	DryRun    bool             `json:"default_dry_run,omitempty"`
	TimeoutMS int              `json:"default_timeout_ms,omitempty" minimum:"1000" maximum:"60000" default:"30000"`
	Tags      []string         `json:"tags,omitempty" maxItems:"50"`
	Vars      map[string]any   `json:"vars,omitempty" doc:"NAME: {type: string|number|boolean|list, default}."`
	Template  bool             `json:"template,omitempty" tool:"-" doc:"Offers it for cloning."`

	pipeline library.Pipeline
}

// Validate implements op.Validator.
func (in *saveInput) Validate() []library.FieldError {
	p := &in.pipeline
	*p = library.Pipeline{Hash: library.PipelineHash(strings.ToLower(in.PipelineH)), Name: strings.Join(strings.Fields(in.Name), " "), Description: in.Descr, Stages: stagesOf(in.Stages),
		Tags: library.MergeTags(nil, in.Tags), DryRun: in.DryRun, Timeout: time.Duration(in.TimeoutMS) * time.Millisecond, Template: in.Template}
	var errs []library.FieldError
	if library.PipelineSlug(p.Name) == "" {
		errs = append(errs, library.FieldError{Field: "name", Code: "format", Message: "A name has at least one letter or digit."})
	}
	for _, t := range p.Tags {
		if len([]rune(t)) > library.MaxTag {
			errs = append(errs, library.FieldError{Field: "tags", Code: "length", Message: "A tag has at most 100 characters."})
		}
	}
	errs = append(errs, op.CheckObject("vars", in.Vars, op.SmallObject)...)
	vars, wrong := varsOf("vars", in.Vars)
	p.Vars = vars
	return append(errs, append(wrong, pipeline.CheckSaved(p)...)...)
}

// SavedPipeline is a saved pipeline as it is shown. Outputs embed it.
type SavedPipeline struct {
	PipelineH   library.PipelineHash           `json:"pipeline_definition_h"`
	Name        string                         `json:"name"`
	Slug        string                         `json:"slug"`
	Version     int                            `json:"version"`
	Description string                         `json:"description,omitempty"`
	StageCount  int                            `json:"stage_count"`
	Text        string                         `json:"text,omitempty" doc:"The stages in the text form."`
	Vars        map[string]library.PipelineVar `json:"vars,omitempty"`
	Tags        []string                       `json:"tags"`
	DryRun      bool                           `json:"default_dry_run"`
	TimeoutMS   int64                          `json:"default_timeout_ms"`
	Template    bool                           `json:"template,omitempty"`
	UpdatedAt   string                         `json:"updated_at,omitempty"`
	UpdatedBy   string                         `json:"updated_by,omitempty" doc:"The author of this version."`
}

func describePipeline(p library.Pipeline) SavedPipeline {
	out := SavedPipeline{PipelineH: p.Hash, Name: p.Name, Slug: p.Slug, Version: p.Version, Description: p.Description, StageCount: len(p.Stages), Text: pipeline.Text(p.Stages), Vars: p.Vars,
		Tags: append([]string{}, p.Tags...), DryRun: p.DryRun, TimeoutMS: p.Timeout.Milliseconds(), Template: p.Template, UpdatedBy: p.UpdatedBy}
	if !p.UpdatedAt.IsZero() {
		out.UpdatedAt = stamp(p.UpdatedAt)
	}
	return out
}

type saveOutput struct {
	SavedPipeline
	Created bool `json:"created"`
	op.Undoable
}

func (s *Service) savePipeline() op.Operation {
	return op.Define(op.Meta{
		Name: "SavePipeline", Title: "Save a pipeline", Domain: op.Pipelines,
		Doc:    "Saves stages under a name, or a new version of a saved pipeline. Nothing is run.",
		Method: "POST", Path: "/api/v1/pipelines", Permission: library.PermWrite, Creates: "/api/v1/pipelines/{pipeline_definition_h}", Chained: true,
		Example: map[string]any{"name": "Tag long renders", "stages": []any{map[string]any{"type": "search", "config": map[string]any{"query": "{{vars.query}}"}},
			map[string]any{"type": "where", "config": map[string]any{"field": "steps", "operator": "gt", "value": 30}}, map[string]any{"type": "set_tag", "config": map[string]any{"tags": []any{"long"}}}},
			"vars": map[string]any{"query": map[string]any{"type": "string", "default": "fox"}}, "default_dry_run": true},
	}, func(ctx context.Context, actor library.Actor, in saveInput) (saveOutput, error) {
		p, id, err := s.Store.Pipelines.Save(ctx, actor, in.pipeline)
		return saveOutput{describePipeline(p), in.pipeline.Hash == "", op.Undoable{OperationID: id}}, err
	})
}
