// Package pipelines holds the operations on pipelines: they are run, saved, cloned from
// templates, and their runs followed, compared and cancelled; and the six tools that run one
// stage. What stages do is in package pipeline.
package pipelines

import (
	"fmt"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store  *store.Store
	Engine *pipeline.Engine
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return append([]op.Operation{s.executePipeline(), s.savePipeline(), s.listPipelines(), s.runSavedPipeline(), s.listTemplates(), s.getPipelineRun(),
		s.cloneTemplate(), s.getPipeline(), s.deletePipeline(), s.cancelRun(), s.diffRuns(), s.explainPipeline()}, s.stageTools()...)
}

// Resources lists this package's resources.
func (s *Service) Resources() []op.Resource { return []op.Resource{s.templatesResource()} }

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	example := library.PipelineEvent{RunID: exampleRun, Pipeline: examplePipeline, Version: 3, Name: "Weekly client deck", State: "completed", StartedAt: "2026-03-02T09:00:00Z", DurationMS: 5120,
		Trigger: library.RunTrigger{Type: "schedule", RuleID: "rule_7f3a"}, Counts: library.PipelineCounts{Selected: 50, Changed: 50},
		OperationID: op.ExampleCause.OperationID, Exports: []library.PipelineExport{}}
	list := op.ChangeEvents("pipeline", "A saved pipeline", examplePipeline, []string{"stages"}, "created", "updated", "trashed", "restored")
	for _, e := range []struct{ name, doc, state string }{
		{store.EventPipelineStarted, "A run of a pipeline was started. Dry runs emit no event.", "queued"},
		{store.EventPipelineCompleted, "A run of a pipeline completed.", "completed"},
		{store.EventPipelineFailed, "A run of a pipeline failed, timed out or was cancelled.", "failed"},
		{store.EventPipelineNotified, "A notify stage of a run told of it.", "running"},
	} {
		payload := example
		payload.State = e.state
		list = append(list, op.DefineEvent(e.name, e.doc, payload))
	}
	return append(list, op.DefineEvent(store.EventPipelineExport, "The zip of an export stage is there, or no file could be exported.",
		library.PipelineExportEvent{RunID: exampleRun, Pipeline: examplePipeline, Name: "Weekly client deck", RuleID: "rule_7f3a", ExportID: exampleExport, Preset: library.ExportClient,
			State: "completed", Files: 50, Bytes: 73400320, ExpiresAt: "2026-03-02T21:00:12Z"}))
}

// What stands for a pipeline, a run and an asset in examples.
const (
	examplePipeline = "5c1e8a7b2d3f4a6980b1c2d3e4f5061728394a5b"
	exampleRun      = "019a7e3c-5d2f-7b61-9c40-2f1f6b0c8e22"
	exampleExport   = "01980000-0000-7000-8000-000000000001"
	exampleAsset    = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
)

// Trace is what a run did. Outputs embed it.
type Trace struct {
	RunID        string                   `json:"run_id" doc:"Pass to GetPipelineRun."`
	State        string                   `json:"state" doc:"queued and running: the run goes on; follow it with GetPipelineRun. completed, failed, timed_out and cancelled are final."`
	DryRun       bool                     `json:"dry_run"`
	PipelineH    library.PipelineHash     `json:"pipeline_definition_h,omitempty"`
	PipelineName string                   `json:"pipeline_name,omitempty"`
	Version      int                      `json:"version,omitempty" doc:"Of the saved pipeline."`
	CreatedAt    string                   `json:"created_at"`
	DurationMS   int64                    `json:"duration_ms"`
	Trigger      library.RunTrigger       `json:"trigger"`
	StartedBy    string                   `json:"started_by" doc:"The actor's id."`
	Stages       []library.StageTrace     `json:"stages"`
	AssetCount   int64                    `json:"asset_count" doc:"Assets of the last set."`
	ChangedCount int64                    `json:"changed_count" doc:"Effects; of a dry run, those that it would have."`
	FailedCount  int64                    `json:"failed_count,omitempty" doc:"Assets that on_error: skip left out."`
	Exports      []library.PipelineExport `json:"exports,omitempty" doc:"Exports that its stages began."`
	SinceDryRun  *library.DryRunChange    `json:"changed_since_dry_run" required:"true" nullable:"true" doc:"How the assets that the run selected differ from those of your last dry run of the same stages within the hour before; null: none, or the run goes on."`
	Error        *library.StageError      `json:"error,omitempty" doc:"Why the run ended early. What its stages did before stays."`
	op.Undoable
}

func describe(r library.PipelineRun) Trace {
	t := Trace{RunID: r.ID, State: string(r.State), DryRun: r.DryRun, PipelineH: r.Pipeline, PipelineName: r.Name, Version: r.Version, CreatedAt: stamp(r.CreatedAt), Trigger: r.Trigger,
		StartedBy: r.Actor.ID, Stages: append([]library.StageTrace{}, r.Progress.Stages...), AssetCount: r.Progress.Assets, ChangedCount: r.Progress.Changed, FailedCount: r.Progress.Failed, Exports: r.Progress.Exports, SinceDryRun: r.Progress.SinceDryRun, Error: r.Progress.Error}
	if !r.DryRun && r.Progress.Changed > 0 {
		t.OperationID = r.OperationID
	}
	switch {
	case !r.FinishedAt.IsZero():
		t.DurationMS = r.FinishedAt.Sub(r.CreatedAt).Milliseconds()
	case !r.CreatedAt.IsZero():
		t.DurationMS = time.Since(r.CreatedAt).Milliseconds()
	}
	return t
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// stagesOf reads the stages of a request.
func stagesOf(list []map[string]any) []library.PipelineStage {
	stages := make([]library.PipelineStage, len(list))
	for i, object := range list {
		stages[i] = pipeline.StageFrom(object)
	}
	return stages
}

// varsOf reads the declarations of variables of a request: {type, default, description}, or
// the default alone.
func varsOf(at string, objects map[string]any) (map[string]library.PipelineVar, []library.FieldError) {
	vars := map[string]library.PipelineVar{}
	var errs []library.FieldError
	for name, v := range objects {
		m, ok := v.(map[string]any)
		if !ok {
			vars[name] = library.PipelineVar{Default: v}
			continue
		}
		var d library.PipelineVar
		for key, value := range m {
			text, isText := value.(string)
			switch {
			case key == "type" && isText:
				d.Type = text
			case key == "description" && isText && len(text) <= 1000:
				d.Description = text
			case key == "default":
				d.Default = value
			default:
				errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s.%s", at, name), Code: "unknown", Message: "A variable has type, default and description."})
			}
		}
		vars[name] = d
	}
	return vars, errs
}

// runLimit is how long a call that waits for a run may take.
const runLimit = library.MaxPipelineTimeout + 20*time.Second
