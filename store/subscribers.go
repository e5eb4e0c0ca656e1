package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Subscribers keeps the positions and the dead letters of those who receive events.
type Subscribers struct{ s *Store }

// Add makes sure that a subscriber has its positions. A new one begins with
// the next event, or with the oldest that is kept when fromStart is true.
func (sub *Subscribers) Add(ctx context.Context, name string, fromStart bool) error {
	_, err := sub.s.indexer.Exec(ctx, `INSERT INTO subscriber_positions (subscriber, shard, position)
		SELECT $1, n, CASE WHEN $2 THEN 0 ELSE coalesce(s.position, 0) END
		FROM generate_series(0, $3 - 1) AS n LEFT JOIN event_shards s ON s.shard = n ON CONFLICT DO NOTHING`, name, fromStart, EventShards)
	return unavailable(err)
}

// Has reports whether there has ever been a subscriber of this name.
func (sub *Subscribers) Has(ctx context.Context, name string) (found bool, err error) {
	err = sub.s.indexer.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM subscriber_positions WHERE subscriber = $1)`, name).Scan(&found)
	return found, unavailable(err)
}

// DeadLetter is an event that a subscriber failed to handle, and why.
type DeadLetter struct {
	LoggedEvent
	Reason string
}

// ShardTurn is a subscriber's turn at one shard: nobody else handles events of the
// shard for it meanwhile.
type ShardTurn struct {
	tx         pgx.Tx
	subscriber string
	shard      int
	// Position is how far the subscriber is.
	Position int64
}

// TakeShard runs fn while the subscriber's position in the shard is locked, and commits
// what fn has handled even when it fails. Where another process has the shard, TakeShard
// waits for it; with skip it returns at once.
func (sub *Subscribers) TakeShard(ctx context.Context, subscriber string, shard int, skip bool, fn func(*ShardTurn) error) error {
	var failed error
	err := pgx.BeginFunc(ctx, sub.s.indexer, func(tx pgx.Tx) error {
		sql := `SELECT position FROM subscriber_positions WHERE subscriber = $1 AND shard = $2 FOR UPDATE`
		if skip {
			sql += ` SKIP LOCKED`
		}
		rows, err := tx.Query(ctx, sql, subscriber, shard)
		if err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil || len(have) == 0 {
			return err
		}
		failed = fn(&ShardTurn{tx: tx, subscriber: subscriber, shard: shard, Position: have[0]})
		if failed != nil && tx.Conn().IsClosed() {
			return failed
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return unavailable(err)
}

// Next reads the events of the shard that follow its position, at most limit of them.
func (t *ShardTurn) Next(ctx context.Context, limit int) ([]LoggedEvent, error) {
	rows, err := t.tx.Query(ctx, `SELECT `+eventColumns+` FROM events WHERE shard = $1 AND position > $2 ORDER BY position LIMIT $3`, t.shard, t.Position, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanEvent)
}

// Handled moves the position to one that has been handled.
func (t *ShardTurn) Handled(ctx context.Context, position int64) error {
	_, err := t.tx.Exec(ctx, `UPDATE subscriber_positions SET position = $3 WHERE subscriber = $1 AND shard = $2`, t.subscriber, t.shard, position)
	if err == nil {
		t.Position = position
	}
	return err
}

// Keep keeps the turn while an event takes long: the database ends a transaction that
// is idle for a minute.
func (t *ShardTurn) Keep(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, `SELECT 1`)
	return err
}

// DeadLetter puts an event among the subscriber's dead letters.
func (t *ShardTurn) DeadLetter(ctx context.Context, e LoggedEvent, reason string) error {
	_, err := t.tx.Exec(ctx, `INSERT INTO dead_letters (subscriber, position, tenant_id, type, key, payload, event_at, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (subscriber, position) DO UPDATE SET reason = excluded.reason, at = now()`,
		t.subscriber, e.Position, e.Tenant, e.Type, e.Key, e.Payload, e.At, reason)
	return err
}

// LateShards lists the shards that have an event which the subscriber has not handled
// and which is older than the given age.
func (sub *Subscribers) LateShards(ctx context.Context, subscriber string, age time.Duration) ([]int, error) {
	return collectIndexer(ctx, sub.s, `SELECT p.shard FROM subscriber_positions p WHERE p.subscriber = $1
		AND EXISTS (SELECT 1 FROM events e WHERE e.shard = p.shard AND e.position > p.position AND e.at < clock_timestamp() - $2::interval) ORDER BY p.shard`, pgx.RowTo[int], subscriber, age)
}

// SubscriberState is how far a subscriber is.
type SubscriberState struct {
	Name        string
	Waiting     int64         // events of the log that it has not handled; counted up to 100,000
	Oldest      time.Duration // age of the oldest of them
	DeadLetters int64
}

// States describes every subscriber there has been, by name.
func (sub *Subscribers) States(ctx context.Context) ([]SubscriberState, error) {
	return collectIndexer(ctx, sub.s, `
		SELECT n.subscriber, w.waiting, coalesce(extract(epoch FROM clock_timestamp() - w.oldest), 0)::float8,
			(SELECT count(*) FROM dead_letters d WHERE d.subscriber = n.subscriber)
		FROM (SELECT DISTINCT subscriber FROM subscriber_positions) n
		CROSS JOIN LATERAL (SELECT count(*) AS waiting, min(at) AS oldest FROM (
			SELECT e.at FROM subscriber_positions p JOIN events e ON e.shard = p.shard AND e.position > p.position
			WHERE p.subscriber = n.subscriber LIMIT 100000) AS x) w
		ORDER BY n.subscriber`, func(row pgx.CollectableRow) (x SubscriberState, err error) {
		var seconds float64
		err = row.Scan(&x.Name, &x.Waiting, &seconds, &x.DeadLetters)
		x.Oldest = time.Duration(max(seconds, 0) * float64(time.Second))
		return x, err
	})
}

// DeadLetters lists a subscriber's dead letters after a position, at most limit of them.
func (sub *Subscribers) DeadLetters(ctx context.Context, subscriber string, after int64, limit int) ([]DeadLetter, error) {
	return collectIndexer(ctx, sub.s, `SELECT position, tenant_id::text, type, key, payload, event_at, reason FROM dead_letters
		WHERE subscriber = $1 AND position > $2 ORDER BY position LIMIT $3`, func(row pgx.CollectableRow) (d DeadLetter, err error) {
		err = row.Scan(&d.Position, &d.Tenant, &d.Type, &d.Key, &d.Payload, &d.At, &d.Reason)
		return d, err
	}, subscriber, after, limit)
}

// ReplayDeadLetters asks a subscriber to try its dead letters again, and reports how
// many there are.
func (sub *Subscribers) ReplayDeadLetters(ctx context.Context, subscriber string) (int64, error) {
	tag, err := sub.s.indexer.Exec(ctx, `UPDATE dead_letters SET replay = true WHERE subscriber = $1`, subscriber)
	return tag.RowsAffected(), unavailable(err)
}

// Replay hands one dead letter that is to be tried again to handle. It is deleted when
// handle returns nil, and stays with the new reason otherwise. It reports whether there
// was one.
func (sub *Subscribers) Replay(ctx context.Context, subscriber string, handle func(LoggedEvent) error) (found bool, err error) {
	err = pgx.BeginFunc(ctx, sub.s.indexer, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT position, 0, 0::bigint, tenant_id::text, type, key, payload, event_at FROM dead_letters
			WHERE subscriber = $1 AND replay ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED`, subscriber)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, scanEvent)
		if err != nil || len(list) == 0 {
			return err
		}
		found = true
		if failed := handle(list[0]); failed != nil {
			_, err = tx.Exec(ctx, `UPDATE dead_letters SET replay = false, reason = $3, at = now() WHERE subscriber = $1 AND position = $2`,
				subscriber, list[0].Position, Reason(failed))
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM dead_letters WHERE subscriber = $1 AND position = $2`, subscriber, list[0].Position)
		return err
	})
	return found, unavailable(err)
}

// maxReason bounds why something failed, in characters.
const maxReason = 500

// Reason returns an error's words as they are kept of a dead letter.
func Reason(err error) string {
	words := []rune(strings.ToValidUTF8(err.Error(), "?"))
	return strings.ReplaceAll(string(words[:min(len(words), maxReason)]), "\x00", "")
}
