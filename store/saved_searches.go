package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// MaxSavedSearches is how many searches one tenant may keep.
const MaxSavedSearches = 500

// SavedSearch is a search that a tenant keeps under a name.
type SavedSearch struct {
	ID          string
	Name        string // unique within the tenant, whatever the case
	Description string
	Query       string
	Mode        string
	Filters     json.RawMessage // an object, or nil
	OrderBy     string
	Direction   string // asc, desc, or empty for the order's own
	CreatedAt   time.Time
	CreatedBy   string // actor id
	UpdatedAt   time.Time
}

const savedColumns = `saved_search_id, name, description, query, search_mode, filters, order_by, direction, created_at, created_by, updated_at`

func scanSaved(row pgx.CollectableRow) (SavedSearch, error) {
	var s SavedSearch
	err := row.Scan(&s.ID, &s.Name, &s.Description, &s.Query, &s.Mode, &s.Filters, &s.OrderBy, &s.Direction, &s.CreatedAt, &s.CreatedBy, &s.UpdatedAt)
	return s, err
}

// SavedSearches gives a tenant's saved searches by name, and how many there are.
func (s *Store) SavedSearches(ctx context.Context, tenant library.TenantID, limit, offset int) ([]SavedSearch, int, error) {
	var list []SavedSearch
	var total int
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM saved_searches WHERE tenant_id = $1`, tenant).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+savedColumns+` FROM saved_searches WHERE tenant_id = $1
			ORDER BY lower(name), saved_search_id LIMIT $2 OFFSET $3`, tenant, limit, offset)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, scanSaved)
		return err
	})
	return list, total, err
}

// SavedSearch gives one saved search; a not-found error when there is none.
func (s *Store) SavedSearch(ctx context.Context, tenant library.TenantID, id string) (SavedSearch, error) {
	var out SavedSearch
	err := s.readTenant(ctx, tenant, `SELECT `+savedColumns+` FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2`,
		[]any{tenant, id}, func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectExactlyOneRow(rows, scanSaved)
			return savedSearchError(err)
		})
	return out, err
}

// AddSavedSearch keeps a search and gives it as stored. A name that is taken and a
// search too many are conflicts.
func (s *Store) AddSavedSearch(ctx context.Context, actor library.Actor, n SavedSearch) (SavedSearch, error) {
	var out SavedSearch
	err := s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		var have int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM saved_searches WHERE tenant_id = $1`, actor.Tenant).Scan(&have); err != nil {
			return err
		}
		if have >= MaxSavedSearches {
			return library.NewError(library.KindConflict, library.CodeConflict,
				"This tenant has %d saved searches, the maximum. Delete one first.", MaxSavedSearches)
		}
		rows, err := tx.Query(ctx, `INSERT INTO saved_searches (tenant_id, saved_search_id, name, description, query, search_mode, filters, order_by, direction, created_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING `+savedColumns,
			actor.Tenant, newID(), n.Name, n.Description, n.Query, n.Mode, n.Filters, n.OrderBy, n.Direction, actor.ID)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanSaved); err != nil {
			return savedSearchError(err)
		}
		return auditSaved(ctx, tx, actor, "saved_search.created", out)
	})
	return out, err
}

// ChangeSavedSearch changes a saved search by a function of what it is and gives
// it as stored. A name that another has is a conflict.
func (s *Store) ChangeSavedSearch(ctx context.Context, actor library.Actor, id string, change func(*SavedSearch) error) (SavedSearch, error) {
	var out SavedSearch
	err := s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT `+savedColumns+` FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2 FOR UPDATE`, actor.Tenant, id)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanSaved); err != nil {
			return savedSearchError(err)
		}
		if err := change(&out); err != nil {
			return err
		}
		rows, err = tx.Query(ctx, `UPDATE saved_searches SET name = $3, description = $4, query = $5, search_mode = $6, filters = $7, order_by = $8,
				direction = $9, updated_at = now()
			WHERE tenant_id = $1 AND saved_search_id = $2 RETURNING `+savedColumns,
			actor.Tenant, id, out.Name, out.Description, out.Query, out.Mode, out.Filters, out.OrderBy, out.Direction)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanSaved); err != nil {
			return savedSearchError(err)
		}
		return auditSaved(ctx, tx, actor, "saved_search.updated", out)
	})
	return out, err
}

// DeleteSavedSearch removes a saved search. The audit trail keeps what it was.
func (s *Store) DeleteSavedSearch(ctx context.Context, actor library.Actor, id string) error {
	return s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `DELETE FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2 RETURNING `+savedColumns, actor.Tenant, id)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectExactlyOneRow(rows, scanSaved)
		if err != nil {
			return savedSearchError(err)
		}
		return auditSaved(ctx, tx, actor, "saved_search.deleted", gone)
	})
}

func auditSaved(ctx context.Context, tx pgx.Tx, actor library.Actor, action string, s SavedSearch) error {
	b := &pgx.Batch{}
	batchAudit(b, actor, action, s.ID, "", map[string]any{"name": s.Name, "query": s.Query, "search_mode": s.Mode, "filters": s.Filters,
		"order_by": s.OrderBy, "direction": s.Direction})
	return tx.SendBatch(ctx, b).Close()
}

// savedSearchError tells what a caller can do about a row that is not there, or a name
// that is.
func savedSearchError(err error) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return library.NotFound("saved search")
	case isUniqueViolation(err):
		return library.NewError(library.KindConflict, library.CodeNameTaken, "Another saved search has this name. Choose another name, or change that search.")
	}
	return err
}
