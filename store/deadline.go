package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// How long the database may hold a request. A request has a deadline of its own as
// well, see op.Meta.Limit; these hold for every caller.
const (
	// connectLimit bounds connecting and signing in.
	connectLimit = 5 * time.Second
	// acquireLimit is how long a request waits for a connection of the pool.
	acquireLimit = 5 * time.Second
	// statementLimit is when the server ends a statement of a request, the time it
	// waits for locks included.
	statementLimit = 20 * time.Second
	// backgroundLimit is the same for the relay and the indexer, which read the whole
	// library.
	backgroundLimit = 10 * time.Minute
	// transactionLimit is when a connection that still serves one request is closed; a
	// large write begins it anew with each page of rows.
	transactionLimit = 30 * time.Second
	// idleLimit is when the server ends a session that holds a transaction open and
	// sends nothing: its process is stopped, and its locks hold others.
	idleLimit = time.Minute
	// pingLimit bounds the question whether the database answers.
	pingLimit = 5 * time.Second
)

// limit makes the server end what takes too long.
func (l login) limit(statement time.Duration) {
	l.cfg.ConnConfig.RuntimeParams["statement_timeout"] = milliseconds(statement)
	l.cfg.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(idleLimit)
	if l.cfg.ConnConfig.ConnectTimeout <= 0 || l.cfg.ConnConfig.ConnectTimeout > connectLimit {
		l.cfg.ConnConfig.ConnectTimeout = connectLimit
	}
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// acquire takes a connection for one request. release returns it to the pool; until then it
// lives no longer than transactionLimit.
func (s *Store) acquire(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	conn, limit, err := s.acquireTimed(ctx)
	if err != nil {
		return nil, nil, err
	}
	return conn, func() { limit.Stop(); conn.Release() }, nil
}

// acquireTimed takes a connection that is closed when limit runs out. Whoever releases
// it stops limit before.
func (s *Store) acquireTimed(ctx context.Context) (conn *pgxpool.Conn, limit *time.Timer, err error) {
	wait, cancel := context.WithTimeout(ctx, acquireLimit)
	defer cancel()
	if conn, err = s.app.Acquire(wait); err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, RetryAfter: 2 * time.Second, Cause: err,
				Detail: "All connections to the database are busy, and nothing was done. Repeat the request in a moment."}
		}
		return nil, nil, unavailable(err)
	}
	wire := conn.Conn().PgConn().Conn()
	return conn, time.AfterFunc(transactionLimit, func() { _ = wire.Close() }), nil
}
