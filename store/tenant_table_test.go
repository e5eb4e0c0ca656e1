package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestTenantTable_KeepsTenantsApart makes a table as a migration does and looks at it as
// the roles of the service.
func TestTenantTable_KeepsTenantsApart(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	s.asOwner(t, func(c *pgx.Conn) {
		must := func(sql string, args ...any) {
			t.Helper()
			if _, err := c.Exec(ctx, sql, args...); err != nil {
				t.Fatal(err)
			}
		}
		count := func() (n int) {
			t.Helper()
			if err := c.QueryRow(ctx, `SELECT count(*) FROM votes`).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		must(`CREATE TABLE votes (tenant_id uuid NOT NULL REFERENCES tenants, vote_id text NOT NULL, PRIMARY KEY (tenant_id, vote_id))`)
		must(`SELECT tenant_table('votes', 'SELECT, INSERT')`)
		must(`INSERT INTO votes VALUES ($1, 'one'), ($2, 'two')`, string(s.a.Tenant), string(s.b.Tenant))
		if _, err := c.Exec(ctx, `SELECT tenant_table('tenant_key')`); err == nil {
			t.Error("a table without tenants was taken for one with")
		}
		must(`SET ROLE vitrine_indexer`)
		if n := count(); n != 2 {
			t.Errorf("the indexer reads %d rows of 2", n)
		}
		must(`SET ROLE vitrine_app`)
		if n := count(); n != 0 {
			t.Errorf("%d rows are read without a tenant", n)
		}
		must(`SELECT set_config('app.tenant', $1, false)`, s.Claim(s.a.Tenant))
		if n := count(); n != 1 {
			t.Errorf("%d rows are read as one tenant", n)
		}
		must(`INSERT INTO votes VALUES ($1, 'three')`, string(s.a.Tenant))
		if _, err := c.Exec(ctx, `INSERT INTO votes VALUES ($1, 'four')`, string(s.b.Tenant)); err == nil {
			t.Error("a row was written into another tenant")
		}
		if _, err := c.Exec(ctx, `DELETE FROM votes`); err == nil {
			t.Error("a right was given that the migration did not name")
		}
	})
}
