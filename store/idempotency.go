package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Idempotency keeps the responses to requests that came with an Idempotency-Key.
type Idempotency struct{ s *Store }

// Begin claims a caller's Idempotency-Key for one request. A key that has its answer
// returns the stored response; a key whose request is still running returns none.
//
// An answer is kept for 24 hours, see Expire. A claim without an answer is void a minute
// after it was last renewed, so a process that died does not block its caller.
func (id *Idempotency) Begin(ctx context.Context, tenant library.TenantID, actorID, key string, request [32]byte) (r library.IdempotentRequest, err error) {
	err = id.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO idempotency AS i (tenant_id, actor_id, key, request_hash) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, actor_id, key) DO UPDATE SET request_hash = $4, response = NULL, version = '', created_at = now()
			WHERE i.created_at < now() - CASE WHEN i.response IS NULL THEN interval '1 minute' ELSE interval '24 hours' END
			RETURNING true`, tenant, actorID, key, request[:]).Scan(&r.Claimed)
		if err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT request_hash, response, version FROM idempotency WHERE tenant_id = $1 AND actor_id = $2 AND key = $3`,
			tenant, actorID, key).Scan(&r.Hash, &r.Response, &r.Version)
		if errors.Is(err, pgx.ErrNoRows) { // given back this moment: the caller may try again
			r.Hash = request[:]
			return nil
		}
		return err
	})
	return r, err
}

// Renew keeps a claim alive while its request runs.
func (id *Idempotency) Renew(ctx context.Context, tenant library.TenantID, actorID, key string) error {
	return id.s.execTenant(ctx, tenant, `UPDATE idempotency SET created_at = now()
		WHERE tenant_id = $1 AND actor_id = $2 AND key = $3 AND response IS NULL`, tenant, actorID, key)
}

// Finish stores the answer, a JSON object, under a claimed key, and the version of what it
// shows.
func (id *Idempotency) Finish(ctx context.Context, tenant library.TenantID, actorID, key string, response []byte, version string) error {
	return id.s.execTenant(ctx, tenant, `UPDATE idempotency SET response = $4, version = $5, created_at = now()
		WHERE tenant_id = $1 AND actor_id = $2 AND key = $3 AND response IS NULL`, tenant, actorID, key, response, version)
}

// Release removes a claimed key whose request failed and changed nothing.
func (id *Idempotency) Release(ctx context.Context, tenant library.TenantID, actorID, key string) error {
	return id.s.execTenant(ctx, tenant, `DELETE FROM idempotency
		WHERE tenant_id = $1 AND actor_id = $2 AND key = $3 AND response IS NULL`, tenant, actorID, key)
}

// execTenant runs one statement that sees only the tenant's rows.
func (s *Store) execTenant(ctx context.Context, tenant library.TenantID, sql string, args ...any) error {
	_, err := s.execTenantRows(ctx, tenant, sql, args...)
	return err
}

// execTenantRows is execTenant that reports how many rows were affected.
func (s *Store) execTenantRows(ctx context.Context, tenant library.TenantID, sql string, args ...any) (rows int64, err error) {
	err = s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql, args...)
		rows = tag.RowsAffected()
		return err
	})
	return rows, err
}
