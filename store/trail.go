package store

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// newID makes an identifier that sorts by the time it was made.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func queueOperation(b *pgx.Batch, actor library.Actor, id, tool string) {
	b.Queue(`INSERT INTO operations (tenant_id, operation_id, tool, actor_kind, actor_id) VALUES ($1, $2, $3, $4, $5)`,
		actor.Tenant, id, tool, actor.Kind, actor.ID)
}

func queueAudit(b *pgx.Batch, actor library.Actor, action, subject, operation string, detail any) {
	b.Queue(`INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject, operation_id, detail) VALUES ($1, $2, $3, $4, $5, nullif($6, ''), $7)`,
		actor.Tenant, actor.Kind, actor.ID, action, subject, operation, detail)
}

func queueOutbox(b *pgx.Batch, tenant library.TenantID, hash library.AssetHash, version int64, reason string) {
	b.Queue(`INSERT INTO outbox (tenant_id, asset_h, doc_version, reason) VALUES ($1, $2, $3, $4)`, tenant, hash, version, reason)
}
