package store

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// newID makes an identifier that sorts by the time it was made.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func batchOperation(b *pgx.Batch, actor library.Actor, id, tool string) {
	b.Queue(`INSERT INTO operations (tenant_id, operation_id, tool, actor_kind, actor_id) VALUES ($1, $2, $3, $4, $5)`,
		actor.Tenant, id, tool, actor.Kind, actor.ID)
}

// batchChange keeps what an operation did to one asset; a holds the asset as it is now.
func batchChange(b *pgx.Batch, tenant library.TenantID, operation string, a library.Asset, before, after fields) {
	b.Queue(`INSERT INTO operation_changes (tenant_id, operation_id, asset_h, doc_version, before, after) VALUES ($1, $2, $3, $4, $5, $6)`,
		tenant, operation, a.Hash, a.DocVersion, before, after)
}

func batchAudit(b *pgx.Batch, actor library.Actor, action, subject, operation string, detail any) {
	b.Queue(`INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject, operation_id, detail) VALUES ($1, $2, $3, $4, $5, nullif($6, ''), $7)`,
		actor.Tenant, actor.Kind, actor.ID, action, subject, operation, detail)
}

func batchOutbox(b *pgx.Batch, tenant library.TenantID, hash library.AssetHash, version int64, reason string) {
	b.Queue(`INSERT INTO outbox (tenant_id, asset_h, doc_version, reason) VALUES ($1, $2, $3, $4)`, tenant, hash, version, reason)
}

// OperationVersions gives the versions that an operation's assets had after it:
// the index shows the operation once it has all of them. An unknown operation
// has none.
func (s *Store) OperationVersions(ctx context.Context, tenant library.TenantID, operationID string) ([]AssetVersion, error) {
	var list []AssetVersion
	err := s.readTenant(ctx, tenant, `SELECT asset_h, doc_version FROM operation_changes WHERE tenant_id = $1 AND operation_id = $2`,
		[]any{tenant, operationID}, func(rows pgx.Rows) error {
			v := AssetVersion{AssetKey: AssetKey{Tenant: tenant}, Live: true}
			_, err := pgx.ForEachRow(rows, []any{&v.Hash, &v.Version}, func() error {
				list = append(list, v)
				return nil
			})
			return err
		})
	return list, err
}
