// Package store keeps the library in PostgreSQL, the system of record.
//
// One file per noun; SQL stands in the function that needs it. In come plain
// nouns of package library and the tenant they belong to; out come rows. Every
// write path writes the change, its outbox row, its audit row and its undo
// record in one transaction, so none can be seen without the others.
//
// Tenants are kept apart twice: an explicit tenant_id predicate in every
// statement, and forced row level security under it. The store never reads a
// blob, never talks to Kafka or OpenSearch, and decides nothing about who may
// do what.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
	"vitrine/store/indexstate"
	"vitrine/store/internal/pg"
)

// Store is the library in PostgreSQL: the connections, and one field per noun that several
// packages work with. A noun of a single domain has a constructor instead, as NewModels. A Store
// is safe for concurrent use, and so are its fields.
type Store struct {
	indexstate.Tables

	Assets          *Assets
	Extraction      *Extraction
	Lineage         *Lineage
	SavedSearches   *SavedSearches
	Collections     *Collections
	Annotations     *Annotations
	Prompts         *Prompts
	Pipelines       *Pipelines
	PipelineRuns    *PipelineRuns
	Rules           *Rules
	Enrichments     *Enrichments
	Prospects       *Prospects
	Webhooks        *Webhooks
	Keys            *Keys
	Tenants         *Tenants
	Limits          *Limits
	Trash           *Trash
	Fingerprints    *Fingerprints
	Duplicates      *Duplicates
	Operations      *Operations
	Idempotency     *Idempotency
	Events          *Events
	Subscribers     *Subscribers
	Outbox          *Outbox
	Files           *Files
	Jobs            *Jobs
	PreviewFailures *PreviewFailures
	Previews        *Previews
	Uploads         *Uploads
	Exports         *Exports
	Originals       *Originals
	Imports         *Imports
	Publications    *Publications
	Shares          *Shares

	app     *pgxpool.Pool // role vitrine_app: one tenant per transaction
	indexer *pgxpool.Pool // role vitrine_indexer: reads every tenant, writes bookkeeping only
	claims  claims

	notifications chan struct{}
	stopNotify    context.CancelFunc
}

// Open connects with the two logins of the service and checks that neither can
// step beyond its rights. The schema must be current: see Migrate.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	app, indexer, err := cfg.logins()
	if err != nil {
		return nil, err
	}
	app.cfg.MaxConns, indexer.cfg.MaxConns = cfg.MaxConns, 8
	if cfg.MaxConns == 0 {
		app.cfg.MaxConns = 16
	}
	app.limit(statementLimit)
	indexer.limit(backgroundLimit)
	background, stop := context.WithCancel(context.Background())
	w := newWatch(background)
	app.cfg.ConnConfig.DialFunc, indexer.cfg.ConnConfig.DialFunc = w.dial, w.dial
	s := &Store{notifications: make(chan struct{}, 1), stopNotify: stop}
	if err := s.setFields(); err != nil {
		stop()
		return nil, err
	}
	if err := s.connect(ctx, app, indexer); err != nil {
		stop()
		return nil, err
	}
	go s.notifyLoop(background)
	return s, nil
}

// setFields sets the field of each noun.
func (s *Store) setFields() (err error) {
	s.Assets = &Assets{s}
	s.Extraction = &Extraction{s}
	s.Lineage = &Lineage{s}
	s.SavedSearches = &SavedSearches{s}
	s.Collections = &Collections{s}
	s.Annotations = &Annotations{s}
	s.Prompts = &Prompts{s}
	s.Pipelines = &Pipelines{s}
	s.PipelineRuns, s.Enrichments = &PipelineRuns{s}, &Enrichments{s}
	s.Rules = &Rules{s}
	s.Prospects = &Prospects{s}
	s.Webhooks = &Webhooks{s}
	s.Keys = &Keys{s}
	s.Tenants = &Tenants{s}
	s.Limits = &Limits{s}
	s.Trash = &Trash{s}
	s.Fingerprints = &Fingerprints{s}
	s.Duplicates = &Duplicates{s}
	s.Operations = &Operations{s}
	s.Idempotency = &Idempotency{s}
	s.Events = &Events{s}
	s.Subscribers = &Subscribers{s}
	s.Outbox = &Outbox{s}
	s.Files = &Files{s}
	s.PreviewFailures = &PreviewFailures{s}
	s.Previews = &Previews{s}
	s.Uploads = &Uploads{s}
	s.Exports = &Exports{s}
	s.Originals = &Originals{s}
	s.Imports = &Imports{s}
	s.Publications = &Publications{s}
	s.Shares = &Shares{s}
	s.Jobs, err = newJobs(s)
	return err
}

