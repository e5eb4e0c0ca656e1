package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"vitrine/store/internal/pg"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date, lets the service's two roles sign in, and
// reports how many steps of the schema it took. It holds an advisory lock, so several
// processes may call it at once. The role of cfg.URL must own the schema, or be able
// to make it, and be able to create roles, or both logins of the service must exist.
func Migrate(ctx context.Context, cfg Config) (steps int, err error) { return migrate(ctx, cfg, false) }

// Repair does what Migrate does, and sets the configured password of a login of the service
// when the server refuses it.
func Repair(ctx context.Context, cfg Config) (steps int, err error) { return migrate(ctx, cfg, true) }

func migrate(ctx context.Context, cfg Config, repair bool) (steps int, err error) {
	p, closeDB, err := provider(cfg.URL)
	if err != nil {
		return 0, err
	}
	defer closeDB()
	done, err := p.Up(ctx)
	if err != nil {
		return len(done), fmt.Errorf("migrating the database: %w", err)
	}
	if err := ensureOwnerPolicies(ctx, cfg); err != nil {
		return len(done), err
	}
	return len(done), ensureLogins(ctx, cfg, repair)
}

// ensureOwnerPolicies lets an owner that is no superuser read its own tables, whose
// row level security is forced, for backups. Requests never sign in as the owner.
func ensureOwnerPolicies(ctx context.Context, cfg Config) error {
	conn, err := connectOwner(ctx, cfg.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, `DO $$
		DECLARE t record;
		BEGIN
		  PERFORM pg_advisory_xact_lock(`+strconv.FormatInt(pg.OwnerLock, 10)+`);
		  IF (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) THEN RETURN; END IF;
		  FOR t IN SELECT c.oid::regclass AS name FROM pg_class c
		    WHERE c.relkind IN ('r', 'p') AND c.relforcerowsecurity AND pg_has_role(c.relowner, 'USAGE')
		      AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'goose_db_version'::regclass)
		      AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'owner')
		  LOOP
		    EXECUTE format('CREATE POLICY owner ON %s TO CURRENT_USER USING (true) WITH CHECK (true)', t.name);
		  END LOOP;
		END $$`)
	return unavailable(err)
}

// remake drops the library's tables and makes the schema of the given versions, no
// older and no newer one.
func remake(ctx context.Context, url string, versions []int64) error {
	if err := KnownVersions(versions); err != nil {
		return err
	}
	p, closeDB, err := provider(url)
	if err != nil {
		return err
	}
	defer closeDB()
	if _, err := p.DownTo(ctx, 0); err != nil {
		return fmt.Errorf("dropping the library's tables: %w", err)
	}
	for _, v := range versions {
		if _, err := p.ApplyVersion(ctx, v, true); err != nil {
			return fmt.Errorf("making the schema of the backup: %w", err)
		}
	}
	return nil
}

// SchemaBehind reports how many migrations the database lacks.
func SchemaBehind(ctx context.Context, cfg Config) (int, error) {
	_, indexer, err := cfg.logins()
	if err != nil {
		return 0, err
	}
	at := indexer.cfg.ConnConfig
	if cfg.URL != "" { // before the first migration there is no other role
		if at, err = pgx.ParseConfig(cfg.URL); err != nil {
			return 0, badURL("VITRINE_POSTGRES_URL")
		}
	}
	conn, err := pgx.ConnectConfig(ctx, at)
	if err != nil {
		return 0, unavailable(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `SELECT DISTINCT ON (version_id) version_id FROM goose_db_version WHERE is_applied ORDER BY version_id, id DESC`)
	if err != nil {
		return 0, unavailable(err)
	}
	applied, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "42501") { // no such table yet, or not readable yet
		applied, err = nil, nil
	}
	if err != nil {
		return 0, unavailable(err)
	}
	missing := 0
	for _, version := range migrationVersions() {
		if !slices.Contains(applied, version) {
			missing++
		}
	}
	return missing, nil
}

// migrationVersions lists the schema's versions in order.
func migrationVersions() []int64 {
	entries, err := migrations.ReadDir("migrations")
	if err != nil {
		panic(err) // they are part of the program
	}
	var versions []int64
	for _, e := range entries {
		v, err := goose.NumericComponent(e.Name())
		if err != nil {
			panic(err)
		}
		versions = append(versions, v)
	}
	return versions
}

func provider(url string) (*goose.Provider, func(), error) {
	at, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, nil, badURL("VITRINE_POSTGRES_URL")
	}
	db := stdlib.OpenDB(*at)
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, nil, err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, nil, err
	}
	// Migrations that were written side by side may reach a database in any order.
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithAllowOutofOrder(true))
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	return p, func() { db.Close() }, nil
}
