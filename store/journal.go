package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Noun is a kind of thing that writes change. Each has one value beside its store
// code, which registers it.
type Noun struct {
	name string // part of the API, for example saved_search
	// personal means that values are personal data: the audit trail, which is kept
	// longer than the journal, gets the names of the changed fields only.
	personal bool
	// event returns the type of the event that a change is; nil: the noun's name with
	// ".created", ".updated" or ".deleted".
	event  func(before, after json.RawMessage) string
	events []string  // every type that event returns
	row    *rowTable // the table that the things are rows of; nil for nouns that Track does not know
	undo   undoer    // see register
}

// Name returns the noun's name.
func (n *Noun) Name() string { return n.name }

// undoer puts back what entries changed and records that. The entries are of one noun,
// the newest first, no key twice. It locks rows in the order of their keys.
type undoer func(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error)

// registered is every noun that operations change.
var registered []*Noun

// register makes a noun known with how changes of it are undone. Each file does so for its own
// nouns in init: an undoer refers to its noun, so a noun's declaration cannot name it.
func register(n *Noun, undo undoer) {
	n.undo = undo
	registered = append(registered, n)
}

// Nouns lists the names of everything that operations change, sorted.
func Nouns() []string {
	var names []string
	for _, n := range registered {
		names = append(names, n.name)
	}
	slices.Sort(names)
	return names
}

// entry is a row of the journal: one thing and how one operation changed it.
type entry struct {
	noun     *Noun
	key      string
	position int64
	before   json.RawMessage // nil: the operation created it
	after    json.RawMessage // nil: the operation deleted it
}

// Record adds a change to the operation: to its journal, which undoes it, and to the
// audit trail, and emits the event of it. before and after encode to JSON objects; nil means that the thing was
// not there, or is not any more. Of an update only the fields that differ are kept,
// and nothing is recorded when none does.
func (t *Tx) Record(ctx context.Context, n *Noun, key string, before, after any) error {
	old, err := encodeState(before)
	if err != nil {
		return fmt.Errorf("recording a change of %s: %w", n.name, err)
	}
	now, err := encodeState(after)
	if err != nil {
		return fmt.Errorf("recording a change of %s: %w", n.name, err)
	}
	if old != nil && now != nil {
		if old, now, err = changedFields(old, now); err != nil {
			return fmt.Errorf("recording a change of %s: %w", n.name, err)
		}
	}
	if old == nil && now == nil {
		return nil
	}
	if n.undo == nil {
		return fmt.Errorf("the noun %s is not registered, so its changes could not be undone", n.name)
	}
	if t.operation == "" {
		t.operation = cmp.Or(t.continues, newID())
	}
	t.position++
	t.counts[n.name]++
	e := entry{noun: n, key: key, position: t.position, before: old, after: now}
	t.entries = append(t.entries, e)
	t.audits = append(t.audits, e.audit())
	if err := t.emitChange(ctx, e); err != nil {
		return err
	}
	return t.flushFull(ctx)
}

// encodeState encodes one side of a change; nil stays nil.
func encodeState(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	return jsonb(v)
}

// changedFields keeps the fields that differ, a missing one being null; both are nil
// when none differs.
func changedFields(before, after json.RawMessage) (old, now json.RawMessage, err error) {
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(before, &was); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(after, &is); err != nil {
		return nil, nil, err
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			is[name] = json.RawMessage("null")
		}
	}
	for name, value := range is {
		if _, ok := was[name]; !ok {
			was[name] = json.RawMessage("null")
		}
		if bytes.Equal(was[name], value) {
			delete(was, name)
			delete(is, name)
		}
	}
	if len(is) == 0 {
		return nil, nil, nil
	}
	if old, err = json.Marshal(was); err != nil {
		return nil, nil, err
	}
	now, err = json.Marshal(is)
	return old, now, err
}

func (t *Tx) queueJournal(b *pgx.Batch) {
	if len(t.entries) == 0 {
		return
	}
	n := len(t.entries)
	positions, names, keys := make([]int64, n), make([]string, n), make([]string, n)
	before, after := make([]*string, n), make([]*string, n)
	for i, e := range t.entries {
		positions[i], names[i], keys[i], before[i], after[i] = e.position, e.noun.name, e.key, text(e.before), text(e.after)
	}
	t.entries = t.entries[:0]
	b.Queue(`INSERT INTO journal (tenant_id, operation_id, position, noun, key, before, after)
		SELECT $1, $2, p, n, k, b::jsonb, a::jsonb FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[]) AS j(p, n, k, b, a)`,
		t.tenant(), t.operation, positions, names, keys, before, after)
}

// text returns JSON as a parameter; nil as SQL's null.
func text(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	s := string(raw)
	return &s
}
