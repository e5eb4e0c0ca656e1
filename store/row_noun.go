package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/library"
)

// rowTable describes a noun that is a row of one table. Track journals what happens
// to such rows, and undoing it needs no code.
type rowTable struct {
	table   string
	key     []string // columns that name a row beside the tenant, all of them text; values must not hold a slash, but the last
	columns []string // all other columns that are journaled and put back
	touched string   // a column that an undo sets to now(); empty: none
	label   string   // the column that people know a row by; empty: none
	// trash is the column with the time at which a row was deleted. Undoing a creation
	// sets it. Empty: undoing a creation deletes the row, and with it whatever
	// references it ON DELETE CASCADE, unrecorded; so have a trash column where there
	// is such a thing.
	trash string
}

// rowNoun makes a noun of the rows of a table.
func rowNoun(name string, r *rowTable) *Noun { return &Noun{name: name, row: r} }

// softDelete deletes a row of a noun whose deleted rows are kept, with the column deleted_at, and
// returns the operation. A row that is not there is a not-found error that names the noun.
func (s *Store) softDelete(ctx context.Context, actor library.Actor, n *Noun, id string) (operationID string, err error) {
	return s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, n, []string{id}, func() error {
			tag, err := t.Exec(ctx, `UPDATE `+n.row.table+` SET deleted_at = now(), updated_at = now() WHERE tenant_id = $1 AND `+n.row.key[0]+` = $2 AND deleted_at IS NULL`, t.tenant(), id)
			if err == nil && tag.RowsAffected() == 0 {
				err = library.NotFound(n.name)
			}
			return err
		})
	})
}

// Track runs fn, which changes rows of a noun, and records what it did to them. The
// rows with these keys are locked before; those that do not exist may be created.
func (t *Tx) Track(ctx context.Context, n *Noun, keys []string, fn func() error) error {
	before, err := n.row.states(ctx, t, keys)
	if err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	_, err = t.recordRows(ctx, n, keys, before)
	return err
}

// recordRows records how rows differ from what they were, and returns the keys of
// those that do.
func (t *Tx) recordRows(ctx context.Context, n *Noun, keys []string, before map[string]json.RawMessage) ([]string, error) {
	after, err := n.row.states(ctx, t, keys)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, k := range keys {
		was, is := any(nil), any(nil)
		if raw, ok := before[k]; ok {
			was = raw
		}
		if raw, ok := after[k]; ok {
			is = raw
		}
		position := t.position
		if err := t.Record(ctx, n, k, was, is); err != nil {
			return nil, err
		}
		if t.position != position {
			changed = append(changed, k)
		}
	}
	return changed, nil
}

// keyArrays splits keys into one array per key column.
func (r *rowTable) keyArrays(keys []string) []any {
	columns := make([][]string, len(r.key))
	for _, k := range keys {
		parts := strings.SplitN(k, "/", len(r.key))
		for i := range r.key {
			part := ""
			if i < len(parts) {
				part = parts[i]
			}
			columns[i] = append(columns[i], part)
		}
	}
	out := make([]any, len(columns))
	for i, c := range columns {
		out[i] = c
	}
	return out
}

