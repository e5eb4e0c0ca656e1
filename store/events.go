package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Events is the log of events.
type Events struct{ s *Store }

// LoggedEvent is an event of the log.
type LoggedEvent struct {
	Position int64 // in the order of commits, without gaps
	Shard    int   // of the tenant and the key, below EventShards
	Previous int64 // the position before this one in the same shard; 0 for the first
	Tenant   library.TenantID
	Type     string
	Key      string
	Payload  json.RawMessage // an object
	At       time.Time       // when the change was written, or nearly
}

// EventShards is how many shards the log has. Events of one key are in one shard.
const EventShards = 16

// EventRetention is how long events stay in the log.
const EventRetention = 30 * 24 * time.Hour

// EventsChannel is the NOTIFY channel on which new events of the log are announced.
const EventsChannel = "events"

const eventColumns = `position, shard, previous, tenant_id::text, type, key, payload, at`

func scanEvent(row pgx.CollectableRow) (e LoggedEvent, err error) {
	err = row.Scan(&e.Position, &e.Shard, &e.Previous, &e.Tenant, &e.Type, &e.Key, &e.Payload, &e.At)
	return e, err
}

// eventLock is the advisory lock under which positions are given.
const eventLock = 0x76696576

// Log moves events from the outbox to the log, at most limit of them, and
// reports how many there were. One caller at a time does so, so positions are in the
// order of commits.
func (ev *Events) Log(ctx context.Context, limit int) (n int, err error) {
	err = pgx.BeginFunc(ctx, ev.s.indexer, func(tx pgx.Tx) error {
		var first bool
		if err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, eventLock).Scan(&first); err != nil || !first {
			return err
		}
		if err := tx.QueryRow(ctx, `
			WITH moved AS (
				DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE topic = 'events' ORDER BY seq LIMIT $1 FOR UPDATE SKIP LOCKED)
				RETURNING seq, tenant_id, type, key, payload, created_at
			), log AS (
				SELECT coalesce(max(position), 0) AS head FROM event_shards
			), placed AS (
				SELECT m.*, log.head + row_number() OVER (ORDER BY seq) AS position,
					(hashtextextended(tenant_id::text || '/' || key, 0) & $2 - 1)::smallint AS shard
				FROM moved m, log
			), heads AS (
				INSERT INTO event_shards AS s (shard, position) SELECT shard, max(position) FROM placed GROUP BY shard
				ON CONFLICT (shard) DO UPDATE SET position = excluded.position
			), added AS (
				INSERT INTO events (position, shard, previous, tenant_id, type, key, payload, at)
				SELECT p.position, p.shard, lag(p.position, 1, coalesce(s.position, 0)) OVER (PARTITION BY p.shard ORDER BY p.position), tenant_id, type, key, payload, created_at
				FROM placed p LEFT JOIN event_shards s USING (shard) RETURNING 1
			)
			SELECT count(*) FROM added`, limit, EventShards).Scan(&n); err != nil || n == 0 {
			return err
		}
		_, err := tx.Exec(ctx, `SELECT pg_notify($1, '')`, EventsChannel)
		return err
	})
	return n, unavailable(err)
}

