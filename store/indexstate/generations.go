package indexstate

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// Generations keeps which indices there are and what each is for.
type Generations struct{ db }

// GenerationState is what an index generation is for.
type GenerationState string

// The states of an index generation. At most one of a scope is live and one being built.
const (
	GenerationBuilding GenerationState = "building" // written beside the live one, not searched yet
	GenerationLive     GenerationState = "live"     // searched and written
	GenerationRetired  GenerationState = "retired"  // kept to go back to, no longer written
)

// Generation is one generation of an index.
type Generation struct {
	Name      string
	Index     string           // what it is a generation of: AssetIndex or another
	Scope     library.TenantID // the one tenant whose assets it holds; "": the index that all others share
	Alone     bool             // the tenant's assets are in its own index and no longer in the shared one
	State     GenerationState
	Embedding string // the configuration its vectors are of; "" when it has no field for vectors
	UUID      string // of the index that was made or last compared with the library; "" when not known
	CreatedAt time.Time
	ChangedAt time.Time
}

const generationsSQL = `SELECT name, index_name, scope, alone, state, embedding, uuid, created_at, changed_at FROM index_generations ORDER BY created_at, name`

func scanGeneration(row pgx.CollectableRow) (Generation, error) {
	var g Generation
	err := row.Scan(&g.Name, &g.Index, &g.Scope, &g.Alone, &g.State, &g.Embedding, &g.UUID, &g.CreatedAt, &g.ChangedAt)
	return g, err
}

// List lists the index generations, oldest first.
func (gs *Generations) List(ctx context.Context) ([]Generation, error) {
	return pg.Collect(ctx, gs.pool, generationsSQL, scanGeneration)
}

// Set adds a generation of an index and a scope, with the embedding configuration of its
// index, or changes the state of one. A second live generation of the scope, or a
// second one being built, is a conflict.
func (gs *Generations) Set(ctx context.Context, index string, scope library.TenantID, name string, state GenerationState, embedding string) error {
	_, err := gs.pool.Exec(ctx, `
		INSERT INTO index_generations (scope, name, state, embedding, index_name, alone)
		SELECT $1, $2, $3, $4, $5, EXISTS (SELECT FROM index_generations WHERE scope = $1 AND index_name = $5 AND alone)
		ON CONFLICT (name) DO UPDATE SET state = excluded.state, changed_at = now()`, string(scope), name, string(state), embedding, index)
	if pg.IsUniqueViolation(err) {
		return library.NewError(library.KindConflict, library.CodeConflict,
			"There is already an index that is %s. Finish or abort it first.", state)
	}
	return pg.Unavailable(err)
}

// ReplaceLive makes a generation the live one and forgets the old one, whose index is
// gone or none of ours; old is "" where there was none.
func (gs *Generations) ReplaceLive(ctx context.Context, index string, scope library.TenantID, old, name, embedding string) error {
	err := pgx.BeginFunc(ctx, gs.pool, func(tx pgx.Tx) error {
		var alone bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM index_generations WHERE scope = $1 AND index_name = $2 AND alone)`, string(scope), index).Scan(&alone)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM index_generations WHERE name = $1 AND name <> $2`, old, name); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO index_generations (scope, name, state, embedding, alone, index_name) VALUES ($1, $2, 'live', $3, $4, $5)
			ON CONFLICT (name) DO UPDATE SET state = 'live', uuid = '', changed_at = now()`, string(scope), name, embedding, alone, index)
		return err
	})
	return pg.Unavailable(err)
}

// RecordUUID records which index a generation is.
func (gs *Generations) RecordUUID(ctx context.Context, name, uuid string) error {
	_, err := gs.pool.Exec(ctx, `UPDATE index_generations SET uuid = $2 WHERE name = $1 AND uuid <> $2`, name, uuid)
	return pg.Unavailable(err)
}

// SetAlone records that the documents of a tenant are in its own index alone: from then on
// the shared one is not written for it.
func (gs *Generations) SetAlone(ctx context.Context, index string, tenant library.TenantID) error {
	_, err := gs.pool.Exec(ctx, `UPDATE index_generations SET alone = true WHERE scope = $1 AND index_name = $2`, string(tenant), index)
	return pg.Unavailable(err)
}

// Promote makes a generation the live one of its scope and retires the one that was.
func (gs *Generations) Promote(ctx context.Context, name string) error {
	err := pgx.BeginFunc(ctx, gs.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE index_generations SET state = 'retired', changed_at = now() WHERE state = 'live' AND name <> $1
				AND (index_name, scope) = (SELECT index_name, scope FROM index_generations WHERE name = $1)`, name); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			UPDATE index_generations SET state = 'live', changed_at = now() WHERE name = $1 AND state <> 'live'`, name)
		return err
	})
	return pg.Unavailable(err)
}

// Drop forgets a generation. Its index must be deleted afterwards, not
// before: a writer that still sees the generation must find the index.
func (gs *Generations) Drop(ctx context.Context, name string) error {
	_, err := gs.pool.Exec(ctx, `DELETE FROM index_generations WHERE name = $1`, name)
	return pg.Unavailable(err)
}

// ErrGenerationsBusy means that another process is changing the index generations.
var ErrGenerationsBusy = errors.New("another process is changing the index generations")

// Lock runs fn while no other process changes generations of an index, or gives
// ErrGenerationsBusy at once. held reports whether the lock is still ours: a
// database restart drops it.
func (gs *Generations) Lock(ctx context.Context, index string, fn func(held func(context.Context) bool) error) error {
	return pg.TryLocked(ctx, gs.pool, indexLock(pg.GenerationsLock, index), ErrGenerationsBusy, func(conn *pgxpool.Conn) error {
		return fn(func(ctx context.Context) bool { return conn.Ping(ctx) == nil })
	})
}

// ErrReconcileBusy means that another process is comparing the index with the library.
var ErrReconcileBusy = errors.New("another process is comparing the index with the library")

// LockReconcile runs fn while no other process fills or compares an index, or
// returns ErrReconcileBusy at once.
func (ix *State) LockReconcile(ctx context.Context, index string, fn func() error) error {
	return pg.TryLocked(ctx, ix.pool, indexLock(pg.ReconcileLock, index), ErrReconcileBusy, func(*pgxpool.Conn) error { return fn() })
}
