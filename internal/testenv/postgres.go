package testenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the URL of a fresh, empty database owned by the superuser, dropped when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	return freshDatabase(t, "template1")
}

// Database returns the URL of a fresh database in the state that migrate leaves an empty one in, dropped when the test
// ends. The migration runs once and is then copied: once per process for any key, and once per running stack for a key
// from TemplateKey, which changes with the content.
func Database(t testing.TB, key string, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	template, err := templateFor(key)(func(name string) error {
		return makeTemplate(Stack(t).PostgresURL, name, migrate)
	})
	if err != nil {
		t.Fatalf("migrate the template database for %s: %v", key, err)
	}
	return freshDatabase(t, template)
}

// TemplateKey returns a key for Database that stands for the content of all files given, typically the embedded
// migrations. All processes share one template for it.
func TemplateKey(name string, files fs.FS) string {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		fmt.Fprintf(sum, "%s\x00%d\x00%s", path, len(content), content)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("read the files behind a template key: %v", err))
	}
	return name + sharedMark + hex.EncodeToString(sum.Sum(nil)[:8])
}

// sharedMark in a key says that it stands for a content.
const sharedMark = "@"

// sharedPrefix begins the names of templates that all processes share.
const sharedPrefix = "vitrine_template_"

// sharedAge is how long a shared template is kept: long enough for a day's work on one state of the migrations.
const sharedAge = 24 * time.Hour

var templates sync.Map // key → *template

type template struct {
	once sync.Once
	name string
	err  error
}

// templateFor returns a function that makes the template of the key on its first call and returns its name.
func templateFor(key string) func(make func(name string) error) (string, error) {
	found, _ := templates.LoadOrStore(key, &template{})
	tpl := found.(*template)
	return func(make func(name string) error) (string, error) {
		tpl.once.Do(func() {
			tpl.name = newName() + "_template"
			if strings.Contains(key, sharedMark) {
				sum := sha256.Sum256([]byte(key))
				tpl.name = sharedPrefix + hex.EncodeToString(sum[:8])
			}
			tpl.err = make(tpl.name)
		})
		return tpl.name, tpl.err
	}
}

// makeTemplate migrates a database under a temporary name and renames it last, so that an interrupted migration is never
// taken for a finished one. An advisory lock lets one of several processes do it.
func makeTemplate(server, name string, migrate func(ctx context.Context, url string) error) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	lock := fnv.New64a()
	lock.Write([]byte(name))
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, int64(lock.Sum64())); err != nil {
		return err
	}
	var there bool
	if err := conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, name).Scan(&there); err != nil || there {
		return err
	}
	fresh := newName()
	if _, err := conn.Exec(ctx, `create database `+fresh); err != nil {
		return err
	}
	if err := migrate(ctx, databaseURL(server, fresh)); err != nil {
		_, _ = conn.Exec(ctx, `drop database `+fresh+` with (force)`)
		return err
	}
	// Nobody may connect to a template: a session on it would make copying it fail.
	for _, statement := range []string{
		`alter database ` + fresh + ` allow_connections false`,
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = '` + fresh + `'`,
		`alter database ` + fresh + ` rename to ` + name,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// freshDatabase copies the template and drops the copy after the test, together with sessions the test left open.
func freshDatabase(t testing.TB, template string) string {
	t.Helper()
	server := Stack(t).PostgresURL
	sweepDatabases(server)
	name := newName()
	if err := execute(t.Context(), server, `create database `+name+` template `+template); err != nil {
		t.Fatalf("make a database for the test: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		if err := execute(ctx, server, `drop database if exists `+name+` with (force)`); err != nil {
			t.Errorf("drop the database of the test: %v", err)
		}
	})
	return databaseURL(server, name)
}

func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// databaseURL leads to another database of the same server.
func databaseURL(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(fmt.Sprintf("the stack gives a PostgreSQL URL that is none: %v", err))
	}
	u.Path = "/" + name
	return u.String()
}

var sweptDatabases sync.Once

// sweepDatabases removes once per process what earlier ones left. Several processes may do it at once, and what cannot be
// dropped now is found next time, so errors do not fail a test.
func sweepDatabases(server string) {
	sweptDatabases.Do(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		_ = dropAbandoned(ctx, server)
	})
}

// dropAbandoned drops the databases of ended processes and shared templates past their age.
func dropAbandoned(ctx context.Context, server string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `
		select datname, coalesce((pg_stat_file('base/' || oid || '/PG_VERSION', true)).modification, now())
		from pg_database where datname ~ '^(t[0-9]+x|`+sharedPrefix+`)'`)
	type made struct {
		Name string
		At   time.Time
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[made])
	if err != nil {
		return err
	}
	var errs []error
	for _, db := range all {
		if abandoned(db.Name) || strings.HasPrefix(db.Name, sharedPrefix) && time.Since(db.At) > sharedAge {
			_, err := conn.Exec(ctx, `drop database if exists `+db.Name+` with (force)`)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
