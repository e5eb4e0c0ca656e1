package indexstate

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/store/internal/pg"
)

// State keeps what is known of the index as a whole: the epoch of the database it
// follows, and comparisons that are due.
type State struct{ db }

// Epoch is a time in which the database only went forward. A database that is
// restored, or replaced by a replica that lacks the last changes, begins another: an
// index of the one before may know of changes that never happened, under versions
// that will be given again.
type Epoch struct {
	ID     string
	Began  time.Time
	Reason string // why the one before ended; "" for the first
	WAL    int64  // how far the server has written, in bytes since it was made
}

// placeSQL is where a database lives: the database, its table of assets, the server's
// timeline. A dump that is loaded makes another table at least; a server that is
// rolled back or promoted begins another timeline.
const placeSQL = `SELECT (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'assets'::regclass::oid || '/' ||
	left(pg_walfile_name(pg_current_wal_lsn()), 8), (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint`

// serverSQL is which server it is. Not every login may ask.
const serverSQL = `SELECT system_identifier::text FROM pg_control_system()`

// place returns where the database lives, and how far its server has written.
func (ix *State) place(ctx context.Context) (place string, wal int64, err error) {
	if err := ix.pool.QueryRow(ctx, placeSQL).Scan(&place, &wal); err != nil {
		return "", 0, pg.Unavailable(err)
	}
	var server string
	err = ix.pool.QueryRow(ctx, serverSQL).Scan(&server)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" { // a managed service keeps it to itself
		err = nil
	}
	return server + "/" + place, wal, pg.Unavailable(err)
}

// Epoch returns the present epoch. Where the database has come to live somewhere else
// than the epoch began, it begins a new one.
func (ix *State) Epoch(ctx context.Context) (Epoch, error) {
	place, wal, err := ix.place(ctx)
	if err != nil {
		return Epoch{}, err
	}
	e := Epoch{WAL: wal}
	var known string
	read := `SELECT epoch::text, epoch_began, epoch_reason, place FROM index_state`
	if err := ix.pool.QueryRow(ctx, read).Scan(&e.ID, &e.Began, &e.Reason, &known); err != nil {
		return e, pg.Unavailable(err)
	}
	switch known {
	case place:
		return e, nil
	case "": // the library was just made, or comes from a release that did not ask
		_, err := ix.pool.Exec(ctx, `UPDATE index_state SET place = $1 WHERE place = ''`, place)
		return e, pg.Unavailable(err)
	}
	if err := ix.beginEpoch(ctx, e.ID, place, "the database was restored, or another server took its place"); err != nil {
		return e, err
	}
	return e, pg.Unavailable(ix.pool.QueryRow(ctx, read).Scan(&e.ID, &e.Began, &e.Reason, &known))
}

// BeginEpoch records that the database has gone back in time since the epoch of, which
// nothing else may have ended meanwhile. A running service then builds its index anew
// behind the alias; one that starts later does so at its start.
func (ix *State) BeginEpoch(ctx context.Context, of, reason string) error {
	place, _, err := ix.place(ctx)
	if err != nil {
		return err
	}
	return ix.beginEpoch(ctx, of, place, reason)
}

func (ix *State) beginEpoch(ctx context.Context, of, place, reason string) error {
	_, err := ix.pool.Exec(ctx, `
		UPDATE index_state SET epoch = gen_random_uuid(), epoch_began = now(), epoch_reason = $3, place = $2 WHERE epoch = $1::text::uuid`, of, place, reason)
	return pg.Unavailable(err)
}

// Wanted is a comparison of the whole index that somebody asked for.
type Wanted struct {
	Reason string    // "" where it is under way or done
	Since  time.Time // when one was asked for last; zero: never
}

// WantComparison asks for a comparison of the whole index with the database. It is
// remembered until somebody sees to it, also over restarts.
func (ix *State) WantComparison(ctx context.Context, reason string) error {
	_, err := ix.pool.Exec(ctx, wantSQL, reason)
	return pg.Unavailable(err)
}

const wantSQL = `UPDATE index_state SET compare_reason = $1, compare_since = clock_timestamp()`

