package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func TestExpire_DeletesOldOperationsAndResponsesOfAllTenantsAndKeepsTheAuditTrail(t *testing.T) {
	t.Parallel()
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
	if got, err := s.Expire(ctx, store.Retention{}); err != nil || got != (store.Expired{Responses: 2}) {
		t.Errorf("kept for ever: %+v %v", got, err)
	}
	got, err := s.Expire(ctx, store.Retention{Journal: 90 * 24 * time.Hour})
	if err != nil || got != (store.Expired{Operations: 3000}) {
		t.Errorf("%+v %v", got, err)
	}
	var operations, journal, audit, responses int
	if err := db.QueryRow(ctx, `SELECT (SELECT count(*) FROM operations), (SELECT count(*) FROM journal), (SELECT count(*) FROM audit WHERE action = 'asset.created'), (SELECT count(*) FROM idempotency)`).
		Scan(&operations, &journal, &audit, &responses); err != nil || operations != 2 || journal != 2 || audit != 2 || responses != 2 {
		t.Errorf("%d operations, %d in the journal, %d in the audit trail, %d responses are left, %v", operations, journal, audit, responses, err)
	}
	if got, err := s.Expire(ctx, store.Retention{Journal: 90 * 24 * time.Hour}); err != nil || got != (store.Expired{}) {
		t.Errorf("once more: %+v %v", got, err)
	}
}

