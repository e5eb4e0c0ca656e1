package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// Requests returns the pool that requests are served from.
func (s *Store) Requests() *pgxpool.Pool { return s.app }

// Claim returns what proves a tenant to the database.
func (s *Store) Claim(t library.TenantID) string { return s.claims.of(t) }
