// Package pg has what every part of the store asks PostgreSQL with: the errors of a database that
// does not respond, and advisory locks.
package pg

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// ErrHangs is the cause of statements that were ended, or not sent, because their
// server does not answer even the simplest question.
var ErrHangs = errors.New("PostgreSQL takes connections but does not answer")

// Unavailable turns the errors of a database that cannot be reached, is starting
// or is shutting down into an error that says so; all others pass unchanged.
func Unavailable(err error) error {
	if err == nil {
		return nil
	}
	var known *library.Error
	if errors.As(err, &known) {
		return err
	}
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	down := errors.As(err, &connect) || pgconn.SafeToRetry(err) || errors.Is(err, ErrHangs) || errors.Is(err, context.DeadlineExceeded)
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "57": // connection trouble; operator intervention, such as a restart or statement_timeout
			down = true
		case "VT": // raised by a trigger of ours
			return StorageFull(pg.Detail, err)
		case "25": // the server ended an idle transaction
			down = pg.Code == "25P03"
		case "53": // out of resources, among them disk full
			if pg.Code == "53100" {
				return &library.Error{Kind: library.KindStorageFull, Code: library.CodeStorageFull,
					Detail: "The database's disk is full. Nothing was written; free space and repeat the request.", Cause: err}
			}
			down = true
		}
	} else if !errors.Is(err, context.Canceled) && isBroken(err) {
		down = true
	}
	if !down {
		return err
	}
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, RetryAfter: 2 * time.Second,
		Detail: "The database does not respond. Repeat the request; with the same Idempotency-Key it cannot happen twice.", Cause: err}
}

// isBroken reports whether a connection died under a statement: then nobody
// knows whether the statement took effect.
func isBroken(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// IsUniqueViolation reports whether a row with this key was there already.
func IsUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23505"
}

// StorageFull is the answer to a file that a tenant has no room for.
func StorageFull(limit string, cause error) error {
	return &library.Error{Kind: library.KindTooLarge, Code: library.CodeStorageQuota, Cause: cause,
		Detail: "The tenant has no room for this file: it may store " + limit + " bytes in all, the trash included. Nothing was stored. Let the operator raise the limit (vitrine tenants limits)."}
}

// Collect collects the rows that a query returns.
func Collect[T any](ctx context.Context, pool *pgxpool.Pool, sql string, scan pgx.RowToFunc[T], args ...any) ([]T, error) {
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, Unavailable(err)
	}
	list, err := pgx.CollectRows(rows, scan)
	return list, Unavailable(err)
}

// TryLocked runs fn with the connection that holds an advisory lock, or returns busy at once
// where another process holds it.
func TryLocked(ctx context.Context, pool *pgxpool.Pool, lock int64, busy error, fn func(*pgxpool.Conn) error) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return Unavailable(err)
	}
	defer conn.Release()
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lock).Scan(&got); err != nil {
		return Unavailable(err)
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
