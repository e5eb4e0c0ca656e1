package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Uploads keeps how far uploads in parts have come. Their bytes are staged files.
type Uploads struct{ s *Store }

const uploadColumns = `tenant_id::text, upload_id::text, owner, filename, metadata, length, received, parts, expires_at`

func scanUpload(row pgx.CollectableRow) (u library.Upload, err error) {
	err = row.Scan(&u.Tenant, &u.ID, &u.Owner, &u.Filename, &u.Metadata, &u.Length, &u.Received, &u.Parts, &u.ExpiresAt)
	return u, err
}

// UploadRoom is how much of a tenant is under way.
type UploadRoom struct {
	Uploads int
	Bytes   int64 // that they will have
}

// Open counts the uploads of a tenant that are not complete.
func (us *Uploads) Open(ctx context.Context, tenant library.TenantID) (r UploadRoom, err error) {
	err = us.s.readTenant(ctx, tenant, `SELECT count(*), coalesce(sum(length), 0)::bigint FROM uploads
		WHERE tenant_id = $1 AND received < length AND expires_at > now()`, []any{tenant}, func(rows pgx.Rows) (err error) {
		r, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[UploadRoom])
		return err
	})
	return r, err
}

// Create begins an upload; it expires after a time.
func (us *Uploads) Create(ctx context.Context, u library.Upload, valid time.Duration) (expires time.Time, err error) {
	_, err = us.s.Write(ctx, uploader(u.Tenant), func(t *Tx) error {
		return t.QueryRow(ctx, `INSERT INTO uploads (tenant_id, upload_id, owner, filename, metadata, length, expires_at)
			VALUES ($1, $2::text::uuid, $3, $4, $5, $6, now() + $7) RETURNING expires_at`, u.Tenant, u.ID, u.Owner, u.Filename, u.Metadata, u.Length, valid).Scan(&expires)
	})
	return expires, err
}

// uploader is who notes how far uploads have come.
func uploader(tenant library.TenantID) library.Actor {
	return library.Actor{Kind: library.ActorSystem, ID: "uploads", Tenant: tenant}
}

// Get returns an upload that the actor began and that has not expired.
func (us *Uploads) Get(ctx context.Context, actor library.Actor, id string) (u library.Upload, err error) {
	err = us.s.readTenant(ctx, actor.Tenant, `SELECT `+uploadColumns+` FROM uploads WHERE tenant_id = $1 AND upload_id::text = $2 AND owner = $3 AND expires_at > now()`,
		[]any{actor.Tenant, id, actor.ID}, func(rows pgx.Rows) (err error) {
			u, err = pgx.CollectExactlyOneRow(rows, scanUpload)
			return err
		})
	if errors.Is(err, pgx.ErrNoRows) {
		return u, library.NotFound("upload")
	}
	return u, err
}

// Received notes that n more bytes are staged durably, in some parts. It is false when the
// upload has not come exactly as far as u says, or is gone: then nothing is noted.
func (us *Uploads) Received(ctx context.Context, u library.Upload, n int64, parts []string) (noted bool, err error) {
	_, err = us.s.Write(ctx, uploader(u.Tenant), func(t *Tx) error {
		tag, err := t.Exec(ctx, `UPDATE uploads SET received = received + $4, parts = parts || $5::text[]
			WHERE tenant_id = $1 AND upload_id::text = $2 AND received = $3 AND expires_at > now()`, u.Tenant, u.ID, u.Received, n, parts)
		noted = tag.RowsAffected() == 1
		return err
	})
	return noted && err == nil, err
}

// Delete forgets an upload.
func (us *Uploads) Delete(ctx context.Context, tenant library.TenantID, id string) error {
	return us.s.execTenant(ctx, tenant, `DELETE FROM uploads WHERE tenant_id = $1 AND upload_id::text = $2`, tenant, id)
}

// Expired lists uploads of all tenants that have expired, at most limit of them.
func (us *Uploads) Expired(ctx context.Context, limit int) ([]library.Upload, error) {
	return collectIndexer(ctx, us.s, `SELECT `+uploadColumns+` FROM uploads WHERE expires_at <= now() ORDER BY expires_at LIMIT $1`, scanUpload, limit)
}
