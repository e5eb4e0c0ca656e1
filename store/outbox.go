package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/store/indexstate"
)

// Outbox holds what committed transactions have for the index, until it is published.
type Outbox struct{ s *Store }

// OutboxRow asks an index to look at something again.
type OutboxRow struct {
	Seq   int64
	Index string
	indexstate.DocumentKey
	DocVersion int64 // when the row was written; the index reads the current one
	Reason     string
	CreatedAt  time.Time
}

// Claim hands the oldest outbox rows that nobody else has claimed to
// publish, at most limit of them and ordered by Seq, and deletes them once
// publish returns nil. When publish fails, or the process dies, the rows stay and
// are handed out again, so a row is published at least once. Several callers may
// claim at once. It reports how many rows were published.
//
// Rows are claimed, never read past a remembered number: sequences commit out of
// order, and a reader that remembers its position skips the late ones for good.
func (ob *Outbox) Claim(ctx context.Context, limit int, publish func([]OutboxRow) error) (int, error) {
	n := 0
	err := pgx.BeginFunc(ctx, ob.s.indexer, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			DELETE FROM outbox WHERE seq IN (
				SELECT seq FROM outbox WHERE topic = 'documents' ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED)
			RETURNING seq, index_name, tenant_id::text, key, doc_version, reason, created_at`, limit)
		if err != nil {
			return err
		}
		claimed, err := pgx.CollectRows(rows, scanOutbox)
		if err != nil || len(claimed) == 0 {
			return err
		}
		slices.SortFunc(claimed, func(a, b OutboxRow) int { return int(a.Seq - b.Seq) })
		n = len(claimed)
		return publish(claimed)
	})
	if err != nil {
		return 0, unavailable(err)
	}
	return n, nil
}

func scanOutbox(row pgx.CollectableRow) (OutboxRow, error) {
	var r OutboxRow
	err := row.Scan(&r.Seq, &r.Index, &r.Tenant, &r.Key, &r.DocVersion, &r.Reason, &r.CreatedAt)
	return r, err
}

// Backlog reports how many rows wait in the outbox and how old the oldest
// is; zero when there are none.
func (ob *Outbox) Backlog(ctx context.Context) (rows int64, oldest time.Duration, err error) {
	var seconds float64
	err = ob.s.indexer.QueryRow(ctx, `
		SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 FROM outbox WHERE topic = 'documents'`).
		Scan(&rows, &seconds)
	return rows, time.Duration(max(seconds, 0) * float64(time.Second)), unavailable(err)
}

// EnqueueReindex puts documents of an index into the outbox again without a change of
// what they show, for repairs.
func (ob *Outbox) EnqueueReindex(ctx context.Context, index, reason string, documents []indexstate.DocumentVersion) error {
	if len(documents) == 0 {
		return nil
	}
	tenants, keys := make([]string, len(documents)), make([]string, len(documents))
	versions := make([]int64, len(documents))
	for i, d := range documents {
		tenants[i], keys[i], versions[i] = string(d.Tenant), d.Key, d.Version
	}
	_, err := ob.s.indexer.Exec(ctx, `
		INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name)
		SELECT t, k, v, $4, $5 FROM unnest($1::text[]::uuid[], $2::text[], $3::bigint[]) AS d(t, k, v)`,
		tenants, keys, versions, reason, index)
	if err == nil {
		ob.s.notifyOutbox()
	}
	return unavailable(err)
}

// Listen calls wake whenever rows have come into the outbox. It blocks on
// a connection of its own until ctx ends or that connection breaks, and returns
// the error that ended it. Whoever calls it polls as well: a notification that
// is sent while nobody listens is lost.
func (ob *Outbox) Listen(ctx context.Context, wake func()) error {
	return ob.s.listen(ctx, OutboxChannel, wake)
}

func (s *Store) listen(ctx context.Context, channel string, wake func()) error {
	pooled, err := s.indexer.Acquire(ctx)
	if err != nil {
		return unavailable(err)
	}
	conn := pooled.Hijack()
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		return unavailable(err)
	}
	for {
		wake()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return unavailable(err)
		}
	}
}
