package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Imports keeps the runs of imports that the service does itself, and their reports.
type Imports struct{ s *Store }

const importColumns = `tenant_id::text, import_id, root, folder, state, options, counts, preset, warnings, error, actor_kind, actor_id, created_at, started_at, updated_at, finished_at, cancel`

func scanImport(row pgx.CollectableRow) (i library.Import, err error) {
	var folder []byte
	err = row.Scan(&i.Tenant, &i.ID, &i.Root, &folder, &i.State, &i.Options, &i.Counts, &i.Preset, &i.Warnings, &i.Error, &i.ActorKind, &i.Actor,
		&i.CreatedAt, &i.StartedAt, &i.UpdatedAt, &i.FinishedAt, &i.Cancel)
	i.Folder = string(folder)
	return i, err
}

// Start queues an import. A folder that is being imported or watched with the same options
// is not begun twice: that import is returned.
func (is *Imports) Start(ctx context.Context, actor library.Actor, root, folder string, opt library.ImportOptions) (library.Import, error) {
	var out library.Import
	_, err := is.s.Write(ctx, actor, func(t *Tx) error {
		rows, err := t.Query(ctx, `WITH one AS (SELECT pg_advisory_xact_lock(hashtextextended('import ' || $1::text, 0)))
			SELECT `+importColumns+` FROM one, imports WHERE tenant_id = $1::uuid AND root = $2 AND folder = $3 AND options = $4 AND state IN ('queued', 'running', 'watching') AND NOT cancel
			ORDER BY import_id LIMIT 1`, string(t.tenant()), root, []byte(folder), opt)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, scanImport)
		if err != nil || len(list) == 1 {
			if err == nil {
				out = list[0]
			}
			return err
		}
		rows, err = t.Query(ctx, `INSERT INTO imports (tenant_id, import_id, root, folder, options, actor_kind, actor_id) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING `+importColumns,
			t.tenant(), newID(), root, []byte(folder), opt, actor.Kind, actor.ID)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanImport); err != nil {
			return err
		}
		return t.Audit(ctx, "import.started", out.ID, map[string]any{"root": root, "folder": library.VisibleText(folder), "watch": opt.Watch})
	})
	return out, err
}

// Get returns an import of the actor's tenant, or a not-found error.
func (is *Imports) Get(ctx context.Context, actor library.Actor, id string) (library.Import, error) {
	list, err := is.read(ctx, actor.Tenant, `SELECT `+importColumns+` FROM imports WHERE tenant_id = $1 AND import_id = $2`, actor.Tenant, id)
	if err == nil && len(list) == 0 {
		err = library.NotFound("import")
	}
	if err != nil {
		return library.Import{}, err
	}
	return list[0], nil
}

// List returns imports of the actor's tenant, the newest first: those that were queued
// before the import with an id, where one is given.
func (is *Imports) List(ctx context.Context, actor library.Actor, before string, limit int) ([]library.Import, error) {
	return is.read(ctx, actor.Tenant, `SELECT `+importColumns+` FROM imports WHERE tenant_id = $1 AND ($2 = '' OR import_id < $2) ORDER BY import_id DESC LIMIT $3`, actor.Tenant, before, limit)
}

func (is *Imports) read(ctx context.Context, tenant library.TenantID, sql string, args ...any) (list []library.Import, err error) {
	err = is.s.readTenant(ctx, tenant, sql, args, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, scanImport)
		return err
	})
	return list, err
}

// Cancel asks an import to end, and returns it. One that has ended stays as it is.
func (is *Imports) Cancel(ctx context.Context, actor library.Actor, id string) (library.Import, error) {
	_, err := is.s.Write(ctx, actor, func(t *Tx) error {
		list, err := queryRows(ctx, t, scanImport, `UPDATE imports SET cancel = true, updated_at = now(),
				state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END, finished_at = CASE WHEN state = 'queued' THEN now() END
			WHERE tenant_id = $1 AND import_id = $2 AND state IN ('queued', 'running', 'watching') AND NOT cancel RETURNING `+importColumns, t.tenant(), id)
		if err != nil || len(list) == 0 {
			return err
		}
		if !list[0].State.Open() { // one under way emits its event when its work has ended
			if err := t.emitImport(ctx, list[0]); err != nil {
				return err
			}
		}
		return t.Audit(ctx, "import.cancelled", id, nil)
	})
	if err != nil {
		return library.Import{}, err
	}
	return is.Get(ctx, actor, id)
}

// Due returns the imports of all tenants that nobody works on, the oldest first.
func (is *Imports) Due(ctx context.Context, limit int) ([]library.Import, error) {
	return collectIndexer(ctx, is.s, `SELECT `+importColumns+` FROM imports WHERE state IN ('queued', 'running', 'watching') AND held_until <= now() ORDER BY created_at LIMIT $1`, scanImport, limit)
}

// Claim lets a holder work on an import for a time. It returns false where another one does.
func (is *Imports) Claim(ctx context.Context, i library.Import, holder string, hold time.Duration) (out library.Import, claimed bool, err error) {
	err = is.s.inTenant(ctx, i.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `UPDATE imports SET holder = $3, held_until = now() + make_interval(secs => $4), started_at = coalesce(started_at, now()),
				state = CASE WHEN state = 'queued' THEN 'running' ELSE state END, updated_at = now()
			WHERE tenant_id = $1 AND import_id = $2 AND held_until <= now() AND state IN ('queued', 'running', 'watching') RETURNING `+importColumns, i.Tenant, i.ID, holder, hold.Seconds())
		if err != nil {
			return err
		}
		out, err = pgx.CollectExactlyOneRow(rows, scanImport)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return out, false, nil
	}
	return out, err == nil, unavailable(err)
}

