package store_test

import (
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func TestExpire_DeletesOldOperationsAndResponsesOfAllTenantsAndKeepsTheAuditTrail(t *testing.T) {
	s := open(t)
	ctx, db := t.Context(), storetest.Owner(t, s.url)
	for _, actor := range []library.Actor{s.a, s.b} {
		old := add(t, s, actor, file("old")).OperationID
		if _, err := db.Exec(ctx, `UPDATE operations SET at = now() - interval '91 days', operation_id = '00000000-0000-7000-8000-000000000000' WHERE operation_id = $1`, old); err == nil {
			t.Fatal("an operation with a journal must not change its id")
		}
		// An old operation, as it would have been written then.
		if _, err := db.Exec(ctx, `WITH o AS (INSERT INTO operations (tenant_id, operation_id, tool, actor_kind, actor_id, at)
				SELECT $1, '0190' || lpad(i::text, 32, '0'), 'UpdateAsset', 'key', 'k', now() - interval '91 days' FROM generate_series(1, 1500) i RETURNING tenant_id, operation_id)
			INSERT INTO journal (tenant_id, operation_id, position, noun, key, after) SELECT tenant_id, operation_id, 1, 'asset', 'x', '{}' FROM o`, string(actor.Tenant)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, `INSERT INTO idempotency (tenant_id, actor_id, key, request_hash, created_at) VALUES ($1, 'k', 'old', '', now() - interval '25 hours'), ($1, 'k', 'new', '', now())`, string(actor.Tenant)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Expire(ctx, 0); err != nil || got != (store.Expired{Responses: 2}) {
		t.Errorf("kept for ever: %+v %v", got, err)
	}
	got, err := s.Expire(ctx, 90*24*time.Hour)
	if err != nil || got != (store.Expired{Operations: 3000}) {
		t.Errorf("%+v %v", got, err)
	}
	var operations, journal, audit, responses int
	if err := db.QueryRow(ctx, `SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM journal), (SELECT count(*) FROM audit WHERE action = 'asset.created'), (SELECT count(*) FROM idempotency)`).
		Scan(&operations, &journal, &audit, &responses); err != nil || operations != 2 || journal != 2 || audit != 2 || responses != 2 {
		t.Errorf("%d operations, %d in the journal, %d in the audit trail, %d responses are left, %v", operations, journal, audit, responses, err)
	}
	if got, err := s.Expire(ctx, 90*24*time.Hour); err != nil || got != (store.Expired{}) {
		t.Errorf("once more: %+v %v", got, err)
	}
}
