package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that goose runs on
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date and reports how many steps it took. It
// holds an advisory lock, so several processes may call it at once. The URL's
// role must own the schema and be able to create roles, or the two service
// roles must exist.
func Migrate(ctx context.Context, url string) (steps int, err error) {
	p, closeDB, err := provider(url)
	if err != nil {
		return 0, err
	}
	defer closeDB()
	done, err := p.Up(ctx)
	if err != nil {
		return len(done), fmt.Errorf("migrating the database: %w", err)
	}
	return len(done), nil
}

// SchemaBehind reports how many migrations the database lacks.
func SchemaBehind(ctx context.Context, url string) (int, error) {
	p, closeDB, err := provider(url)
	if err != nil {
		return 0, err
	}
	defer closeDB()
	list, err := p.Status(ctx)
	if err != nil {
		return 0, unavailable(err)
	}
	n := 0
	for _, m := range list {
		if m.State == goose.StatePending {
			n++
		}
	}
	return n, nil
}

func provider(url string) (*goose.Provider, func(), error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, nil, fmt.Errorf("the database URL cannot be read: %w", err)
	}
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
