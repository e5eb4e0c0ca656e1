package store

import (
	"context"
	"hash/fnv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The advisory locks of work that one process at a time does. They live as long
// as the connection that took them.
const (
	generationsLock int64 = 0x76697472696e6501
	embeddingLock   int64 = 0x76697472696e6502
	reconcileLock   int64 = 0x76697472696e6503
	restoreLock     int64 = 0x76697472696e6504
	ownerLock       int64 = 0x76697472696e6505
	duplicatesLock  int64 = 0x76697472696e6506 // with the tenant
)

// indexLock returns the lock of one index: of the assets' the lock itself, of another's one
// that follows from its name.
func indexLock(lock int64, index string) int64 {
	if index == AssetIndex {
		return lock
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(index)) // never fails
	return lock ^ int64(h.Sum32())<<8
}

// tryLocked runs fn with the connection that holds an advisory lock, or gives
// busy at once where another process holds it.
func (s *Store) tryLocked(ctx context.Context, lock int64, busy error, fn func(*pgxpool.Conn) error) error {
	conn, err := s.indexer.Acquire(ctx)
	if err != nil {
		return unavailable(err)
	}
	defer conn.Release()
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lock).Scan(&got); err != nil {
		return unavailable(err)
	}
	if !got {
		return busy
	}
	defer func() {
		// A connection that is broken has let go of its locks.
		_, _ = conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lock)
	}()
	return fn(conn)
}
