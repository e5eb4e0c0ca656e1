package store

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Tenants keeps the workspaces of the library.
type Tenants struct{ s *Store }

// MaxName is the longest name of a tenant or a key, in characters.
const MaxName = 200

// defaultTenant is the tenant of a library that never named one. It is a constant
// so that two processes that start at once make the same row.
const defaultTenant library.TenantID = "00000000-0000-4000-8000-000000000001"

// Create adds a workspace with a new id. Names are for people and need not
// be unique.
func (ts *Tenants) Create(ctx context.Context, actor library.Actor, name string) (library.Tenant, error) {
	name, err := cleanName(name)
	if err != nil {
		return library.Tenant{}, err
	}
	t := library.Tenant{ID: library.TenantID(uuid.NewString()), Name: name}
	return t, ts.insert(ctx, actor, &t)
}

// EnsureDefault returns the oldest tenant, and makes one when there is none.
func (ts *Tenants) EnsureDefault(ctx context.Context, actor library.Actor) (library.Tenant, error) {
	all, err := ts.List(ctx)
	if err != nil {
		return library.Tenant{}, err
	}
	if len(all) > 0 {
		return all[0], nil
	}
	t := library.Tenant{ID: defaultTenant, Name: "default"}
	return t, ts.insert(ctx, actor, &t)
}

// insert adds the row unless it is there already, and fills in its time.
func (ts *Tenants) insert(ctx context.Context, actor library.Actor, t *library.Tenant) error {
	return ts.s.inTenant(ctx, t.ID, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `INSERT INTO tenants (tenant_id, name) VALUES ($1, $2) ON CONFLICT (tenant_id) DO NOTHING`, t.ID, t.Name)
		if err != nil {
			return err
		}
		if tag.RowsAffected() > 0 {
			if err := auditAccess(ctx, tx, actor, t.ID, "tenant.created", string(t.ID), map[string]any{"name": t.Name}); err != nil {
				return err
			}
		}
		return tx.QueryRow(ctx, `SELECT name, created_at FROM tenants WHERE tenant_id = $1`, t.ID).Scan(&t.Name, &t.CreatedAt)
	})
}

// List returns every tenant, the oldest first. It is for the command line
// and start-up; no request may reach it.
func (ts *Tenants) List(ctx context.Context) ([]library.Tenant, error) {
	return collectIndexer(ctx, ts.s, `SELECT tenant_id::text, name, created_at FROM tenants ORDER BY created_at, tenant_id`, func(r pgx.CollectableRow) (t library.Tenant, err error) {
		err = r.Scan(&t.ID, &t.Name, &t.CreatedAt)
		return t, err
	})
}

// Rename sets the name of a tenant.
func (ts *Tenants) Rename(ctx context.Context, actor library.Actor, tenant library.TenantID, name string) (library.Tenant, error) {
	name, err := cleanName(name)
	if err != nil {
		return library.Tenant{}, err
	}
	if err := ts.exist(ctx, []library.TenantID{tenant}); err != nil {
		return library.Tenant{}, err
	}
	t := library.Tenant{ID: tenant, Name: name}
	err = ts.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		var before string
		if err := tx.QueryRow(ctx, `SELECT name, created_at FROM tenants WHERE tenant_id = $1 FOR UPDATE`, tenant).Scan(&before, &t.CreatedAt); err != nil {
			return err
		}
		if before == name {
			return nil
		}
		if _, err := tx.Exec(ctx, `UPDATE tenants SET name = $2 WHERE tenant_id = $1`, tenant, name); err != nil {
			return err
		}
		return auditAccess(ctx, tx, actor, tenant, "tenant.renamed", string(tenant), map[string]any{"before": before, "after": name})
	})
	return t, err
}

// cleanName trims a name for people and refuses one that is empty or too long.
func cleanName(name string) (string, error) {
	name = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "\uFFFD"))
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName {
		return "", library.Invalid(library.FieldError{Field: "name", Code: "length", Message: "Expected 1 to 200 characters."})
	}
	return name, nil
}