// WantedComparison returns what was asked for last.
func (ix *State) WantedComparison(ctx context.Context) (w Wanted, err error) {
	var since *time.Time
	err = ix.pool.QueryRow(ctx, `SELECT coalesce(compare_reason, ''), compare_since FROM index_state`).Scan(&w.Reason, &since)
	if since != nil {
		w.Since = *since
	}
	return w, pg.Unavailable(err)
}

// ComparisonBegun records that what was wanted is seen to, unless it was wanted again
// meanwhile.
func (ix *State) ComparisonBegun(ctx context.Context, w Wanted) error {
	_, err := ix.pool.Exec(ctx, `UPDATE index_state SET compare_reason = NULL WHERE compare_since = $1`, w.Since)
	return pg.Unavailable(err)
}

// Compared notes that a comparison of a whole index has ended.
func (ix *State) Compared(ctx context.Context) error {
	_, err := ix.pool.Exec(ctx, `UPDATE index_state SET compared_at = now()`)
	return pg.Unavailable(err)
}

// AnalyzeGrownTables has PostgreSQL analyze the tables of the library that have doubled since
// it did so last, and returns how many. Until then it plans statements for tables as small as
// they were, which makes those about many documents many times slower.
func (ix *State) AnalyzeGrownTables(ctx context.Context) (n int, err error) {
	err = ix.pool.QueryRow(ctx, `SELECT analyze_grown_tables()`).Scan(&n)
	return n, pg.Unavailable(err)
}

// Stream is what was seen of Kafka's topic of changes.
type Stream struct {
	Cluster    string            `json:"cluster"`
	Partitions map[int]Partition `json:"partitions"`
}

// Partition is what was seen of one partition.
type Partition struct {
	First     int64 `json:"first"`     // the oldest event that is there
	End       int64 `json:"end"`       // where the next one goes
	Committed int64 `json:"committed"` // the next one to be indexed; -1 when that is not known
}

// NoteStream remembers what is seen of the topic. lost is asked what events were lost
// since the last time, nil being what was never seen; where it says so, a comparison
// is wanted in the same transaction.
func (ix *State) NoteStream(ctx context.Context, now Stream, lost func(before *Stream) (reason string)) error {
	err := pgx.BeginFunc(ctx, ix.pool, func(tx pgx.Tx) error {
		var raw []byte
		if err := tx.QueryRow(ctx, `SELECT stream FROM index_state FOR UPDATE`).Scan(&raw); err != nil {
			return err
		}
		var before *Stream
		if raw != nil {
			before = &Stream{}
			if err := json.Unmarshal(raw, before); err != nil {
				return err
			}
		}
		if reason := lost(before); reason != "" {
			if _, err := tx.Exec(ctx, wantSQL, reason); err != nil {
				return err
			}
		}
		if before.equal(now) {
			return nil
		}
		encoded, err := json.Marshal(now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE index_state SET stream = $1`, encoded)
		return err
	})
	return pg.Unavailable(err)
}

// StreamSeen reports whether anything was ever seen of the topic.
func (ix *State) StreamSeen(ctx context.Context) (seen bool, err error) {
	err = ix.pool.QueryRow(ctx, `SELECT stream IS NOT NULL FROM index_state`).Scan(&seen)
	return seen, pg.Unavailable(err)
}

func (s *Stream) equal(o Stream) bool {
	return s != nil && s.Cluster == o.Cluster && maps.Equal(s.Partitions, o.Partitions)
}

// RestoreToIndex reports whether the database was restored and the index not yet
// compared with it.
func (ix *State) RestoreToIndex(ctx context.Context) (waiting bool, err error) {
	err = ix.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM restores WHERE indexed_at IS NULL)`).Scan(&waiting)
	return waiting, pg.Unavailable(err)
}

// RestoreIndexed notes that the index agrees with the restored database.
func (ix *State) RestoreIndexed(ctx context.Context) error {
	_, err := ix.pool.Exec(ctx, `UPDATE restores SET indexed_at = now() WHERE indexed_at IS NULL`)
	return pg.Unavailable(err)
}
