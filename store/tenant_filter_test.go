package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

func TestTenantFilter_EveryTenantTableIsBehindForcedRowSecurity(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.asOwner(t, func(c *pgx.Conn) {
		rows, err := c.Query(t.Context(), `SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity
			FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = 'tenant_id' AND c.relnamespace = 'public'::regnamespace`)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		var table string
		var walled bool
		if _, err := pgx.ForEachRow(rows, []any{&table, &walled}, func() error {
			n++
			if !walled {
				t.Errorf("table %s has a tenant but no forced row security", table)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if n < 10 {
			t.Fatalf("only %d tables found: the check looks at the wrong place", n)
		}
		var owned int
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
			WHERE r.rolname IN ('vitrine_app', 'vitrine_indexer')`).Scan(&owned); err != nil || owned != 0 {
			t.Errorf("the service's roles own %d relations (%v); an owner could switch row level security off", owned, err)
		}
	})
}

func TestTenantFilter_WithoutATenantARoleSeesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, file("fox"))
	s.asOwner(t, func(c *pgx.Conn) {
		if _, err := c.Exec(t.Context(), `SET ROLE vitrine_app`); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM assets`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows seen without a tenant (%v)", n, err)
		}
		if _, err := c.Exec(t.Context(), `SELECT set_config('app.tenant', $1, false)`, s.Claim(s.b.Tenant)); err != nil {
			t.Fatal(err)
		}
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM assets`).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows of another tenant seen (%v)", n, err)
		}
		if _, err := c.Exec(t.Context(), `INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject) VALUES ($1, 'key', 'k', 'a', 's')`, string(s.a.Tenant)); err == nil {
			t.Error("a row could be written into another tenant")
		}
	})
}

func TestTenantFilter_AnotherTenantsAssetIsNotThere(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	if _, err := s.Assets.Get(t.Context(), s.b, h); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("read gave %v", err)
	}
	got, err := s.Assets.Change(t.Context(), s.b, []library.AssetHash{h}, func(a *library.Asset) { a.Title = "mine" })
	if err != nil || len(got.Changed) != 0 || len(got.Missing) != 1 {
		t.Errorf("change gave %+v %v", got, err)
	}
}