// Publish hands the events of the log that are not published yet to publish, at
// most limit of them in the order of positions, and remembers that they are once
// publish returns nil. It does nothing while another caller publishes. It reports how
// many were published.
func (ev *Events) Publish(ctx context.Context, limit int, publish func([]LoggedEvent) error) (n int, err error) {
	err = pgx.BeginFunc(ctx, ev.s.indexer, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO event_publishing DEFAULT VALUES ON CONFLICT DO NOTHING`); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `WITH mark AS MATERIALIZED (SELECT position FROM event_publishing FOR UPDATE SKIP LOCKED)
			SELECT `+eventColumns+` FROM events WHERE position > (SELECT position FROM mark) ORDER BY position LIMIT $1`, limit)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(rows, scanEvent)
		if err != nil || len(list) == 0 {
			return err
		}
		if err := publish(list); err != nil {
			return err
		}
		n = len(list)
		_, err = tx.Exec(ctx, `UPDATE event_publishing SET position = $1`, list[n-1].Position)
		return err
	})
	return n, unavailable(err)
}

// Forget deletes events that are older than EventRetention, at most limit of
// them, and reports how many. What is not published yet stays.
func (ev *Events) Forget(ctx context.Context, limit int) (int64, error) {
	tag, err := ev.s.indexer.Exec(ctx, `DELETE FROM events WHERE at < now() - $1::interval AND position IN (
		SELECT position FROM events WHERE position <= (SELECT position FROM event_publishing) ORDER BY position LIMIT $2)`, EventRetention, limit)
	return tag.RowsAffected(), unavailable(err)
}

// After returns the events of the actor's tenant that follow a position, at most
// limit of them, without those of assets that the actor does not see. Types limits them
// to those types; nil means all.
func (ev *Events) After(ctx context.Context, actor library.Actor, after int64, types []string, limit int) (list []LoggedEvent, err error) {
	err = ev.s.readTenant(ctx, actor.Tenant, `SELECT `+eventColumns+` FROM events e
		WHERE tenant_id = $1 AND position > $2 AND ($3::text[] IS NULL OR type = ANY($3)) AND `+visibleEvent("$5")+` ORDER BY position LIMIT $4`,
		[]any{actor.Tenant, after, types, limit, viewer(actor)}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanEvent)
			return err
		})
	return list, err
}

// visibleEvent returns the condition under which a caller sees an event e: its key, the
// noun and then the key of the thing, does not begin with an asset that the caller does
// not see, whatever the noun, nor ends with one where it is a pair, and is not an annotation that is private to another. The undo of an operation is seen by whoever sees the
// operation; once the operation has expired nobody knows what it changed, so only
// callers that see everything still do.
func visibleEvent(caller string) string {
	return `(` + caller + ` = '*' OR NOT EXISTS (
		SELECT FROM assets a WHERE a.tenant_id = e.tenant_id AND a.asset_h = substring(e.key FROM '/([0-9a-f]{40})(?:/|$)') AND NOT ` + visibleTo("a", caller) + `)
		AND (e.key NOT LIKE 'unlinked_duplicate/%' OR NOT EXISTS (SELECT FROM assets a
			WHERE a.tenant_id = e.tenant_id AND a.asset_h = right(e.key, 40) AND NOT ` + visibleTo("a", caller) + `))
		AND (e.key NOT LIKE 'annotation/%' OR NOT EXISTS (SELECT FROM annotations n
			WHERE n.tenant_id = e.tenant_id AND n.annotation_id = right(e.key, 40) AND NOT ` + annotationVisible("n.visibility", "n.author", caller) + `))
		AND (e.type <> '` + EventOperationUndone + `' OR EXISTS (
			SELECT FROM operations o WHERE o.tenant_id = e.tenant_id AND o.operation_id = substring(e.key FROM '/(.*)') AND ` + visibleOperation(caller) + `)))`
}

// EventLog describes the log: the epoch of the database, the oldest position that is
// kept, or the next one when the log is empty, and the newest.
type EventLog struct {
	Epoch          string
	Oldest, Newest int64
}

// State reads the state of the log.
func (ev *Events) State(ctx context.Context) (l EventLog, err error) {
	err = ev.s.indexer.QueryRow(ctx, `SELECT (SELECT epoch::text FROM index_state), head,
		coalesce((SELECT min(position) FROM events), head + 1) FROM (SELECT coalesce(max(position), 0) AS head FROM event_shards) AS x`).Scan(&l.Epoch, &l.Newest, &l.Oldest)
	return l, unavailable(err)
}

// Listen calls wake whenever events have come into the log, as Outbox.Listen does
// for the outbox.
func (ev *Events) Listen(ctx context.Context, wake func()) error {
	return ev.s.listen(ctx, EventsChannel, wake)
}
