package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Keys keeps API keys, as hashes.
type Keys struct{ s *Store }

// Create stores a key under the SHA-256 of its secret. The caller chose the
// id and checked the permissions; every tenant named must exist. The times that
// the database sets are filled in.
func (ks *Keys) Create(ctx context.Context, actor library.Actor, k *library.Key, hash [32]byte) error {
	name, err := cleanName(k.Name)
	if err != nil {
		return err
	}
	k.Name = name
	if err := ks.s.Tenants.exist(ctx, append([]library.TenantID{k.Tenant}, k.MoreTenants...)); err != nil {
		return err
	}
	return ks.s.inTenant(ctx, k.Tenant, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO api_keys (key_id, tenant_id, key_hash, hint, name, permissions, more_tenants, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7::text[]::uuid[], $8) RETURNING created_at`,
			k.ID, k.Tenant, hash[:], k.Hint, k.Name, toStrings(k.Permissions), toStrings(k.MoreTenants), k.ExpiresAt).Scan(&k.CreatedAt)
		if err != nil {
			return err
		}
		return auditAccess(ctx, tx, actor, k.Tenant, "key.created", k.ID, map[string]any{
			"name": k.Name, "permissions": toStrings(k.Permissions), "more_tenants": toStrings(k.MoreTenants)})
	})
}

// List returns the keys whose default tenant this is, the oldest first,
// revoked ones included.
func (ks *Keys) List(ctx context.Context, tenant library.TenantID) ([]library.Key, error) {
	var keys []library.Key
	err := ks.s.readTenant(ctx, tenant, `SELECT key_id, tenant_id::text, name, hint, permissions, more_tenants::text[],
			created_at, expires_at, last_used_at, revoked_at
		FROM api_keys WHERE tenant_id = $1 ORDER BY created_at, key_id`, []any{tenant},
		func(rows pgx.Rows) (err error) {
			keys, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (k library.Key, err error) {
				err = r.Scan(&k.ID, &k.Tenant, &k.Name, &k.Hint, &k.Permissions, &k.MoreTenants,
					&k.CreatedAt, &k.ExpiresAt, &k.LastUsedAt, &k.RevokedAt)
				return k, err
			})
			return err
		})
	return keys, err
}

// Revoke ends a key for good. Revoking twice changes nothing; a key of another
// tenant is NOT_FOUND.
func (ks *Keys) Revoke(ctx context.Context, actor library.Actor, tenant library.TenantID, keyID string) error {
	return ks.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		var already bool
		err := tx.QueryRow(ctx, `SELECT revoked_at IS NOT NULL FROM api_keys WHERE tenant_id = $1 AND key_id = $2 FOR UPDATE`,
			tenant, keyID).Scan(&already)
		if errors.Is(err, pgx.ErrNoRows) {
			return library.NotFound("key")
		}
		if err != nil || already {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE api_keys SET revoked_at = now() WHERE tenant_id = $1 AND key_id = $2`, tenant, keyID); err != nil {
			return err
		}
		return auditAccess(ctx, tx, actor, tenant, "key.revoked", keyID, nil)
	})
}

// Find looks a key up by the SHA-256 of its secret, over all tenants, before
// any tenant is known. It reports false when there is none. Whether the key is
// still good is the caller's to judge. Hint and usage times are not filled in.
func (ks *Keys) Find(ctx context.Context, hash [32]byte) (k library.Key, found bool, err error) {
	conn, release, err := ks.s.acquire(ctx)
	if err != nil {
		return library.Key{}, false, err
	}
	defer release()
	err = conn.QueryRow(ctx, `SELECT key_id, tenant_id::text, name, permissions, more_tenants::text[], expires_at, revoked_at
		FROM find_api_key($1)`, hash[:]).
		Scan(&k.ID, &k.Tenant, &k.Name, &k.Permissions, &k.MoreTenants, &k.ExpiresAt, &k.RevokedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return library.Key{}, false, nil
	}
	return k, err == nil, unavailable(err)
}

// LinkActor returns who acts by the links that a key made in a tenant, and reports
// whether they are good: the key is known, reaches that tenant, and is neither revoked
// nor expired.
func (ks *Keys) LinkActor(ctx context.Context, tenant library.TenantID, keyID string) (actor library.Actor, valid bool, err error) {
	conn, release, err := ks.s.acquire(ctx)
	if err != nil {
		return actor, false, err
	}
	defer release()
	actor = library.Actor{Kind: library.ActorKey, ID: keyID, Tenant: tenant}
	err = conn.QueryRow(ctx, `SELECT p, p IS NOT NULL FROM api_key_permissions($1, $2::text::uuid) AS p`, keyID, string(tenant)).Scan(&actor.Permissions, &valid)
	return actor, valid, unavailable(err)
}

// Touch notes that a key was used, at most once a minute.
func (ks *Keys) Touch(ctx context.Context, tenant library.TenantID, keyID string) error {
	return ks.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE api_keys SET last_used_at = now()
			WHERE tenant_id = $1 AND key_id = $2 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`, tenant, keyID)
		return err
	})
}

// exist refuses a key for a tenant that is not there. Row level security
// hides other tenants from the request role, hence the reading role.
func (ts *Tenants) exist(ctx context.Context, want []library.TenantID) error {
	for _, t := range want {
		if !t.Valid() {
			return library.NotFound("tenant")
		}
	}
	var missing int
	err := ts.s.indexer.QueryRow(ctx, `SELECT count(*) FROM unnest($1::text[]) AS w(id)
		WHERE NOT EXISTS (SELECT 1 FROM tenants t WHERE t.tenant_id = w.id::uuid)`, toStrings(want)).Scan(&missing)
	if err != nil {
		return unavailable(err)
	}
	if missing > 0 {
		return library.NotFound("tenant")
	}
	return nil
}

// toStrings returns any kind of string as text, for an array parameter that is never null.
func toStrings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
