package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/indexstate"
)

// Operations lists what was done and takes it back.
type Operations struct{ s *Store }

const operationColumns = `operation_id, tool, permission, actor_kind, actor_id, request_id, at, coalesce(undone_by, ''), coalesce(undoes, ''), summary`

func scanOperation(row pgx.CollectableRow) (o library.Operation, err error) {
	err = row.Scan(&o.ID, &o.Tool, &o.Permission, &o.ActorKind, &o.ActorID, &o.RequestID, &o.At, &o.UndoneBy, &o.Undoes, &o.Changes)
	return o, err
}

// OperationFilter narrows a list of operations; zero values do not.
type OperationFilter struct {
	ActorID, Tool string
	Noun, Key     string // operations that changed a thing of this kind, or this thing
	After, Before time.Time
	Undone        *bool
}

// visibleOperation returns the condition under which a caller sees an operation o: it is
// the caller's own, or changed no asset and no annotation that the caller does not see.
func visibleOperation(caller string) string {
	return `(` + caller + ` IN ('*', o.actor_id) OR NOT EXISTS (
		SELECT FROM journal j JOIN assets a ON a.tenant_id = j.tenant_id AND a.asset_h = left(j.key, 40)
		WHERE j.tenant_id = o.tenant_id AND j.operation_id = o.operation_id AND j.noun IN ('asset', 'model_link', 'collection_item', 'annotation', 'experiment_run', 'run_score', 'unlinked_duplicate') AND NOT ` + visibleTo("a", caller) + `)
		AND NOT EXISTS (SELECT FROM journal j JOIN assets a ON a.tenant_id = j.tenant_id AND a.asset_h = right(j.key, 40)
		WHERE j.tenant_id = o.tenant_id AND j.operation_id = o.operation_id AND j.noun = 'unlinked_duplicate' AND NOT ` + visibleTo("a", caller) + `)
		AND NOT EXISTS (SELECT FROM journal j JOIN annotations n ON n.tenant_id = j.tenant_id AND n.annotation_id = right(j.key, 40)
		WHERE j.tenant_id = o.tenant_id AND j.operation_id = o.operation_id AND j.noun = 'annotation' AND NOT ` + annotationVisible("n.visibility", "n.author", caller) + `))`
}

// List lists operations that the actor sees, the newest first, at most limit of
// them and only those before the one named by cursor.
func (ops *Operations) List(ctx context.Context, actor library.Actor, f OperationFilter, cursor string, limit int) ([]library.Operation, error) {
	where, args := []string{"tenant_id = $1", visibleOperation("$2")}, []any{actor.Tenant, viewer(actor)}
	add := func(condition string, value any) {
		args = append(args, value)
		where = append(where, strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(len(args))))
	}
	if cursor != "" {
		add("operation_id < ?", cursor)
	}
	if f.ActorID != "" {
		add("actor_id = ?", f.ActorID)
	}
	if f.Tool != "" {
		add("tool = ?", f.Tool)
	}
	if f.Noun != "" {
		add("jsonb_exists(summary, ?)", f.Noun)
	}
	if f.Key != "" {
		add("operation_id IN (SELECT operation_id FROM audit WHERE tenant_id = $1 AND subject = ?)", f.Key)
	}
	if !f.After.IsZero() {
		add("at >= ?", f.After)
	}
	if !f.Before.IsZero() {
		add("at < ?", f.Before)
	}
	if f.Undone != nil {
		add("(undone_by IS NOT NULL) = ?", *f.Undone)
	}
	args = append(args, limit)
	var list []library.Operation
	err := ops.s.readTenant(ctx, actor.Tenant, `SELECT `+operationColumns+` FROM operations o WHERE `+strings.Join(where, " AND ")+
		` ORDER BY operation_id DESC LIMIT $`+strconv.Itoa(len(args)), args, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, scanOperation)
		return err
	})
	return list, err
}

// Versions returns the versions that an operation's documents had after it in an index:
// the index shows the operation once it has all of them. An unknown operation has none.
func (ops *Operations) Versions(ctx context.Context, tenant library.TenantID, index, operationID string) ([]indexstate.DocumentVersion, error) {
	var list []indexstate.DocumentVersion
	err := ops.s.readTenant(ctx, tenant, `SELECT key, version FROM operation_documents WHERE tenant_id = $1 AND operation_id = $2 AND index_name = $3`,
		[]any{tenant, operationID, index}, func(rows pgx.Rows) error {
			v := indexstate.DocumentVersion{DocumentKey: indexstate.DocumentKey{Tenant: tenant}, Live: true}
			_, err := pgx.ForEachRow(rows, []any{&v.Key, &v.Version}, func() error {
				list = append(list, v)
				return nil
			})
			return err
		})
	return list, err
}

// Has reports whether a tenant has an operation of this identifier, also one that changed
// nothing that is indexed.
func (ops *Operations) Has(ctx context.Context, tenant library.TenantID, operationID string) (has bool, err error) {
	err = ops.s.readTenant(ctx, tenant, `SELECT EXISTS (SELECT FROM operations WHERE tenant_id = $1 AND operation_id = $2)`,
		[]any{tenant, operationID}, func(rows pgx.Rows) (err error) {
			has, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
			return err
		})
	return has, err
}
