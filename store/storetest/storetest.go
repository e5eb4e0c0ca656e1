// Package storetest gives tests a store on a PostgreSQL database of their own.
package storetest

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/testenv"
	"vitrine/store"
)

// Database returns the URL of an empty database with the current schema. It goes when the test ends.
func Database(t testing.TB) string {
	t.Helper()
	key := testenv.TemplateKey("store", os.DirFS(filepath.Join(testenv.ModuleRoot(t), "store")))
	return testenv.Database(t, key, func(ctx context.Context, url string) error {
		_, err := store.Migrate(ctx, store.Config{URL: url})
		return err
	})
}

// Plans are settings of PostgreSQL's planner under which statements must return the same rows
// in the same order: it may choose any of these plans by itself, as a table's statistics change.
var Plans = [][]string{nil, {"enable_nestloop=off", "enable_mergejoin=off"}, {"enable_hashjoin=off", "enable_nestloop=off", "enable_hashagg=off"}, {"enable_indexscan=off", "enable_indexonlyscan=off"}}

// Open opens a store on a database of its own until the test ends. The settings, such as
// "enable_nestloop=off", are those of its connections.
func Open(t testing.TB, settings ...string) (s *store.Store, url string) {
	t.Helper()
	url = Database(t)
	s, err := store.Open(t.Context(), store.Config{URL: withSettings(url, settings)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, url
}

// Owner connects past the row policies, as the schema's owner, until the test ends.
func Owner(t testing.TB, at string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// WithUser returns a database's URL with another role.
func WithUser(raw, role string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err) // the stack's own
	}
	u.User = url.User(role)
	return u.String()
}

func withSettings(raw string, settings []string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err) // the stack's own
	}
	q := u.Query()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// OwnerRole makes a role without any attribute the owner of databases, until the test
// ends, when the databases go with it.
func OwnerRole(t testing.TB, admin string, databases ...string) string {
	t.Helper()
	role := "owner_" + databaseName(databases[0])
	exec := func(sql string) error {
		c, err := pgx.Connect(context.Background(), admin)
		if err != nil {
			return err
		}
		defer c.Close(context.Background())
		_, err = c.Exec(context.Background(), sql)
		return err
	}
	t.Cleanup(func() {
		for _, d := range databases {
			if err := exec(`DROP DATABASE IF EXISTS ` + databaseName(d) + ` WITH (FORCE)`); err != nil {
				t.Error(err)
			}
		}
		if err := exec(`DROP ROLE IF EXISTS ` + role); err != nil {
			t.Error(err)
		}
	})
	if err := exec(`CREATE ROLE ` + role + ` LOGIN`); err != nil {
		t.Fatal(err)
	}
	for _, d := range databases {
		if err := exec(`ALTER DATABASE ` + databaseName(d) + ` OWNER TO ` + role); err != nil {
			t.Fatal(err)
		}
	}
	return role
}

func databaseName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err) // the stack's own
	}
	return strings.TrimPrefix(u.Path, "/")
}
