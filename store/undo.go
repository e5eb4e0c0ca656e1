package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// UndoResult is what became of an undo.
type UndoResult struct {
	ChangeResult
	Tool      string // the operation's own tool
	At        time.Time
	Conflicts []UndoConflict // assets left as they are, with the reason
	Versions  []UndoneVersion
}

// UndoConflict is one asset that an undo could not put back.
type UndoConflict struct {
	Hash   library.AssetHash
	Reason string
}

// Undo puts back what an operation changed, as an operation of its own that can
// itself be undone. A field that somebody changed since stays as it is and is
// reported; tags are put back one by one, so a tag added later survives. Undoing
// the upload of a file moves the asset to the trash.
func (s *Store) Undo(ctx context.Context, actor library.Actor, tool, operationID string) (UndoResult, error) {
	var out UndoResult
	err := s.retryDeadlock(ctx, actor.Tenant, func(tx pgx.Tx) error {
		out = UndoResult{}
		var undoneBy *string
		err := tx.QueryRow(ctx, `SELECT tool, at, undone_by FROM operations WHERE tenant_id = $1 AND operation_id = $2 FOR UPDATE`,
			actor.Tenant, operationID).Scan(&out.Tool, &out.At, &undoneBy)
		if errors.Is(err, pgx.ErrNoRows) {
			return library.NotFound("operation")
		}
		if err != nil {
			return err
		}
		if undoneBy != nil {
			return library.NewError(library.KindConflict, library.CodeAlreadyUndone,
				"This operation was already undone by operation %s. Undo that one to redo the change.", *undoneBy)
		}
		list, err := s.planUndo(ctx, tx, actor.Tenant, operationID, &out)
		if err != nil {
			return err
		}
		if out.ChangeResult, err = applyChanges(ctx, tx, actor, tool, list); err != nil {
			return err
		}
		if err := undoVersions(ctx, tx, actor, tool, operationID, &out); err != nil {
			return err
		}
		if out.OperationID == "" {
			return nil
		}
		_, err = tx.Exec(ctx, `UPDATE operations SET undone_by = $3 WHERE tenant_id = $1 AND operation_id = $2`,
			actor.Tenant, operationID, out.OperationID)
		return err
	})
	if err == nil && out.OperationID != "" {
		s.notifyOutbox()
	}
	return out, err
}

// planUndo works out what each asset of an operation must become.
func (s *Store) planUndo(ctx context.Context, tx pgx.Tx, tenant library.TenantID, operationID string, out *UndoResult) ([]change, error) {
	type record struct {
		Hash          library.AssetHash
		Before, After fields
	}
	rows, err := tx.Query(ctx, `SELECT asset_h, before, after FROM operation_changes WHERE tenant_id = $1 AND operation_id = $2 ORDER BY asset_h`,
		tenant, operationID)
	if err != nil {
		return nil, err
	}
	records, err := pgx.CollectRows(rows, pgx.RowToStructByPos[record])
	if err != nil {
		return nil, err
	}
	hashes := make([]library.AssetHash, len(records))
	var moving []library.AssetHash
	for i, r := range records {
		hashes[i] = r.Hash
		if r.After.Trashed != nil {
			moving = append(moving, r.Hash)
		}
	}
	if len(moving) > 0 {
		if err := lockLineage(ctx, tx, tenant, moving); err != nil {
			return nil, err
		}
	}
	have, err := lockAssets(ctx, tx, tenant, hashes)
	if err != nil {
		return nil, err
	}
	var list []change
	for _, r := range records {
		a, ok := have[r.Hash]
		if !ok {
			out.Conflicts = append(out.Conflicts, UndoConflict{r.Hash, "the asset is gone"})
			continue
		}
		after, reason := revertFields(a, r.Before, r.After)
		if reason != "" {
			out.Conflicts = append(out.Conflicts, UndoConflict{r.Hash, reason})
		}
		link, linkReason, err := undoLink(ctx, tx, tenant, r.Hash, r.Before, r.After)
		if err != nil {
			return nil, err
		}
		if linkReason != "" {
			out.Conflicts = append(out.Conflicts, UndoConflict{r.Hash, linkReason})
		}
		list = append(list, change{before: a, after: after, link: link})
	}
	return list, nil
}

// revertFields gives an asset with the fields as they were before, where nobody
// changed them since. reason names the first field that was.
func revertFields(a library.Asset, before, after fields) (result library.Asset, reason string) {
	restore := func(name string, same bool, set func()) {
		switch {
		case same:
			set()
		case reason == "":
			reason = name + " was changed again since"
		}
	}
	if after.Title != nil {
		restore("title", a.Title == *after.Title, func() { a.Title = *before.Title })
	}
	if after.Description != nil {
		restore("description", a.Description == *after.Description, func() { a.Description = *before.Description })
	}
	if after.Status != nil {
		restore("status", a.Status == *after.Status, func() { a.Status = *before.Status })
	}
	if after.Trashed != nil {
		restore("trash", a.Trashed == *after.Trashed, func() { a.Trashed = *before.Trashed })
	}
	if after.Tags != nil {
		added := library.RemoveTags(*after.Tags, *before.Tags)
		removed := library.RemoveTags(*before.Tags, *after.Tags)
		if kept := library.RemoveTags(a.Tags, added); len(removed) == 0 {
			a.Tags = kept
		} else {
			a.Tags = restoreOrder(library.MergeTags(kept, removed), *before.Tags)
		}
	}
	return a, reason
}

// restoreOrder sorts the tags of before to their old places and leaves the others behind them.
func restoreOrder(tags, before []string) []string {
	old := library.RemoveTags(before, library.RemoveTags(before, tags))
	return library.MergeTags(old, tags)
}