// TestExpire_PurgesCollectionsThatNoUndoBringsBack deletes two trees, one of them long ago.
func TestExpire_PurgesCollectionsThatNoUndoBringsBack(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	h := add(t, s, s.a, file("kept")).Asset.Hash
	for _, root := range []string{"old", "new", "alive"} {
		path := s.collection(t, root, "")
		for i := range 4 {
			path = s.collection(t, "below"+string(rune('a'+i)), path)
			s.put(t, path, h)
		}
		if _, err := s.Collections.Branch(ctx, s.a, path, store.NewBranch{Name: "frozen", Type: library.BranchSnapshot}); err != nil {
			t.Fatal(err)
		}
	}
	must[store.CollectionChange](t)(s.Collections.Delete(ctx, s.a, "old.belowa.belowb")) // before what is above it
	must[store.CollectionChange](t)(s.Collections.Delete(ctx, s.a, "old"))
	s.asOwner(t, func(c *pgx.Conn) {
		if _, err := c.Exec(ctx, `UPDATE collections SET deleted_at = deleted_at - interval '91 days' WHERE deleted_at IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	})
	recent := must[store.CollectionChange](t)(s.Collections.Delete(ctx, s.a, "new")).OperationID
	got, err := s.Expire(ctx, store.Retention{Journal: 90 * 24 * time.Hour})
	if err != nil || got != (store.Expired{Collections: 6}) {
		t.Errorf("%+v %v", got, err)
	}
	if undone, err := s.Operations.Undo(ctx, s.a, recent, anyone); err != nil || undone.Counts[library.OutcomeReverted] != 6 {
		t.Errorf("undoing the recent deletion: %+v %v", undone, err)
	}
	if list, total, err := s.Collections.List(ctx, s.a, "", 5, true, 100, 0); err != nil || total != 12 || list[1].Assets != 1 {
		t.Errorf("%d collections are left: %+v, %v", total, list, err)
	}
	if have, err := s.Assets.Existing(ctx, s.a, []library.AssetHash{h}); err != nil || !have[h] {
		t.Errorf("the asset went with its collection: %v", err)
	}
}

// month returns the first moment of a month, so many months before this one, in UTC.
func month(before int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -before, 0)
}

func auditMonths(t *testing.T, s bench) (rows map[string]int) {
	t.Helper()
	found, err := storetest.Owner(t, s.url).Query(t.Context(), `SELECT tableoid::regclass::text, count(*) FROM audit WHERE action = 'test' GROUP BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	rows = map[string]int{}
	var partition string
	var n int
	if _, err := pgx.ForEachRow(found, []any{&partition, &n}, func() error { rows[partition] = n; return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestAudit_MonthsAreMadeAheadAndDroppedOnceTheyNeedNotBeKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, db := t.Context(), storetest.Owner(t, s.url)
	must := func(sql string, args ...any) {
		t.Helper()
		if _, err := db.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	// Partitions of earlier months, as a service that has run that long has them.
	for i := 1; i <= 4; i++ {
		name := "audit_" + month(i).Format("2006_01")
		must(`CREATE TABLE ` + name + ` PARTITION OF audit FOR VALUES FROM ('` + month(i).Format(time.RFC3339) + `') TO ('` + month(i-1).Format(time.RFC3339) + `')`)
	}
	for _, tenant := range []library.TenantID{s.a.Tenant, s.b.Tenant} {
		for i := -2; i <= 9; i++ {
			must(`INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject, at) VALUES ($1, 'key', 'k', 'test', 'x', $2)`, string(tenant), month(i))
		}
	}
	name := func(i int) string { return "audit_" + month(i).Format("2006_01") }
	want := map[string]int{"audit_default": 10} // the five months that have no partition
	for i := -2; i <= 4; i++ {
		want[name(i)] = 2
	}
	if diff := cmp.Diff(want, auditMonths(t, s)); diff != "" {
		t.Fatalf("rows by partition (-want +got)\n%s", diff)
	}
	if got, err := s.Expire(ctx, store.Retention{}); err != nil || got != (store.Expired{}) {
		t.Errorf("kept for ever: %+v %v", got, err)
	}
	got, err := s.Expire(ctx, store.Retention{AuditMonths: 3})
	if err != nil || got != (store.Expired{Months: 1, AuditRows: 10}) {
		t.Errorf("%+v %v", got, err)
	}
	delete(want, "audit_default")
	delete(want, name(4))
	if diff := cmp.Diff(want, auditMonths(t, s)); diff != "" {
		t.Errorf("rows by partition after three months (-want +got)\n%s", diff)
	}
	must(`DROP TABLE ` + name(-2))
	if _, err := s.Expire(ctx, store.Retention{}); err != nil {
		t.Fatal(err)
	}
	var there bool
	if err := db.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, name(-2)).Scan(&there); err != nil || !there {
		t.Errorf("the partition of the month after next was not made: %v", err)
	}
}

// TestAudit_ARowOfAMonthWithoutPartitionIsKept: a service without the role work for a long
// time loses nothing, and goes on where partitions can be made again.
func TestAudit_ARowOfAMonthWithoutPartitionIsKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	db := storetest.Owner(t, s.url)
	if _, err := db.Exec(t.Context(), `DROP TABLE `+"audit_"+month(0).Format("2006_01")+`, `+"audit_"+month(-1).Format("2006_01")); err != nil {
		t.Fatal(err)
	}
	h := add(t, s, s.a, file("fox")).Asset.Hash
	if _, err := s.Expire(t.Context(), store.Retention{AuditMonths: 1}); err != nil {
		t.Fatal(err)
	}
	var here, ahead bool
	if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM audit_default WHERE subject = $1), to_regclass($2) IS NOT NULL`,
		string(h), "audit_"+month(-1).Format("2006_01")).Scan(&here, &ahead); err != nil || !here || !ahead {
		t.Errorf("kept: %v, the next month has its partition: %v, %v", here, ahead, err)
	}
}

func TestAudit_NobodyOfTheServiceReachesAPartitionItself(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx, db := t.Context(), storetest.Owner(t, s.url)
	for _, role := range []string{"vitrine_app", "vitrine_indexer"} {
		if _, err := db.Exec(ctx, `SET ROLE `+role); err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{`SELECT FROM audit_default`, `SELECT FROM audit_` + month(0).Format("2006_01"), `DELETE FROM audit`, `UPDATE audit SET subject = ''`,
			`DROP TABLE audit_default`} {
			if _, err := db.Exec(ctx, sql); err == nil {
				t.Errorf("%s may %s", role, sql)
			}
		}
	}
	if _, err := db.Exec(ctx, `SET ROLE vitrine_app`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `SELECT audit_expire(now(), 1)`); err == nil {
		t.Error("the role of requests may delete from the audit trail")
	}
}
