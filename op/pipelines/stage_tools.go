package pipelines

import (
	"context"
	"fmt"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
)

type selectInput struct {
	op.TenantInput
	StageType string         `json:"stage_type" enum:"search,collection,ids,diff"`
	Config    map[string]any `json:"config" doc:"search {query}; collection {path, include_nested}; ids {asset_ids}; diff {set_a, set_b, mode}."`
	DryRun    bool           `json:"dry_run,omitempty"`
}

// StageInput is embedded by the inputs of the tools that take assets: what they have in common.
type StageInput struct {
	op.TenantInput
	Assets []string `json:"assets" minItems:"1" maxItems:"10000" doc:"Hashes of assets."`
	DryRun bool     `json:"dry_run,omitempty"`
}

type filterInput struct {
	StageInput
	StageType string         `json:"stage_type" enum:"where,sort,limit,deduplicate,sample"`
	Config    map[string]any `json:"config,omitempty" doc:"where {field, operator, value}; sort {by, order}; limit {count}; deduplicate {by, keep}; sample {count}."`
}

type transformInput struct {
	StageInput
	StageType string         `json:"stage_type" enum:"set_tag,remove_tag,set_field,regex_replace,compute,set_visibility,set_owner,enrich,approve"`
	Config    map[string]any `json:"config,omitempty" doc:"set_tag, remove_tag {tags}; set_field {field, value}; regex_replace {field, pattern, replacement}; compute {field, expression}; set_visibility {visibility}; set_owner {owner}; enrich {operations}; approve {status}."`
}

type actionInput struct {
	StageInput
	StageType string         `json:"stage_type" enum:"add_to_collection,move,delete,archive"`
	Config    map[string]any `json:"config,omitempty" doc:"add_to_collection {path, create_if_missing}; move {from, to}; delete, archive {confirm: true}."`
}

type outputInput struct {
	StageInput
	StageType string         `json:"stage_type" enum:"export,notify,tee"`
	Config    map[string]any `json:"config,omitempty" doc:"export {preset, confirm: true}; notify {event_type, confirm: true}; tee {action: {type, path}, confirm: true}."`
}

type summarizeInput struct {
	StageInput
	StageType string         `json:"stage_type" enum:"count,group_by,stats,histogram"`
	Config    map[string]any `json:"config,omitempty" doc:"count {group_by}; group_by {field, then}; stats {field}; histogram {field, bins}."`
}

type stageOutput struct {
	RunID  string              `json:"run_id"`
	State  string              `json:"state" doc:"completed, unless the stage failed or takes longer than half a minute; GetPipelineRun follows it."`
	DryRun bool                `json:"dry_run"`
	Stage  library.StageTrace  `json:"stage"`
	Assets []library.AssetHash `json:"assets" doc:"What the stage passes on, at most 10,000; pass them to the next stage."`
	Total  int64               `json:"total" doc:"How many assets it passes on."`
	Error  *library.StageError `json:"error,omitempty"`
	op.Undoable
}

// stageTool is what the six tools differ in.
func stageTool(name, words string, c pipeline.Category, doc string, example map[string]any) op.Meta {
	return op.Meta{Name: name, Title: words, Domain: op.Stages, Doc: doc, Method: "POST", Path: "/api/v1/stages/" + string(c), Permission: library.PermAdmin,
		Destructive: c != pipeline.Select && c != pipeline.Filter && c != pipeline.Summarize, Limit: runLimit, Example: example}
}

