package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// dryRunCounts is how long before a run a dry run of the same stages is compared with it.
const dryRunCounts = time.Hour

// noteDryRun notes in the progress of a run how the assets that it selected differ from those of
// the last dry run of the same stages and variables, by the same actor, of the hour before. Runs of
// rules are compared with none: nobody looked at a dry run of them.
func (t *Tx) noteDryRun(ctx context.Context, c *RunClaim) error {
	selected, ok := c.Progress.SelectedSet()
	if !ok || c.DryRun || c.Trigger.Type != "manual" {
		return nil
	}
	dry, err := t.lastDryRun(ctx, c.PipelineRun)
	if err != nil || dry == nil {
		return err
	}
	before, ok := dry.Progress.SelectedSet()
	if !ok {
		return nil
	}
	d := &library.DryRunChange{RunID: dry.ID}
	if err := t.QueryRow(ctx, `SELECT count(*) FILTER (WHERE a.h IS NULL), count(*) FILTER (WHERE b.h IS NULL)
		FROM (SELECT h FROM pipeline_sets s, unnest(s.assets) AS h WHERE s.tenant_id = $1 AND s.run_id = $2 AND s.stage = $3) a
		FULL JOIN (SELECT h FROM pipeline_sets s, unnest(s.assets) AS h WHERE s.tenant_id = $1 AND s.run_id = $4 AND s.stage = $5) b ON a.h = b.h`,
		t.tenant(), dry.ID, before, c.ID, selected).Scan(&d.Added, &d.Removed); err != nil {
		return err
	}
	if d.Added+d.Removed > 0 {
		d.Warning = fmt.Sprintf("The data changed since the dry run: this run selected %d assets that the dry run had not, and %d that the dry run had selected were not selected any more.", d.Added, d.Removed)
	}
	c.Progress.SinceDryRun = d
	return nil
}

// lastDryRun returns the last dry run with which a run is compared, among the last 2,000 runs of
// the tenant; nil when there is none.
func (t *Tx) lastDryRun(ctx context.Context, r library.PipelineRun) (*library.PipelineRun, error) {
	rows, err := t.Query(ctx, `SELECT `+pipelineRunColumns+` FROM (SELECT * FROM pipeline_runs WHERE tenant_id = $1 AND run_id < $2 ORDER BY run_id DESC LIMIT 2000) r
		WHERE dry_run AND state = 'completed' AND actor ->> 'ID' = $3 AND created_at > $4 ORDER BY run_id DESC LIMIT 50`,
		t.tenant(), r.ID, r.Actor.ID, r.CreatedAt.Add(-dryRunCounts))
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanPipelineRun)
	for i := range list {
		if err == nil && library.SameExceptConfirm(list[i].Stages, r.Stages) {
			return &list[i], nil
		}
	}
	return nil, err
}
