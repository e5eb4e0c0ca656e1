package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// ExportClaim is an export that this process writes.
type ExportClaim struct {
	library.Export
	claim int64 // counts who took it
}

// Claim takes an export to write it. It returns ErrClaimed while another process does, and one
// that is finished as it is.
func (es *Exports) Claim(ctx context.Context, tenant library.TenantID, id string) (e ExportClaim, err error) {
	err = es.s.readTenant(ctx, tenant, `UPDATE exports SET claim = claim + 1, claimed_until = now() + $3::interval, state = 'running'
		WHERE tenant_id = $1 AND export_id = $2 AND state IN ('queued', 'running') AND (claimed_until IS NULL OR claimed_until < now())
		RETURNING claim, `+exportColumns, []any{tenant, id, claimFor}, func(rows pgx.Rows) error {
		e, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (e ExportClaim, err error) {
			var ms int64
			err = row.Scan(append([]any{&e.claim}, exportFields(&e.Export, &ms)...)...)
			return e, err
		})
		return err
	})
	if !errors.Is(err, pgx.ErrNoRows) {
		return e, err
	}
	if e.Export, err = es.Get(ctx, tenant, "", id); err == nil && !e.State.Finished() {
		err = ErrClaimed
	}
	return e, err
}

// Renew renews a claim, and reports whether the export is still this process's.
func (es *Exports) Renew(ctx context.Context, tenant library.TenantID, e ExportClaim) (mine bool, err error) {
	err = es.s.readTenant(ctx, tenant, `UPDATE exports SET claimed_until = now() + $4::interval WHERE tenant_id = $1 AND export_id = $2 AND claim = $3 AND state = 'running' RETURNING true`,
		[]any{tenant, e.ID, e.claim, claimFor}, func(rows pgx.Rows) error {
			mine = rows.Next()
			return rows.Err()
		})
	return mine, err
}

// Release ends a claim, so that another process may write the export at once.
func (es *Exports) Release(ctx context.Context, tenant library.TenantID, e ExportClaim) error {
	return es.s.execTenant(ctx, tenant, `UPDATE exports SET claimed_until = NULL WHERE tenant_id = $1 AND export_id = $2 AND claim = $3 AND state = 'running'`, tenant, e.ID, e.claim)
}

// Progress notes how many assets were looked at, while the claim holds.
func (es *Exports) Progress(ctx context.Context, tenant library.TenantID, e ExportClaim, done int) error {
	return es.s.execTenant(ctx, tenant, `UPDATE exports SET done = $4 WHERE tenant_id = $1 AND export_id = $2 AND claim = $3 AND state = 'running'`, tenant, e.ID, e.claim, done)
}

// Finish notes what became of an export, while the claim holds: its state, files, failures,
// size, hash, and the pages of a deck. One that a pipeline began emits its event with that.
func (es *Exports) Finish(ctx context.Context, tenant library.TenantID, e ExportClaim) error {
	if e.Failed == nil {
		e.Failed = []library.ExportFailure{}
	}
	_, err := es.s.Write(ctx, library.Actor{Kind: e.Actor.Kind, ID: e.Actor.ID, Tenant: tenant}, func(t *Tx) error {
		tag, err := t.Exec(ctx, `UPDATE exports SET state = $4, done = cardinality(asset_hs), files = $5, failed = $6, bytes = $7, sha256 = $8, pages = $9, duration_ms = $10, renderer = $11, renderer_note = $12, finished_at = now()
			WHERE tenant_id = $1 AND export_id = $2 AND claim = $3 AND state IN ('queued', 'running')`,
			tenant, e.ID, e.claim, e.State, e.Files, e.Failed, e.Bytes, e.SHA256, e.Pages, e.Duration.Milliseconds(), e.Renderer, e.Note)
		if err != nil || tag.RowsAffected() == 0 || e.Run == "" {
			return err
		}
		return t.emitRunExport(ctx, e.Export)
	})
	return err
}

// Stalled returns exports of all tenants that nobody works on although they are not finished: a
// process that did was killed, or a job got lost.
func (es *Exports) Stalled(ctx context.Context, since time.Duration, limit int) ([]ExportJob, error) {
	return collectIndexer(ctx, es.s, `SELECT tenant_id::text, export_id FROM exports
		WHERE state IN ('queued', 'running') AND coalesce(claimed_until, created_at + $1::interval) < now() AND created_at < now() - $1::interval LIMIT $2`,
		pgx.RowToStructByPos[ExportJob], since, limit)
}

// Resume enqueues a job for an export that stalled, unless one waits for it already.
func (es *Exports) Resume(ctx context.Context, j ExportJob) error {
	return es.s.resumeJob(ctx, j.Tenant, j, "export_id", j.Export)
}