// wanted is the keys as a table w, from parameters that begin at first, and the
// condition that joins it with the table r.
func (r *rowTable) wanted(first int) (from, join string) {
	arrays, names, on := make([]string, len(r.key)), make([]string, len(r.key)), make([]string, len(r.key))
	for i, column := range r.key {
		arrays[i], names[i] = fmt.Sprintf("$%d::text[]", first+i), fmt.Sprintf("k%d", i)
		on[i] = fmt.Sprintf("r.%s = w.k%d", column, i)
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS w(" + strings.Join(names, ", ") + ")", "r.tenant_id = $1 AND " + strings.Join(on, " AND ")
}

// prefixed lists columns of a table.
func prefixed(table string, columns []string) string {
	return table + "." + strings.Join(columns, ", "+table+".")
}

// states locks rows in the order of their keys and returns what they are; those that
// are not there are missing.
func (r *rowTable) states(ctx context.Context, t *Tx, keys []string) (map[string]json.RawMessage, error) {
	from, join := r.wanted(2)
	rows, err := t.Query(ctx, `SELECT concat_ws('/', `+prefixed("r", r.key)+`), (SELECT to_jsonb(s) FROM (SELECT `+prefixed("r", r.columns)+`) s)
		FROM `+r.table+` r JOIN `+from+` ON `+join+` ORDER BY `+prefixed("r", r.key)+` FOR UPDATE OF r`,
		append([]any{t.tenant()}, r.keyArrays(keys)...)...)
	if err != nil {
		return nil, err
	}
	states := make(map[string]json.RawMessage, len(keys))
	var key string
	var state json.RawMessage
	_, err = pgx.ForEachRow(rows, []any{&key, &state}, func() error {
		states[key] = slices.Clone(state)
		return nil
	})
	return states, err
}

// rowUndo is what an undo must do to one row.
type rowUndo struct {
	key    string
	delete bool
	insert json.RawMessage // the whole row
	update json.RawMessage // the columns to set
}

// undoRowsThen is undoRows for rows on which something else depends, such as documents
// of the index: changed is called with the keys of the rows that the undo changed.
func undoRowsThen(changed func(ctx context.Context, t *Tx, keys []string) error) undoer {
	return func(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
		outcomes, keys, err := revertRows(ctx, t, n, entries)
		if err == nil && len(keys) > 0 {
			err = changed(ctx, t, keys)
		}
		return outcomes, err
	}
}

// undoRows undoes changes of a noun that is a row of one table.
func undoRows(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
	outcomes, _, err := revertRows(ctx, t, n, entries)
	return outcomes, err
}

func revertRows(ctx context.Context, t *Tx, n *Noun, entries []entry) (outcomes []library.Outcome, changed []string, err error) {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.key
	}
	have, err := n.row.states(ctx, t, keys)
	if err != nil {
		return nil, nil, err
	}
	outcomes = make([]library.Outcome, len(entries))
	var todo []rowUndo
	place := map[string]int{}
	for i, e := range entries {
		outcomes[i] = library.Outcome{Key: e.key, Name: n.row.nameOf(have[e.key], e.before)}
		u, reason, err := n.row.plan(e, have[e.key])
		if err != nil {
			return nil, nil, err
		}
		works := u.delete || u.insert != nil || u.update != nil
		outcomes[i].Outcome, outcomes[i].Reason = outcomeOf(works, reason), reason
		if have[e.key] == nil && !works && e.after != nil {
			outcomes[i].Outcome = library.OutcomeGone
		}
		if works {
			place[e.key] = i
			todo = append(todo, u)
		}
	}
	failed, err := n.row.applyAll(ctx, t, todo)
	if err != nil {
		return nil, nil, err
	}
	for key, f := range failed {
		outcomes[place[key]].Outcome, outcomes[place[key]].Reason = f.Outcome, f.Reason
	}
	changed, err = t.recordRows(ctx, n, keys, have)
	return outcomes, changed, err
}

// plan works out what undoing an entry needs, given the row as it is; reason says why
// not all of it can be put back.
func (r *rowTable) plan(e entry, now json.RawMessage) (u rowUndo, reason string, err error) {
	u.key = e.key
	switch {
	case e.after == nil && now == nil:
		u.insert = e.before
		return u, "", nil
	case e.after == nil:
		return u, "it exists again", nil
	case now == nil:
		return u, "it was deleted since", nil
	}
	is, was, made := map[string]json.RawMessage{}, map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := errors.Join(json.Unmarshal(now, &is), json.Unmarshal(e.after, &made)); err != nil {
		return u, "", err
	}
	if e.before == nil {
		for _, column := range slices.Sorted(maps.Keys(made)) {
			if !sameJSON(is[column], made[column]) {
				return u, column + " was changed again since", nil
			}
		}
		if r.trash == "" {
			u.delete = true
		} else {
			u.update, err = json.Marshal(map[string]string{r.trash: "now"})
		}
		return u, "", err
	}
	if err := json.Unmarshal(e.before, &was); err != nil {
		return u, "", err
	}
	for _, column := range slices.Sorted(maps.Keys(made)) {
		if !sameJSON(is[column], made[column]) {
			if reason == "" {
				reason = column + " was changed again since"
			}
			delete(was, column)
		}
	}
	if len(was) > 0 {
		u.update, err = json.Marshal(was)
	}
	return u, reason, err
}