func (s *Store) connect(ctx context.Context, app, indexer login) (err error) {
	indexer.cfg.AfterConnect = indexer.checkLogin
	app.cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := app.checkLogin(ctx, conn); err != nil {
			return err
		}
		return s.checkClaims(ctx, conn)
	}
	if s.indexer, err = openPool(ctx, indexer); err != nil {
		return err
	}
	s.Tables = indexstate.New(s.indexer)
	if err = s.claims.read(ctx, s.indexer); err == nil {
		s.app, err = openPool(ctx, app)
	}
	if err != nil {
		s.indexer.Close()
	}
	return unavailable(err)
}

// checkClaims makes sure that a new connection takes this store's claims. The
// database may be another one than when the store was opened: a restored one has a
// key of its own.
func (s *Store) checkClaims(ctx context.Context, conn *pgx.Conn) error {
	good, err := s.claims.check(ctx, conn)
	if err != nil || good {
		return err
	}
	if err := s.claims.read(ctx, s.indexer); err != nil {
		return err
	}
	if good, err = s.claims.check(ctx, conn); err != nil || good {
		return err
	}
	return errors.New("the database does not take the claims that are made with its own key")
}

func openPool(ctx context.Context, l login) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, l.cfg)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		if isWrongPassword(err) {
			return nil, l.wrongPassword()
		}
		return nil, unavailable(err)
	}
	return pool, nil
}

// Close ends all connections.
func (s *Store) Close() {
	s.stopNotify()
	s.app.Close()
	s.indexer.Close()
}

// Ping reports whether the database answers, within five seconds.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	return unavailable(s.app.Ping(ctx))
}

// Indexer returns the pool that reads every tenant. Only the relay, the indexer
// and the reconciler may hold it; requests never do.
func (s *Store) Indexer() *pgxpool.Pool { return s.indexer }

// inTenant runs fn in a transaction that sees only the tenant's rows.
func (s *Store) inTenant(ctx context.Context, tenant library.TenantID, fn func(pgx.Tx) error) error {
	return s.inTenantTimed(ctx, tenant, func(tx pgx.Tx, _ func()) error { return fn(tx) })
}

// inTenantTimed is inTenant for work that may take long: whenever fn calls extend, it
// has transactionLimit from then on.
func (s *Store) inTenantTimed(ctx context.Context, tenant library.TenantID, fn func(tx pgx.Tx, extend func()) error) error {
	conn, limit, err := s.acquireTimed(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	defer limit.Stop()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, setTenant, s.claims.of(tenant)); err != nil {
			return err
		}
		return fn(tx, func() { limit.Reset(transactionLimit) })
	})
	return unavailable(err)
}

// retryDeadlock is inTenantTimed for work that locks rows of several assets and may
// thereby meet a writer that locks them in another order: the database ends one
// of the two, and it is tried again. fn must be able to run again from its start.
func (s *Store) retryDeadlock(ctx context.Context, tenant library.TenantID, fn func(tx pgx.Tx, extend func()) error) error {
	var err error
	for range 4 {
		err = s.inTenantTimed(ctx, tenant, fn)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != "40P01" {
			return err
		}
	}
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, RetryAfter: time.Second, Cause: err,
		Detail: "The same assets are being changed by other requests; nothing was changed. Repeat the request."}
}

// readTenant runs one query that sees only the tenant's rows, in a single round
// trip: a batch is one implicit transaction, which is where set_config ends.
func (s *Store) readTenant(ctx context.Context, tenant library.TenantID, sql string, args []any, scan func(pgx.Rows) error) error {
	conn, release, err := s.acquire(ctx) // before the claim, which a new connection may renew
	if err != nil {
		return err
	}
	defer release()
	b := &pgx.Batch{}
	b.Queue(setTenant, s.claims.of(tenant))
	b.Queue(sql, args...)
	res := conn.SendBatch(ctx, b)
	defer res.Close()
	if _, err := res.Exec(); err != nil {
		return unavailable(err)
	}
	rows, err := res.Query()
	if err != nil {
		return unavailable(err)
	}
	defer rows.Close()
	if err := scan(rows); err != nil {
		return unavailable(err)
	}
	return unavailable(rows.Err())
}

// collectIndexer collects the rows that a query of every tenant returns.
func collectIndexer[T any](ctx context.Context, s *Store, sql string, scan pgx.RowToFunc[T], args ...any) ([]T, error) {
	return pg.Collect(ctx, s.indexer, sql, scan, args...)
}

// unavailable is pg.Unavailable.
func unavailable(err error) error { return pg.Unavailable(err) }
