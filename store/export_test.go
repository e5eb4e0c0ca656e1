package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// Requests returns the pool that requests are served from.
func (s *Store) Requests() *pgxpool.Pool { return s.app }

// Claim returns what proves a tenant to the database.
func (s *Store) Claim(t library.TenantID) string { return s.claims.of(t) }

// MigrateTo makes the schema of a version and of all before it.
func MigrateTo(ctx context.Context, url string, version int64) error {
	p, closeDB, err := provider(url)
	if err != nil {
		return err
	}
	defer closeDB()
	_, err = p.UpTo(ctx, version)
	return err
}

// MigrateDownTo goes back to a version of the schema.
func MigrateDownTo(ctx context.Context, url string, version int64) error {
	p, closeDB, err := provider(url)
	if err != nil {
		return err
	}
	defer closeDB()
	_, err = p.DownTo(ctx, version)
	return err
}

// The nouns that are rows of a table, for tests that change several rows in one write.
var (
	SavedSearchNoun  = savedSearchNoun
	ModelVersionNoun = modelVersionNoun

	ExperimentNoun    = experimentNoun
	RunNoun           = runNoun
	RunScoreNoun      = runScoreNoun
	RunComparisonNoun = runComparisonNoun
	UnlinkedNoun      = unlinkedNoun
)

// Personal returns the noun with personal data in it.
func (n *Noun) Personal() *Noun {
	p := *n
	p.personal = true
	return &p
}

// Trace has the statements of requests told to a tracer from now on.
func (s *Store) Trace(ctx context.Context, tracer pgx.QueryTracer) error {
	cfg := s.app.Config()
	cfg.ConnConfig.Tracer = tracer
	traced, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	s.app.Close()
	s.app = traced
	return nil
}
