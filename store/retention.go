package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"vitrine/library"
)

// retentionBatch is how many operations, or stored responses, one statement deletes.
const retentionBatch = 1000

// Retention is how long what is recorded of writes is kept.
type Retention struct {
	Journal     time.Duration // operations with their journal; 0: for ever
	AuditMonths int           // of the audit trail, beside the month that runs; 0: for ever
}

// Expired counts what Expire deleted.
type Expired struct {
	Operations  int64 // with their journal
	Collections int64 // that were deleted so long ago that no undo brings them back
	Responses   int64 // of requests with an idempotency key
	Runs        int64 // of pipelines, with their last sets
	AuditRows   int64 // of the audit trail, from before it had months
	Months      int   // of the audit trail
}

// Expire deletes, in all tenants, what need not be kept, and responses to idempotency
// keys older than 24 hours. It also makes the audit trail's partitions of the months to
// come.
func (s *Store) Expire(ctx context.Context, keep Retention) (Expired, error) {
	var out Expired
	if err := s.expireAudit(ctx, keep.AuditMonths, &out); err != nil {
		return out, err
	}
	tenants, err := s.Tenants.List(ctx)
	if err != nil {
		return out, err
	}
	for _, t := range tenants {
		n, err := s.deleteBatches(ctx, t.ID, `DELETE FROM idempotency WHERE tenant_id = $1 AND (actor_id, key) IN (
			SELECT actor_id, key FROM idempotency WHERE tenant_id = $1 AND created_at < now() - interval '24 hours' LIMIT $2)`, t.ID, retentionBatch)
		out.Responses += n
		if err != nil {
			return out, err
		}
		n, err = s.deleteBatches(ctx, t.ID, expiredRuns, t.ID, retentionBatch/10)
		out.Runs += n
		if err != nil {
			return out, err
		}
		if _, err := s.deleteBatches(ctx, t.ID, `DELETE FROM exports WHERE tenant_id = $1 AND export_id IN (
			SELECT export_id FROM exports WHERE tenant_id = $1 AND created_at < now() - interval '7 days' LIMIT $2)`, t.ID, retentionBatch); err != nil {
			return out, err
		}
		if keep.Journal <= 0 {
			continue
		}
		// The ids sort by time, so the oldest are found without reading the others.
		before := time.Now().Add(-keep.Journal)
		n, err = s.deleteBatches(ctx, t.ID, `DELETE FROM operations WHERE tenant_id = $1 AND operation_id IN (
			SELECT operation_id FROM operations WHERE tenant_id = $1 AND operation_id < $3 AND at < $4 ORDER BY operation_id LIMIT $2)`,
			t.ID, retentionBatch, firstID(before), before)
		out.Operations += n
		if err != nil {
			return out, err
		}
		n, err = s.deleteBatches(ctx, t.ID, purgeCollections, t.ID, purgeBatch, before)
		out.Collections += n
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// expiredRuns takes away dry runs after a week and others after 90 days, with their last sets.
const expiredRuns = `DELETE FROM pipeline_runs WHERE tenant_id = $1 AND run_id IN (
	SELECT run_id FROM pipeline_runs WHERE tenant_id = $1 AND finished_at < now() - CASE WHEN dry_run THEN interval '7 days' ELSE interval '90 days' END LIMIT $2)`

// purgeBatch is how many deleted collections one statement takes away, with all their items.
const purgeBatch = 20

// purgeCollections takes away collections that were deleted before $3, those below others
// first. The journal that could bring them back is gone by then.
const purgeCollections = `DELETE FROM collections WHERE tenant_id = $1 AND collection_h IN (
	SELECT c.collection_h FROM collections c WHERE c.tenant_id = $1 AND c.deleted_at < $3
		AND NOT EXISTS (SELECT FROM collections b WHERE b.tenant_id = $1 AND b.parent_h = c.collection_h AND (b.deleted_at IS NULL OR b.deleted_at >= $3))
	ORDER BY c.deleted_at, c.path DESC LIMIT $2)`

// auditAhead is how many months have their partition before they begin.
const auditAhead = 2

// auditBatch is how many rows of the audit trail one statement deletes.
const auditBatch = 100_000

// expireAudit makes the partitions of the audit trail that are to come, and drops those
// that ended some months before this one began.
func (s *Store) expireAudit(ctx context.Context, months int, out *Expired) error {
	if _, err := s.indexer.Exec(ctx, `SELECT audit_partitions($1)`, auditAhead); err != nil {
		return unavailable(err)
	}
	if months <= 0 {
		return nil
	}
	for {
		var dropped []string
		var rows int64
		err := s.indexer.QueryRow(ctx, `SELECT partitions, deleted FROM audit_expire(
			(date_trunc('month', now() AT TIME ZONE 'UTC') - make_interval(months => $1)) AT TIME ZONE 'UTC', $2)`, months, auditBatch).Scan(&dropped, &rows)
		out.Months += len(dropped)
		out.AuditRows += rows
		if err != nil || rows == 0 {
			return unavailable(err)
		}
	}
}

// deleteBatches repeats a statement until it deletes nothing, each time in a
// transaction of its own.
func (s *Store) deleteBatches(ctx context.Context, tenant library.TenantID, sql string, args ...any) (total int64, err error) {
	for {
		n, err := s.execTenantRows(ctx, tenant, sql, args...)
		total += n
		if err != nil || n == 0 {
			return total, err
		}
	}
}

// firstID returns the smallest id that newID can make at a time.
func firstID(at time.Time) string {
	var id uuid.UUID
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id.String()[:len("00000000-0000")] // what follows is random
}
