// Package storetest gives tests a store on a PostgreSQL database of their own.
package storetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/testenv"
	"vitrine/store"
)

// Database makes an empty database with the current schema and gives its address.
// It goes when the test ends.
func Database(t testing.TB, label string) string {
	t.Helper()
	return testenv.Database(t, label, func(ctx context.Context, url string) error {
		_, err := store.Migrate(ctx, store.Config{URL: url})
		return err
	})
}

// Open opens a store on a database of its own until the test ends.
func Open(t testing.TB, label string) (s *store.Store, url string) {
	t.Helper()
	url = Database(t, label)
	s, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, url
}

// Owner connects past the row policies, as the schema's owner, until the test ends.
func Owner(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}
