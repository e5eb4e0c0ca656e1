// Package indexstate keeps what the indexer needs of the database: the rows that documents are made
// of, which physical indices there are, the embeddings of texts, what could not be indexed, and of
// which past of the database the index is.
//
// All of it is read and written past the tenant filter, with the indexer's role. No request reaches
// it.
package indexstate

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/store/internal/pg"
)

// Tables are the parts, on one pool of connections.
type Tables struct {
	Documents     *Documents
	Generations   *Generations
	Embeddings    *Embeddings
	IndexFailures *Failures
	IndexState    *State
}

// New returns the parts on a pool whose role reads the rows of all tenants.
func New(pool *pgxpool.Pool) Tables {
	d := db{pool}
	return Tables{&Documents{d}, &Generations{d}, &Embeddings{d}, &Failures{d}, &State{d}}
}

type db struct{ pool *pgxpool.Pool }

// indexLock returns the lock of one index: of the assets' the lock itself, of another's one
// that follows from its name.
func indexLock(lock int64, index string) int64 {
	if index == AssetIndex {
		return lock
	}
	return pg.LockOf(lock, index)
}
