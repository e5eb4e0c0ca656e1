package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"vitrine/internal/failpoint"
	"vitrine/library"
)

// PipelineRuns keeps the runs of pipelines: how far they are, and the sets of assets that
// their stages pass on.
type PipelineRuns struct{ s *Store }

// RunQueue is the queue of the jobs that run pipelines.
const RunQueue = "runs"

// PipelineJob works on a run of a pipeline until it ends.
type PipelineJob struct {
	Tenant library.TenantID `json:"tenant_id"`
	Run    string           `json:"run_id"`
}

// Kind implements JobArgs.
func (PipelineJob) Kind() string { return "pipeline_run" }

// InsertOpts implements river.JobArgsWithInsertOpts. Who starts a run works on it at once,
// as a rule; so the job comes a little later.
func (PipelineJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: RunQueue, ScheduledAt: time.Now().Add(500 * time.Millisecond)}
}

// resumedRun is the job of a run that stalled. It begins at once: jobs that are scheduled wait until
// River has elected a leader, which takes a while after a kill.
type resumedRun struct{ PipelineJob }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (resumedRun) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: RunQueue} }

const pipelineRunColumns = `run_id, coalesce(pipeline_definition_h, ''), version, name, stages, dry_run, state, tool, trigger_type, rule_id, causation_depth, operation_id,
	request_id, actor, created_at, coalesce(started_at, '0001-01-01'), coalesce(finished_at, '0001-01-01'), progress`

func scanPipelineRun(row pgx.CollectableRow) (r library.PipelineRun, err error) {
	err = row.Scan(&r.ID, &r.Pipeline, &r.Version, &r.Name, &r.Stages, &r.DryRun, &r.State, &r.Tool, &r.Trigger.Type, &r.Trigger.RuleID, &r.Depth, &r.OperationID,
		&r.RequestID, &r.Actor, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.Progress)
	return r, err
}

// Create keeps a new run and enqueues the job that works on it. It fills in the ids.
func (ps *PipelineRuns) Create(ctx context.Context, r *library.PipelineRun) error {
	_, err := ps.s.Write(ctx, r.Actor, func(t *Tx) error { return t.CreateRun(ctx, r) })
	return err
}

// runTimeSQL is how long a run of the tenant $1 may take, as an interval. $16 are the seconds where
// no limit was set for it.
const runTimeSQL = `(SELECT CASE WHEN seconds < 0 THEN interval '100 years' ELSE seconds * interval '1 second' END
	FROM (SELECT coalesce((SELECT run_seconds FROM tenant_limits WHERE tenant_id = $1), $16::bigint) AS seconds) l)`

// CreateRun is PipelineRuns.Create as a part of a larger write.
func (t *Tx) CreateRun(ctx context.Context, r *library.PipelineRun) error {
	r.ID, r.OperationID, r.State, r.CreatedAt = newID(), newID(), library.RunQueued, time.Now()
	r.Trigger.Type = cmp.Or(r.Trigger.Type, "manual")
	stages, err := jsonb(r.Stages)
	if err != nil {
		return err
	}
	progress, err := jsonb(r.Progress)
	if err != nil {
		return err
	}
	actor, err := jsonb(r.Actor)
	if err != nil {
		return err
	}
	if _, err := t.Exec(ctx, `INSERT INTO pipeline_runs (tenant_id, run_id, pipeline_definition_h, version, name, stages, dry_run, state, tool, trigger_type, rule_id,
			causation_depth, operation_id, request_id, actor, deadline_at, progress)
		VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, now() + `+runTimeSQL+`, $17)`,
		t.tenant(), r.ID, r.Pipeline, r.Version, r.Name, string(stages), r.DryRun, r.State, r.Tool, r.Trigger.Type, r.Trigger.RuleID,
		r.Depth, r.OperationID, r.RequestID, string(actor), int64(library.DefaultLimits.RunTime/time.Second), string(progress)); err != nil {
		return err
	}
	if r.Depth > 0 || !r.DryRun {
		if err := t.emitRun(ctx, EventPipelineStarted, *r); err != nil {
			return err
		}
	}
	return t.Enqueue(ctx, PipelineJob{t.tenant(), r.ID})
}

// RunFilter narrows a list of runs; zero values do not.
type RunFilter struct {
	Pipeline library.PipelineHash
	RuleID   string
	State    library.RunState
	Before   string // only runs that were created before this one
	Limit    int
}

// List returns runs, the newest first.
func (ps *PipelineRuns) List(ctx context.Context, tenant library.TenantID, f RunFilter) (list []library.PipelineRun, err error) {
	err = ps.s.readTenant(ctx, tenant, `SELECT `+pipelineRunColumns+` FROM pipeline_runs
		WHERE tenant_id = $1 AND ($2 = '' OR pipeline_definition_h = $2) AND ($3 = '' OR rule_id = $3) AND ($4 = '' OR state = $4) AND ($5 = '' OR run_id < $5)
		ORDER BY run_id DESC LIMIT $6`, []any{tenant, f.Pipeline, f.RuleID, f.State, f.Before, f.Limit}, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, scanPipelineRun)
		return err
	})
	return list, err
}

