package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
)

// setTenant binds a transaction to the tenant of a claim.
const setTenant = `SELECT set_config('app.tenant', $1, true)`

// claims makes the proofs that the function current_tenant() of the database asks
// for. The key is read with the indexer's role, which the connections of requests
// cannot take: SQL that somebody smuggles into a request cannot claim another tenant.
type claims struct{ key atomic.Pointer[[]byte] }

// read fetches the key.
func (c *claims) read(ctx context.Context, pool *pgxpool.Pool) error {
	var key []byte
	if err := pool.QueryRow(ctx, `SELECT key FROM tenant_key`).Scan(&key); err != nil {
		return err
	}
	c.key.Store(&key)
	return nil
}

// of returns the claim of a tenant, the argument of setTenant.
func (c *claims) of(tenant library.TenantID) string {
	mac := hmac.New(sha256.New, *c.key.Load())
	mac.Write([]byte(tenant))
	return string(tenant) + ":" + hex.EncodeToString(mac.Sum(nil))
}

// check reports whether the database takes the claims. It does not after somebody
// put another database in its place.
func (c *claims) check(ctx context.Context, conn *pgx.Conn) (good bool, err error) {
	b := &pgx.Batch{}
	b.Queue(setTenant, c.of(defaultTenant))
	b.Queue(`SELECT current_tenant()`)
	err = conn.SendBatch(ctx, b).Close()
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42501" {
		return false, nil
	}
	return err == nil, err
}
