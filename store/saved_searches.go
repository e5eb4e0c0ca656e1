package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// SavedSearches keeps the searches that people saved.
type SavedSearches struct{ s *Store }

// MaxSavedSearches is how many searches one tenant may keep.
const MaxSavedSearches = 500

// savedSearchNoun is a saved search; its key is the id.
var savedSearchNoun = rowNoun("saved_search", &rowTable{table: "saved_searches", key: []string{"saved_search_id"}, label: "name", touched: "updated_at",
	columns: []string{"name", "description", "query", "search_mode", "filters", "order_by", "direction", "created_at", "created_by"}})

func init() { register(savedSearchNoun, undoRows) }

const savedColumns = `saved_search_id, name, description, query, search_mode, filters, order_by, direction, created_at, created_by, updated_at`

func scanSaved(row pgx.CollectableRow) (library.SavedSearch, error) {
	var s library.SavedSearch
	err := row.Scan(&s.ID, &s.Name, &s.Description, &s.Query, &s.Mode, &s.Filters, &s.OrderBy, &s.Direction, &s.CreatedAt, &s.CreatedBy, &s.UpdatedAt)
	return s, err
}

// List returns a tenant's saved searches by name, and how many there are.
func (ss *SavedSearches) List(ctx context.Context, tenant library.TenantID, limit, offset int) ([]library.SavedSearch, int, error) {
	var list []library.SavedSearch
	var total int
	err := ss.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
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

// Get returns one saved search; a not-found error when there is none.
func (ss *SavedSearches) Get(ctx context.Context, tenant library.TenantID, id string) (library.SavedSearch, error) {
	var out library.SavedSearch
	err := ss.s.readTenant(ctx, tenant, `SELECT `+savedColumns+` FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2`,
		[]any{tenant, id}, func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectExactlyOneRow(rows, scanSaved)
			return savedSearchError(err)
		})
	return out, err
}

// Add keeps a search and returns it as stored, with the operation that did
// it. A name that is taken and a search too many are conflicts.
func (ss *SavedSearches) Add(ctx context.Context, actor library.Actor, n library.SavedSearch) (out library.SavedSearch, operationID string, err error) {
	operationID, err = ss.s.Write(ctx, actor, func(t *Tx) error {
		var have int
		if err := t.QueryRow(ctx, `SELECT count(*) FROM saved_searches WHERE tenant_id = $1`, t.tenant()).Scan(&have); err != nil {
			return err
		}
		if have >= MaxSavedSearches {
			return library.NewError(library.KindConflict, library.CodeConflict,
				"This tenant has %d saved searches, the maximum. Delete one first.", MaxSavedSearches)
		}
		id := newID()
		return t.Track(ctx, savedSearchNoun, []string{id}, func() error {
			rows, err := t.Query(ctx, `INSERT INTO saved_searches (tenant_id, saved_search_id, name, description, query, search_mode, filters, order_by, direction, created_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING `+savedColumns,
				t.tenant(), id, n.Name, n.Description, n.Query, n.Mode, n.Filters, n.OrderBy, n.Direction, actor.ID)
			if err != nil {
				return err
			}
			out, err = pgx.CollectExactlyOneRow(rows, scanSaved)
			return savedSearchError(err)
		})
	})
	return out, operationID, err
}

// Change changes a saved search by a function of what it is and returns it
// as stored, with the operation that did it. A name that another has is a conflict.
func (ss *SavedSearches) Change(ctx context.Context, actor library.Actor, id string, change func(*library.SavedSearch) error) (out library.SavedSearch, operationID string, err error) {
	operationID, err = ss.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, savedSearchNoun, []string{id}, func() error {
			rows, err := t.Query(ctx, `SELECT `+savedColumns+` FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2`, t.tenant(), id)
			if err != nil {
				return err
			}
			if out, err = pgx.CollectExactlyOneRow(rows, scanSaved); err != nil {
				return savedSearchError(err)
			}
			if err := change(&out); err != nil {
				return err
			}
			rows, err = t.Query(ctx, `UPDATE saved_searches SET name = $3, description = $4, query = $5, search_mode = $6, filters = $7, order_by = $8,
					direction = $9, updated_at = now()
				WHERE tenant_id = $1 AND saved_search_id = $2 RETURNING `+savedColumns,
				t.tenant(), id, out.Name, out.Description, out.Query, out.Mode, out.Filters, out.OrderBy, out.Direction)
			if err != nil {
				return err
			}
			out, err = pgx.CollectExactlyOneRow(rows, scanSaved)
			return savedSearchError(err)
		})
	})
	return out, operationID, err
}

// Delete removes a saved search and returns the operation that did it.
func (ss *SavedSearches) Delete(ctx context.Context, actor library.Actor, id string) (operationID string, err error) {
	return ss.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, savedSearchNoun, []string{id}, func() error {
			var used string
			err := t.QueryRow(ctx, `SELECT coalesce(min(path), '') FROM collections WHERE tenant_id = $1 AND saved_search_id = $2 AND deleted_at IS NULL`, t.tenant(), id).Scan(&used)
			if err == nil && used != "" {
				err = library.NewError(library.KindConflict, library.CodeConflict, "The smart collection %s holds what this search finds. Delete that collection, or give it another search, first.", used)
			}
			if err != nil {
				return err
			}
			tag, err := t.Exec(ctx, `DELETE FROM saved_searches WHERE tenant_id = $1 AND saved_search_id = $2`, t.tenant(), id)
			if err == nil && tag.RowsAffected() == 0 {
				return library.NotFound("saved search")
			}
			return err
		})
	})
}

// savedSearchError reports what a caller can do about a row that is not there, or a name
// that is.
func savedSearchError(err error) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return library.NotFound("saved search")
	case pg.IsUniqueViolation(err):
		return library.NewError(library.KindConflict, library.CodeNameTaken, "Another saved search has this name. Choose another name, or change that search.")
	}
	return err
}