// Save writes how far an import is, with what became of files, and holds it for longer. It
// reports whether the import is to end: somebody cancelled it, or another process has taken
// it over. The first one that saves a state in which the import has ended emits the event of that.
func (is *Imports) Save(ctx context.Context, i library.Import, holder string, hold time.Duration, files []library.ImportFile) (end bool, err error) {
	if !i.State.Open() {
		return is.saveEnd(ctx, i, holder, files)
	}
	err = is.s.inTenant(ctx, i.Tenant, func(tx pgx.Tx) error {
		saved, held, err := saveImport(ctx, tx, i, holder, hold, files)
		end = saved.Cancel || !held
		return err
	})
	return end && err == nil, unavailable(err)
}

// saveEnd saves an import that has ended, as Save does.
func (is *Imports) saveEnd(ctx context.Context, i library.Import, holder string, files []library.ImportFile) (end bool, err error) {
	actor := library.Actor{Kind: i.ActorKind, ID: i.Actor, Tenant: i.Tenant}
	_, err = is.s.Write(ctx, actor, func(t *Tx) error {
		var was library.ImportState
		err := t.QueryRow(ctx, `SELECT state FROM imports WHERE tenant_id = $1 AND import_id = $2 AND holder = $3 FOR UPDATE`, i.Tenant, i.ID, holder).Scan(&was)
		if errors.Is(err, pgx.ErrNoRows) {
			end = true
			return nil
		}
		if err != nil {
			return err
		}
		saved, _, err := saveImport(ctx, t, i, holder, 0, files)
		if end = saved.Cancel; err != nil || !was.Open() {
			return err
		}
		return t.emitImport(ctx, saved)
	})
	return end && err == nil, err
}

// saveImport writes what Save says and returns the import as it is now. held is false, and
// nothing is written, where the holder does not hold it.
func saveImport(ctx context.Context, tx pgx.Tx, i library.Import, holder string, hold time.Duration, files []library.ImportFile) (saved library.Import, held bool, err error) {
	list, err := queryRows(ctx, tx, scanImport, `UPDATE imports SET state = $4, counts = $5, preset = $6, warnings = $7, error = $8, finished_at = CASE WHEN $9 THEN now() END,
			updated_at = now(), held_until = now() + make_interval(secs => $10)
		WHERE tenant_id = $1 AND import_id = $2 AND holder = $3 RETURNING `+importColumns,
		i.Tenant, i.ID, holder, i.State, i.Counts, i.Preset, emptyTexts(i.Warnings), i.Error, !i.State.Open(), hold.Seconds())
	if err != nil || len(list) == 0 {
		return library.Import{}, false, err
	}
	if len(files) > 0 {
		err = saveImportFiles(ctx, tx, i, files)
	}
	return list[0], true, err
}

func saveImportFiles(ctx context.Context, tx pgx.Tx, i library.Import, files []library.ImportFile) error {
	last := map[string]library.ImportFile{} // one statement cannot write a row twice
	for _, f := range files {
		last[f.Path] = f
	}
	var paths [][]byte
	var results, reasons, assets []string
	for p, f := range last {
		paths, results, reasons, assets = append(paths, []byte(p)), append(results, f.Result), append(reasons, clean(f.Reason)), append(assets, string(f.Asset))
	}
	_, err := tx.Exec(ctx, `INSERT INTO import_files (tenant_id, import_id, path, result, reason, asset_h)
		SELECT $1, $2, p, r, w, a FROM unnest($3::bytea[], $4::text[], $5::text[], $6::text[]) AS u(p, r, w, a)
		ON CONFLICT (tenant_id, import_id, path) DO UPDATE SET result = excluded.result, reason = excluded.reason, asset_h = excluded.asset_h, at = now()`,
		i.Tenant, i.ID, paths, results, reasons, assets)
	return err
}

// emptyTexts makes an empty list of none.
func emptyTexts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Files returns what became of files of an import, in the order of their paths: those behind
// a path, and of one result, where they are given.
func (is *Imports) Files(ctx context.Context, actor library.Actor, id, result, after string, limit int) (list []library.ImportFile, err error) {
	err = is.s.readTenant(ctx, actor.Tenant, `SELECT path, result, reason, asset_h, at FROM import_files
		WHERE tenant_id = $1 AND import_id = $2 AND ($3 = '' OR result = $3) AND path > $4 ORDER BY path LIMIT $5`,
		[]any{actor.Tenant, id, result, []byte(after), limit}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f library.ImportFile, err error) {
				var path []byte
				err = row.Scan(&path, &f.Result, &f.Reason, &f.Asset, &f.At)
				f.Path = string(path)
				return f, err
			})
			return err
		})
	return list, err
}

// ForgetFiles drops what was noted of some files of an import, because they were stored
// after all.
func (is *Imports) ForgetFiles(ctx context.Context, i library.Import, paths []string) error {
	return is.s.execTenant(ctx, i.Tenant, `DELETE FROM import_files WHERE tenant_id = $1 AND import_id = $2 AND path = ANY($3)`, i.Tenant, i.ID, byteStrings(paths))
}