// Get returns one run; a not-found error when there is none.
func (ps *PipelineRuns) Get(ctx context.Context, tenant library.TenantID, id string) (r library.PipelineRun, err error) {
	err = ps.s.readTenant(ctx, tenant, `SELECT `+pipelineRunColumns+` FROM pipeline_runs WHERE tenant_id = $1 AND run_id = $2`, []any{tenant, id}, func(rows pgx.Rows) (err error) {
		r, err = pgx.CollectExactlyOneRow(rows, scanPipelineRun)
		return runError(err)
	})
	return r, err
}

func runError(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return library.NotFound("pipeline run")
	}
	return err
}

// Cancel has a run stop before its next part. What it has done stays. A run that
// ended is returned as it is.
func (ps *PipelineRuns) Cancel(ctx context.Context, actor library.Actor, id string) (r library.PipelineRun, err error) {
	_, err = ps.s.Write(ctx, actor, func(t *Tx) error {
		rows, err := t.Query(ctx, `UPDATE pipeline_runs SET cancel_requested = state IN ('queued', 'running') WHERE tenant_id = $1 AND run_id = $2 RETURNING `+pipelineRunColumns, t.tenant(), id)
		if err != nil {
			return err
		}
		if r, err = pgx.CollectExactlyOneRow(rows, scanPipelineRun); err != nil {
			return runError(err)
		}
		if r.State.Ended() {
			return nil
		}
		return t.Audit(ctx, "pipeline_run.cancel_requested", id, nil)
	})
	return r, err
}

// ErrClaimed is the error of a run on which somebody else works.
var ErrClaimed = errors.New("another process works on this run")

// RunClaim is a run on which this process alone works.
type RunClaim struct {
	library.PipelineRun
	Cancelled bool      // somebody asked for it to stop
	Deadline  time.Time // it is timed out from then on
	claim     int64
}

// claimFor is how long a claim holds that is not renewed; every part of a run renews it.
const claimFor = 45 * time.Second

// Claim takes a run to work on it. It returns ErrClaimed while another process does, and a
// run that ended as it is.
func (ps *PipelineRuns) Claim(ctx context.Context, tenant library.TenantID, id string) (c RunClaim, err error) {
	err = ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `UPDATE pipeline_runs SET claim = claim + 1, claimed_until = now() + $3::interval, state = 'running', started_at = coalesce(started_at, now())
			WHERE tenant_id = $1 AND run_id = $2 AND state IN ('queued', 'running') AND (claimed_until IS NULL OR claimed_until < now())
			RETURNING claim, cancel_requested, deadline_at, `+pipelineRunColumns, tenant, id, claimFor)
		if err != nil {
			return err
		}
		c, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (c RunClaim, err error) {
			r := &c.PipelineRun
			err = row.Scan(&c.claim, &c.Cancelled, &c.Deadline, &r.ID, &r.Pipeline, &r.Version, &r.Name, &r.Stages, &r.DryRun, &r.State, &r.Tool, &r.Trigger.Type, &r.Trigger.RuleID,
				&r.Depth, &r.OperationID, &r.RequestID, &r.Actor, &r.CreatedAt, &r.StartedAt, &r.FinishedAt, &r.Progress)
			return c, err
		})
		return err
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return c, err
	}
	if c.PipelineRun, err = ps.Get(ctx, tenant, id); err == nil && !c.State.Ended() {
		err = ErrClaimed
	}
	return c, err
}

// Release ends a claim, so that another process may go on with the run at once.
func (ps *PipelineRuns) Release(ctx context.Context, c *RunClaim) error {
	return ps.s.execTenant(ctx, c.Actor.Tenant, `UPDATE pipeline_runs SET claimed_until = NULL WHERE tenant_id = $1 AND run_id = $2 AND claim = $3 AND state IN ('queued', 'running')`,
		c.Actor.Tenant, c.ID, c.claim)
}

// Step makes a part of a run: what fn changes, the progress of the run and the claim's new
// time are one transaction, and all parts of a run are one operation. fn may run several times,
// each time with the progress as it was before. Nothing of it stays for who lost the claim, which
// gets ErrClaimed.
func (ps *PipelineRuns) Step(ctx context.Context, c *RunClaim, fn func(*Tx) error) error {
	before := c.Progress
	ctx = library.WithCall(ctx, library.Call{Tool: c.Tool, Permission: library.PermAdmin, RequestID: c.RequestID, Depth: c.Depth})
	_, err := ps.s.Write(ctx, c.Actor, func(t *Tx) error {
		c.Progress = before.Clone()
		if err := t.continueOperation(ctx, c.OperationID); err != nil {
			return err
		}
		if err := fn(t); err != nil {
			return err
		}
		if err := t.saveRun(ctx, c); err != nil {
			return err
		}
		return failpoint.Inject("runs.part_written")
	})
	if err != nil {
		c.Progress = before
		return err
	}
	return failpoint.Inject("runs.part_committed")
}

