package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// LastOperation, in place of an operation's id, means the last operation of the same
// credential that is not undone and is no undo itself.
const LastOperation = "last"

func outcomeOf(changed bool, reason string) string {
	switch {
	case reason == "":
		return library.OutcomeReverted
	case changed:
		return library.OutcomePartial
	}
	return library.OutcomeKept
}

// MaxOutcomes is how many outcomes an UndoResult lists; it counts all.
const MaxOutcomes = 1000

// UndoResult is what became of an undo.
type UndoResult struct {
	OperationID string // of the undo, which can be undone; empty when it changed nothing
	Undone      library.Operation
	Outcomes    []library.Outcome // the first MaxOutcomes
	Counts      map[string]int64  // how many of each outcome
}

// Undo puts back what an operation changed, as an operation of its own that can
// itself be undone. A field that somebody changed since stays as it is and is
// reported; tags are put back one by one, so a tag added later survives. May is asked
// whether the actor may undo the operation; LastOperation stands for its id.
func (ops *Operations) Undo(ctx context.Context, actor library.Actor, operationID string, may func(library.Operation) error) (UndoResult, error) {
	var out UndoResult
	id, err := ops.s.Write(ctx, actor, func(t *Tx) (err error) {
		out = UndoResult{Outcomes: []library.Outcome{}, Counts: map[string]int64{}}
		if out.Undone, err = t.lockOperation(ctx, operationID); err != nil {
			return err
		}
		if by := out.Undone.UndoneBy; by != "" {
			return library.NewError(library.KindConflict, library.CodeAlreadyUndone,
				"This operation was already undone by operation %s. Undo that one to redo the change.", by)
		}
		if err := may(out.Undone); err != nil {
			return err
		}
		if err := t.refuseRunning(ctx, out.Undone.ID); err != nil {
			return err
		}
		t.undoes, t.call.Permission = out.Undone.ID, out.Undone.Permission
		if err := t.undo(ctx, &out); err != nil || t.operation == "" {
			return err
		}
		if err := t.emitUndone(ctx, out.Undone.ID); err != nil {
			return err
		}
		_, err = t.Exec(ctx, `UPDATE operations SET undone_by = $3 WHERE tenant_id = $1 AND operation_id = $2`, t.tenant(), out.Undone.ID, t.operation)
		return err
	})
	out.OperationID = id
	return out, err
}

// lockOperation reads an operation and keeps others from undoing it.
func (t *Tx) lockOperation(ctx context.Context, id string) (library.Operation, error) {
	sql, args := `SELECT `+operationColumns+` FROM operations o WHERE tenant_id = $1 AND operation_id = $2 AND `+visibleOperation("$3")+` FOR UPDATE OF o`,
		[]any{t.tenant(), id, viewer(t.actor)}
	if id == LastOperation {
		sql = `SELECT ` + operationColumns + ` FROM operations WHERE tenant_id = $1 AND actor_id = $2 AND actor_kind = $3
			AND undone_by IS NULL AND undoes IS NULL AND summary <> '{}' ORDER BY operation_id DESC LIMIT 1 FOR UPDATE`
		args = []any{t.tenant(), t.actor.ID, t.actor.Kind}
	}
	rows, err := t.Query(ctx, sql, args...)
	if err != nil {
		return library.Operation{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOperation)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, library.NotFound("operation")
	}
	return o, err
}

// undo reads the journal of the operation from its end and puts back page by page.
func (t *Tx) undo(ctx context.Context, out *UndoResult) error {
	last := int64(1) << 62
	for {
		page, err := t.journalPage(ctx, out.Undone.ID, last)
		if err != nil || len(page) == 0 {
			return err
		}
		last = page[len(page)-1].position
		for _, group := range groupEntries(page) {
			outcomes, err := group[0].noun.undo(ctx, t, group[0].noun, group)
			if err != nil {
				return fmt.Errorf("undoing changes of %s: %w", group[0].noun.name, err)
			}
			for _, o := range outcomes {
				o.Noun = group[0].noun.name
				if out.Counts[o.Outcome]++; len(out.Outcomes) < MaxOutcomes {
					out.Outcomes = append(out.Outcomes, o)
				}
			}
		}
	}
}

// journalPage reads the last entries of an operation before a position, the newest first.
func (t *Tx) journalPage(ctx context.Context, operationID string, before int64) ([]entry, error) {
	rows, err := t.Query(ctx, `SELECT position, noun, key, before, after FROM journal
		WHERE tenant_id = $1 AND operation_id = $2 AND position < $3 ORDER BY position DESC LIMIT $4`, t.tenant(), operationID, before, flushRows)
	if err != nil {
		return nil, err
	}
	known := map[string]*Noun{}
	for _, n := range registered {
		known[n.name] = n
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e entry, err error) {
		var name string
		var old, now *json.RawMessage
		if err := row.Scan(&e.position, &name, &e.key, &old, &now); err != nil {
			return e, err
		}
		if e.noun = known[name]; e.noun == nil {
			return e, fmt.Errorf("the journal has changes of %q, which this version does not know", name)
		}
		if old != nil {
			e.before = *old
		}
		if now != nil {
			e.after = *now
		}
		return e, nil
	})
}

// groupEntries splits entries into runs of one noun in which no key comes twice.
func groupEntries(page []entry) [][]entry {
	var groups [][]entry
	var seen map[string]bool
	for i, e := range page {
		if i == 0 || e.noun != page[i-1].noun || seen[e.key] {
			groups, seen = append(groups, nil), map[string]bool{}
		}
		seen[e.key] = true
		groups[len(groups)-1] = append(groups[len(groups)-1], e)
	}
	return groups
}
