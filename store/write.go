package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Write runs fn in a transaction of the actor's tenant and commits what fn changed
// together with the operation, the journal, the audit trail and the outbox. It
// returns the operation's id, which is empty when fn recorded no change. fn runs
// again from its start when the database ends the transaction for a deadlock.
func (s *Store) Write(ctx context.Context, actor library.Actor, fn func(*Tx) error) (operationID string, err error) {
	var t *Tx
	err = s.retryDeadlock(ctx, actor.Tenant, func(tx pgx.Tx, extend func()) error {
		t = &Tx{Tx: tx, jobs: s.Jobs, extend: extend, actor: actor, call: library.CallFrom(ctx), counts: map[string]int64{}, documents: map[document]documentVersion{}}
		if err := fn(t); err != nil {
			return err
		}
		return t.finish(ctx)
	})
	if err != nil {
		return "", err
	}
	if t.notifies {
		s.notifyOutbox()
	}
	return t.operation, nil
}

// flushRows is how many rows of the journal, or of any other kind, a transaction
// collects before it sends them.
const flushRows = 1000

// Tx is a write in progress: a transaction, and what is recorded of it. Recorded
// rows are sent in batches, so that a write of any size takes little memory.
type Tx struct {
	pgx.Tx
	jobs  *Jobs
	actor library.Actor
	call  library.Call
	// extend renews the time of the transaction; nil: its time is fixed.
	extend func()

	operation string           // its id; empty until something is recorded
	continues string           // the operation that what is recorded belongs to; empty: a new one
	undoes    string           // the operation that this one undoes
	inserted  bool             // the operation has its row
	position  int64            // of the last journal entry
	counts    map[string]int64 // entries per noun
	counted   int64            // entries that the operation's row counts

	entries   []entry
	audits    []auditRow
	documents map[document]documentVersion
	events    []event
	notifies  bool // something goes to the outbox
}

// Actor returns who writes.
func (t *Tx) Actor() library.Actor { return t.actor }

// tenant returns the tenant of the transaction.
func (t *Tx) tenant() library.TenantID { return t.actor.Tenant }

// Send sends a batch of statements and, in the same round trip, what was recorded.
func (t *Tx) Send(ctx context.Context, b *pgx.Batch) error {
	t.queue(b)
	if b.Len() == 0 {
		return nil
	}
	return t.SendBatch(ctx, b).Close()
}

// flushFull sends what was recorded once it is much. No rows of another query may be
// open then.
func (t *Tx) flushFull(ctx context.Context) error {
	if max(len(t.entries), len(t.audits), len(t.documents), len(t.events)) < flushRows {
		return nil
	}
	if t.extend != nil {
		t.extend()
	}
	return t.Send(ctx, &pgx.Batch{})
}

func (t *Tx) finish(ctx context.Context) error {
	b := &pgx.Batch{}
	t.queue(b)
	if t.counted != t.position {
		b.Queue(`UPDATE operations SET summary = $3 WHERE tenant_id = $1 AND operation_id = $2`, t.tenant(), t.operation, t.counts)
	}
	if b.Len() == 0 {
		return nil
	}
	return t.SendBatch(ctx, b).Close()
}

// queue adds what was recorded since the last time to a batch.
func (t *Tx) queue(b *pgx.Batch) {
	if t.operation != "" && !t.inserted {
		t.inserted, t.counted = true, t.position
		b.Queue(`INSERT INTO operations (tenant_id, operation_id, tool, permission, actor_kind, actor_id, request_id, undoes, summary)
			VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, ''), $9)`,
			t.tenant(), t.operation, t.call.Tool, t.call.Permission, t.actor.Kind, t.actor.ID, t.call.RequestID, t.undoes, t.counts)
	}
	t.queueJournal(b)
	t.queueAudit(b)
	t.queueDocuments(b)
	t.queueEvents(b)
}
