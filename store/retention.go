package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"vitrine/library"
)

// retentionBatch is how many operations, or stored responses, one statement deletes.
const retentionBatch = 1000

// Expired counts what Expire deleted.
type Expired struct {
	Operations int64 // with their journal
	Responses  int64 // of requests with an idempotency key
}

// Expire deletes, in all tenants, operations older than keep together with their
// journal, and responses to idempotency keys older than 24 hours. With keep 0 all
// operations stay. The audit trail stays.
func (s *Store) Expire(ctx context.Context, keep time.Duration) (Expired, error) {
	var out Expired
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
		if keep <= 0 {
			continue
		}
		// The ids sort by time, so the oldest are found without reading the others.
		before := time.Now().Add(-keep)
		n, err = s.deleteBatches(ctx, t.ID, `DELETE FROM operations WHERE tenant_id = $1 AND operation_id IN (
			SELECT operation_id FROM operations WHERE tenant_id = $1 AND operation_id < $3 AND at < $4 ORDER BY operation_id LIMIT $2)`,
			t.ID, retentionBatch, firstID(before), before)
		out.Operations += n
		if err != nil {
			return out, err
		}
	}
	return out, nil
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
