package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// The types of the events of runs. Dry runs emit none.
const (
	EventPipelineStarted   = "pipeline.started"
	EventPipelineCompleted = "pipeline.completed"
	EventPipelineFailed    = "pipeline.failed"   // also timed out or cancelled
	EventPipelineNotified  = "pipeline.notified" // by a notify stage
	// EventPipelineExport is emitted when the zip of an export stage is there, or cannot be made. The
	// run may have ended long before.
	EventPipelineExport = "pipeline.export.completed"
)

// emitRun emits an event of a run.
func (t *Tx) emitRun(ctx context.Context, kind string, r library.PipelineRun) error {
	return t.Emit(ctx, library.Event{Type: kind, Key: "pipeline_run/" + r.ID, Payload: runEvent(r)})
}

// runEvent is what the events of a run say.
func runEvent(r library.PipelineRun) library.PipelineEvent {
	e := library.PipelineEvent{RunID: r.ID, Pipeline: r.Pipeline, Version: r.Version, Name: r.Name, DryRun: r.DryRun, State: string(r.State),
		Trigger: r.Trigger, CausationDepth: r.Depth, OperationID: r.OperationID, Exports: append([]library.PipelineExport{}, r.Progress.Exports...),
		Counts: library.PipelineCounts{Selected: r.Progress.Assets, Changed: r.Progress.Changed, Failed: r.Progress.Failed}}
	started := r.StartedAt
	if started.IsZero() {
		started = r.CreatedAt
	}
	e.StartedAt = started.UTC().Format(time.RFC3339Nano)
	if !r.FinishedAt.IsZero() {
		e.DurationMS = r.FinishedAt.Sub(started).Milliseconds()
	}
	if r.Progress.Error != nil {
		e.ErrorCode = r.Progress.Error.Code
	}
	return e
}

// emitEnd emits the event of a run that ended.
func (t *Tx) emitEnd(ctx context.Context, c *RunClaim) error {
	switch {
	case c.DryRun:
		return nil
	case c.State == library.RunCompleted:
		return t.emitRun(ctx, EventPipelineCompleted, c.PipelineRun)
	}
	return t.emitRun(ctx, EventPipelineFailed, c.PipelineRun)
}

// Notify emits the event of a notify stage: kind is EventPipelineNotified, or an event of a
// run's end that receivers subscribe to already.
func (t *Tx) Notify(ctx context.Context, kind string, r library.PipelineRun, data map[string]any, webhooks []string) error {
	e := runEvent(r)
	e.Data, e.WebhookIDs = data, webhooks
	return t.Emit(ctx, library.Event{Type: kind, Key: "pipeline_run/" + r.ID, Payload: e})
}

// refuseRunning refuses to undo what a run does while it still does it.
func (t *Tx) refuseRunning(ctx context.Context, operation string) error {
	var run string
	err := t.QueryRow(ctx, `SELECT coalesce(min(run_id), '') FROM pipeline_runs WHERE tenant_id = $1 AND operation_id = $2 AND state IN ('queued', 'running')`,
		t.tenant(), operation).Scan(&run)
	if err == nil && run != "" {
		err = library.NewError(library.KindConflict, library.CodeConflict, "The pipeline run %s is still changing assets. Cancel it or wait until it ends, then undo it.", run)
	}
	return err
}

// ExportLinks is how long links to the zip of an export are made after it was written.
const ExportLinks = 12 * time.Hour

// emitRunExport emits the event of a finished export that a run began.
func (t *Tx) emitRunExport(ctx context.Context, e library.Export) error {
	payload := library.PipelineExportEvent{RunID: e.Run, ExportID: e.ID, Preset: e.Spec.Preset, State: string(e.State), Files: e.Files, Failed: len(e.Failed), Bytes: e.Bytes,
		ExpiresAt: time.Now().Add(ExportLinks).UTC().Format(time.RFC3339)}
	err := t.QueryRow(ctx, `SELECT coalesce(pipeline_definition_h, ''), name, rule_id FROM pipeline_runs WHERE tenant_id = $1 AND run_id = $2`, t.tenant(), e.Run).
		Scan(&payload.Pipeline, &payload.Name, &payload.RuleID)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // the run's row may have expired
		return err
	}
	return t.Emit(ctx, library.Event{Type: EventPipelineExport, Key: "pipeline_run/" + e.Run, Payload: payload})
}