// sameJSON compares values that the database wrote; a missing one is null.
func sameJSON(a, b json.RawMessage) bool {
	missing := func(v json.RawMessage) bool { return v == nil || string(v) == "null" }
	return string(a) == string(b) || missing(a) && missing(b)
}

// nameOf returns what people call a row, as the first state that has it says.
func (r *rowTable) nameOf(states ...json.RawMessage) string {
	for _, s := range states {
		var fields map[string]any
		if r.label == "" || s == nil || json.Unmarshal(s, &fields) != nil {
			continue
		}
		if name, ok := fields[r.label].(string); ok {
			return name
		}
	}
	return ""
}

// applyAll undoes rows together. Where a constraint refuses that, it undoes them one by
// one and returns the outcomes of those that are refused.
func (r *rowTable) applyAll(ctx context.Context, t *Tx, todo []rowUndo) (map[string]library.Outcome, error) {
	if len(todo) == 0 {
		return nil, nil
	}
	refusal, err := r.apply(ctx, t, todo)
	if err != nil || refusal == nil {
		return nil, err
	}
	failed := map[string]library.Outcome{}
	for _, u := range todo {
		refusal, err := r.apply(ctx, t, []rowUndo{u})
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			failed[u.key] = *refusal
		}
	}
	return failed, nil
}

// apply undoes rows in a savepoint. A refusal is a constraint's; then nothing is changed.
func (r *rowTable) apply(ctx context.Context, t *Tx, todo []rowUndo) (refusal *library.Outcome, err error) {
	err = pgx.BeginFunc(ctx, t.Tx, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		var deleted []string
		for _, u := range todo {
			switch {
			case u.delete:
				deleted = append(deleted, u.key)
			case u.insert != nil:
				r.queueInsert(b, t, u)
			default:
				r.queueUpdate(b, t, u)
			}
		}
		if len(deleted) > 0 {
			from, join := r.wanted(2)
			b.Queue(`DELETE FROM `+r.table+` r USING `+from+` WHERE `+join, append([]any{t.tenant()}, r.keyArrays(deleted)...)...)
		}
		return tx.SendBatch(ctx, b).Close()
	})
	return refusalOf(err)
}

func (r *rowTable) queueInsert(b *pgx.Batch, t *Tx, u rowUndo) {
	columns := strings.Join(r.columns, ", ")
	keys := make([]string, len(r.key))
	args := []any{t.tenant(), string(u.insert)}
	for i, part := range strings.SplitN(u.key, "/", len(r.key)) {
		keys[i] = fmt.Sprintf("$%d", i+3)
		args = append(args, part)
	}
	b.Queue(`INSERT INTO `+r.table+` (tenant_id, `+strings.Join(r.key, ", ")+`, `+columns+`)
		SELECT $1, `+strings.Join(keys, ", ")+`, `+columns+` FROM jsonb_populate_record(NULL::`+r.table+`, $2::jsonb)`, args...)
}

func (r *rowTable) queueUpdate(b *pgx.Batch, t *Tx, u rowUndo) {
	from, join := r.wanted(3)
	touched := ""
	if r.touched != "" {
		touched = r.touched + ` = now(), `
	}
	b.Queue(`UPDATE `+r.table+` r SET `+touched+`(`+strings.Join(r.columns, ", ")+`) =
			(SELECT `+prefixed("p", r.columns)+` FROM jsonb_populate_record(r, $2::jsonb) p)
		FROM `+from+` WHERE `+join, append([]any{t.tenant(), string(u.update)}, r.keyArrays([]string{u.key})...)...)
}

// refusalOf tells a constraint that an undone row would break from other errors.
func refusalOf(err error) (*library.Outcome, error) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return nil, err
	}
	switch pg.Code {
	case "23505":
		return &library.Outcome{Outcome: library.OutcomeConflict, Reason: "something else has its name now"}, nil
	case "23503":
		if strings.Contains(pg.Message, "is still referenced") || strings.HasPrefix(pg.Message, "update or delete") {
			return &library.Outcome{Outcome: library.OutcomeConflict, Reason: "something else refers to it now"}, nil
		}
		return &library.Outcome{Outcome: library.OutcomeGone, Reason: "what it belongs to was deleted"}, nil
	case "23514", "23502":
		return &library.Outcome{Outcome: library.OutcomeConflict, Reason: "it is not valid any more"}, nil
	}
	return nil, err
}