// saveRun writes how far a run is, as the last statement of a part, so that the run's row is
// locked for a moment only. It returns ErrClaimed, which takes the part back, where another
// process has claimed the run meanwhile.
func (t *Tx) saveRun(ctx context.Context, c *RunClaim) error {
	progress, err := jsonb(c.Progress)
	if err != nil {
		return err
	}
	if err := t.Send(ctx, &pgx.Batch{}); err != nil { // what was recorded comes before
		return err
	}
	err = t.QueryRow(ctx, `UPDATE pipeline_runs SET progress = $4, claimed_until = now() + $5::interval, state = $6, finished_at = CASE WHEN $7 THEN now() END
		WHERE tenant_id = $1 AND run_id = $2 AND claim = $3 AND state = 'running' RETURNING cancel_requested`,
		t.tenant(), c.ID, c.claim, string(progress), claimFor, c.State, c.State.Ended()).Scan(&c.Cancelled)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrClaimed
	}
	return err
}

// Renew renews a claim, and reports whether the run shall go on: it is still this process's,
// and nobody asked for it to stop.
func (ps *PipelineRuns) Renew(ctx context.Context, c *RunClaim) (goOn bool, err error) {
	err = ps.s.readTenant(ctx, c.Actor.Tenant, `UPDATE pipeline_runs SET claimed_until = now() + $4::interval WHERE tenant_id = $1 AND run_id = $2 AND claim = $3 AND state = 'running'
		RETURNING NOT cancel_requested`, []any{c.Actor.Tenant, c.ID, c.claim, claimFor}, func(rows pgx.Rows) error {
		for rows.Next() {
			if err := rows.Scan(&goOn); err != nil {
				return err
			}
		}
		return nil
	})
	return goOn, err
}

// continueOperation makes what is recorded a part of an operation that other transactions
// may have begun.
func (t *Tx) continueOperation(ctx context.Context, id string) error {
	t.continues = id
	err := t.QueryRow(ctx, `SELECT summary FROM operations WHERE tenant_id = $1 AND operation_id = $2 FOR UPDATE`, t.tenant(), id).Scan(&t.counts)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	t.operation, t.inserted = id, true
	for _, n := range t.counts {
		t.position += n
	}
	t.counted = t.position
	return nil
}

// Finish ends a run: its state is c.State. The set of its last stage stays, with the
// versions that the assets have, and what a dry run selected; what else it kept for itself goes.
func (ps *PipelineRuns) Finish(ctx context.Context, c *RunClaim) error {
	keep := []int{-1} // the last set comes first
	if n := len(c.Progress.Sets); n > 0 {
		keep[0] = c.Progress.Sets[n-1]
	}
	if selected, ok := c.Progress.SelectedSet(); ok && c.DryRun {
		keep = append(keep, selected)
	}
	return ps.Step(ctx, c, func(t *Tx) error {
		if err := t.SetLimit(ctx, backgroundLimit); err != nil {
			return err
		}
		if err := t.noteDryRun(ctx, c); err != nil {
			return err
		}
		c.FinishedAt = time.Now()
		for _, sql := range []string{
			`DELETE FROM pipeline_sets WHERE tenant_id = $1 AND run_id = $2 AND stage <> ALL($3::int[])`,
			`DELETE FROM pipeline_simulated WHERE tenant_id = $1 AND run_id = $2 AND $3::int[] IS NOT NULL`,
			`UPDATE pipeline_sets s SET versions = (SELECT array_agg(coalesce(a.doc_version, 0) ORDER BY h.place)
				FROM unnest(s.assets) WITH ORDINALITY AS h(asset_h, place) LEFT JOIN assets a ON a.tenant_id = $1 AND a.asset_h = h.asset_h)
				WHERE s.tenant_id = $1 AND s.run_id = $2 AND s.stage = ($3::int[])[1]`,
		} {
			if _, err := t.Exec(ctx, sql, t.tenant(), c.ID, keep); err != nil {
				return err
			}
		}
		return t.emitEnd(ctx, c)
	})
}

// SetLimit lets the statements of the transaction take longer than those of a request, and
// renews its own time while they run.
func (t *Tx) SetLimit(ctx context.Context, limit time.Duration) error {
	_, err := t.Exec(ctx, `SELECT set_config('statement_timeout', $1, true)`, milliseconds(limit))
	return err
}

// Stalled returns runs of all tenants that nobody works on although they have not ended: a
// process that did was killed, or a job got lost.
func (ps *PipelineRuns) Stalled(ctx context.Context, since time.Duration, limit int) ([]PipelineJob, error) {
	return collectIndexer(ctx, ps.s, `SELECT tenant_id::text, run_id FROM pipeline_runs
		WHERE state IN ('queued', 'running') AND coalesce(claimed_until, created_at + $1::interval) < now() AND created_at < now() - $1::interval LIMIT $2`,
		pgx.RowToStructByPos[PipelineJob], since, limit)
}

// Resume enqueues a job for a run that stalled, unless one waits for it that is not overdue.
func (ps *PipelineRuns) Resume(ctx context.Context, j PipelineJob) error {
	return ps.s.resumeJob(ctx, j.Tenant, resumedRun{j}, "run_id", j.Run)
}