func (s *Service) stageTools() []op.Operation {
	assets := []any{exampleAsset}
	return []op.Operation{
		op.Define(stageTool("SelectStage", "Run a select stage", pipeline.Select, "Selects assets as the first stage of a pipeline does.",
			map[string]any{"stage_type": "search", "config": map[string]any{"query": "fox", "limit": 50}}),
			func(ctx context.Context, actor library.Actor, in selectInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, StageInput{DryRun: in.DryRun})
			}),
		op.Define(stageTool("FilterStage", "Run a filter stage", pipeline.Filter, "Filters, sorts or samples assets as a stage of a pipeline does.",
			map[string]any{"stage_type": "where", "assets": assets, "config": map[string]any{"field": "steps", "operator": "gt", "value": 20}}),
			func(ctx context.Context, actor library.Actor, in filterInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, in.StageInput)
			}),
		op.Define(stageTool("TransformStage", "Run a transform stage", pipeline.Transform, "Changes fields of assets as a stage of a pipeline does.",
			map[string]any{"stage_type": "set_tag", "assets": assets, "config": map[string]any{"tags": []any{"best"}}, "dry_run": true}),
			func(ctx context.Context, actor library.Actor, in transformInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, in.StageInput)
			}),
		op.Define(stageTool("ActionStage", "Run an action stage", pipeline.Action, "Puts assets into collections, archives them or moves them to the trash, as a stage of a pipeline does.",
			map[string]any{"stage_type": "add_to_collection", "assets": assets, "config": map[string]any{"path": "shortlist", "create_if_missing": true}, "dry_run": true}),
			func(ctx context.Context, actor library.Actor, in actionInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, in.StageInput)
			}),
		op.Define(stageTool("OutputStage", "Run an output stage", pipeline.Output, "Exports assets or tells others of them, as a stage of a pipeline does. It needs confirm: true; a dry run skips it.",
			map[string]any{"stage_type": "notify", "assets": assets, "config": map[string]any{"event_type": "pipeline.notified", "confirm": true}, "dry_run": true}),
			func(ctx context.Context, actor library.Actor, in outputInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, in.StageInput)
			}),
		op.Define(stageTool("SummarizeStage", "Run a summarize stage", pipeline.Summarize, "Counts and describes assets as a stage of a pipeline does.",
			map[string]any{"stage_type": "group_by", "assets": assets, "config": map[string]any{"field": "status"}}),
			func(ctx context.Context, actor library.Actor, in summarizeInput) (stageOutput, error) {
				return s.stage(ctx, actor, in.StageType, in.Config, in.StageInput)
			}),
	}
}

// stageWait is how long the stage tools wait, in milliseconds.
const stageWait = 30_000

// stage runs one stage over the assets, or without any a stage that selects some.
func (s *Service) stage(ctx context.Context, actor library.Actor, kind string, config map[string]any, in StageInput) (out stageOutput, err error) {
	if wrong := op.CheckObject("config", config, op.LargeObject); wrong != nil {
		return out, library.Invalid(wrong...)
	}
	out.Assets = []library.AssetHash{}
	stages := []library.PipelineStage{{Type: kind, Config: config}}
	if in.Assets != nil {
		list := make([]any, len(in.Assets))
		for i, h := range in.Assets {
			if list[i] = strings.ToLower(h); !library.AssetHash(strings.ToLower(h)).Valid() {
				return out, library.Invalid(library.FieldError{Field: fmt.Sprintf("assets[%d]", i), Code: "pattern", Message: "Expected a SHA-1 of 40 hex digits."})
			}
		}
		stages = append([]library.PipelineStage{{Type: "ids", Config: map[string]any{"asset_ids": list}}}, stages...)
	}
	trace, err := s.run(ctx, actor, pipeline.Request{Stages: stages, DryRun: in.DryRun}, stageWait)
	if err != nil {
		return out, stageError(err, len(stages)-1)
	}
	out.RunID, out.State, out.DryRun, out.Stage, out.Error, out.Undoable = trace.RunID, trace.State, trace.DryRun, trace.Stages[len(stages)-1], trace.Error, trace.Undoable
	out.Assets, out.Total, err = s.Store.PipelineRuns.SetPage(ctx, actor, trace.RunID, library.MaxStageAssets, 0)
	if out.Assets == nil {
		out.Assets = []library.AssetHash{}
	}
	return out, err
}

// stageError names the fields of the one stage as the tool has them: config.tags rather than
// stages[1].config.tags.
func stageError(err error, index int) error {
	known := *library.AsError(err)
	known.Fields = append([]library.FieldError{}, known.Fields...)
	for i := range known.Fields {
		at := strings.TrimPrefix(known.Fields[i].Field, fmt.Sprintf("stages[%d].", index))
		if known.Fields[i].Field = at; at == "type" {
			known.Fields[i].Field = "stage_type"
		}
	}
	if len(known.Fields) == 1 && known.Kind == library.KindInvalid {
		known.Detail = library.Invalid(known.Fields...).Detail
	}
	return &known
}
