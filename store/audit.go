package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// newID makes an identifier that sorts by the time it was made.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// auditRow is who did what to what; the transaction knows who.
type auditRow struct {
	action, subject string
	detail          json.RawMessage // nil: none
}

// audit is the row of a recorded change.
func (e entry) audit() auditRow {
	row := auditRow{action: e.noun.name + ".updated", subject: e.key}
	switch {
	case e.before == nil:
		row.action = e.noun.name + ".created"
	case e.after == nil:
		row.action = e.noun.name + ".deleted"
	}
	sides := map[string]json.RawMessage{}
	if e.before != nil {
		sides["before"] = e.before
	}
	if e.after != nil {
		sides["after"] = e.after
	}
	if e.noun.personal {
		sides = map[string]json.RawMessage{"fields": fieldNames(e.before, e.after)}
	}
	row.detail, _ = json.Marshal(sides) // every value is JSON already
	return row
}

// fieldNames lists the names of the fields of both sides of a change.
func fieldNames(sides ...json.RawMessage) json.RawMessage {
	names := map[string]bool{}
	for _, side := range sides {
		var fields map[string]json.RawMessage
		if json.Unmarshal(side, &fields) == nil {
			for name := range fields {
				names[name] = true
			}
		}
	}
	list, _ := json.Marshal(slices.Sorted(maps.Keys(names))) // strings always encode
	return list
}

// Audit adds to the audit trail what no undo takes back, such as a key that was
// revoked. Changes that Record takes are added by it.
func (t *Tx) Audit(ctx context.Context, action, subject string, detail any) error {
	raw, err := encodeState(detail)
	if err != nil {
		return err
	}
	t.audits = append(t.audits, auditRow{action, subject, raw})
	return t.flushFull(ctx)
}

// queueAudit is the one place that writes the audit trail.
func (t *Tx) queueAudit(b *pgx.Batch) {
	if len(t.audits) == 0 {
		return
	}
	n := len(t.audits)
	actions, subjects, details := make([]string, n), make([]string, n), make([]*string, n)
	for i, a := range t.audits {
		actions[i], subjects[i], details[i] = a.action, a.subject, text(a.detail)
	}
	t.audits = t.audits[:0]
	b.Queue(`INSERT INTO audit (tenant_id, actor_kind, actor_id, operation_id, action, subject, detail)
		SELECT $1, $2, $3, nullif($4, ''), a, s, d::jsonb FROM unnest($5::text[], $6::text[], $7::text[]) AS x(a, s, d)`,
		t.tenant(), t.actor.Kind, t.actor.ID, t.operation, actions, subjects, details)
}

// auditAccess writes who changed a tenant or a key, in the transaction of the change.
func auditAccess(ctx context.Context, tx pgx.Tx, actor library.Actor, tenant library.TenantID, action, subject string, detail map[string]any) error {
	actor.Tenant = tenant
	t := &Tx{Tx: tx, actor: actor}
	var raw any // nil, rather than a map that is nil
	if detail != nil {
		raw = detail
	}
	if err := t.Audit(ctx, action, subject, raw); err != nil {
		return err
	}
	return t.Send(ctx, &pgx.Batch{})
}
