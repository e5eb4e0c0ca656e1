package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Webhooks are endpoints that are told of events, and the deliveries to them.
type Webhooks struct{ s *Store }

// MaxWebhooks is how many webhooks one tenant may have.
const MaxWebhooks = 100

// webhookNoun is a webhook; its key is the id. Its secrets are not journaled. A URL may hold a
// secret of the receiver's.
var webhookNoun = softDeleted(&Noun{name: "webhook", personal: true, row: &rowTable{table: "webhooks", key: []string{"webhook_id"}, label: "name", touched: "updated_at", trash: "deleted_at",
	columns: []string{"name", "url", "events", "description", "enabled", "disabled_reason", "timeout_ms", "created_at", "created_by", "deleted_at"}}})

func init() { register(webhookNoun, undoRows) }

const (
	webhookColumns = `w.webhook_id, w.name, w.url, w.events, w.description, w.enabled, w.disabled_reason, w.timeout_ms, w.created_at, w.created_by, w.updated_at,
	coalesce(h.failures, 0), h.failing_since, h.blocked_until, h.last_success_at,
	(SELECT count(*) FROM (SELECT FROM webhook_deliveries d WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.webhook_id AND d.state = 'pending' LIMIT 10000) x)`
	webhooksFrom = ` FROM webhooks w LEFT JOIN webhook_health h ON h.tenant_id = w.tenant_id AND h.webhook_id = w.webhook_id WHERE w.tenant_id = $1 AND w.deleted_at IS NULL`
)

func scanWebhook(row pgx.CollectableRow) (w library.Webhook, err error) {
	var timeout int
	err = row.Scan(&w.ID, &w.Name, &w.URL, &w.Events, &w.Description, &w.Enabled, &w.DisabledReason, &timeout, &w.CreatedAt, &w.CreatedBy, &w.UpdatedAt,
		&w.Health.Failures, &w.Health.FailingSince, &w.Health.BlockedUntil, &w.Health.LastSuccess, &w.Health.Pending)
	w.Timeout = time.Duration(timeout) * time.Millisecond
	return w, err
}

// NewWebhookID returns an id for a webhook that is about to be added: its secret is sealed for it.
func NewWebhookID() string { return newID() }

// List returns a tenant's webhooks in the order of their making, and how many there are.
func (ws *Webhooks) List(ctx context.Context, tenant library.TenantID, limit, offset int) (list []library.Webhook, total int, err error) {
	err = ws.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		if err := tx.QueryRow(ctx, `SELECT count(*)`+webhooksFrom, tenant).Scan(&total); err != nil {
			return err
		}
		list, err = queryRows(ctx, tx, scanWebhook, `SELECT `+webhookColumns+webhooksFrom+` ORDER BY w.webhook_id LIMIT $2 OFFSET $3`, tenant, limit, offset)
		return err
	})
	return list, total, err
}

// Get returns one webhook; a not-found error when there is none.
func (ws *Webhooks) Get(ctx context.Context, tenant library.TenantID, id string) (w library.Webhook, err error) {
	err = ws.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		w, err = getWebhook(ctx, tx, tenant, id)
		return err
	})
	return w, err
}

func getWebhook(ctx context.Context, tx pgx.Tx, tenant library.TenantID, id string) (library.Webhook, error) {
	list, err := queryRows(ctx, tx, scanWebhook, `SELECT `+webhookColumns+webhooksFrom+` AND w.webhook_id = $2`, tenant, id)
	if err == nil && len(list) == 0 {
		err = library.NotFound("webhook")
	}
	if err != nil {
		return library.Webhook{}, err
	}
	return list[0], nil
}

// Add keeps a webhook, whose id NewWebhookID made, with its sealed secret. A first delivery
// that was tried already goes to its log; nil: there is none. One webhook too many is a conflict.
func (ws *Webhooks) Add(ctx context.Context, actor library.Actor, w library.Webhook, secret []byte, first *library.Delivery) (out library.Webhook, operationID string, err error) {
	operationID, err = ws.s.Write(ctx, actor, func(t *Tx) error {
		var have int
		if err := t.QueryRow(ctx, `SELECT count(*) FROM webhooks WHERE tenant_id = $1 AND deleted_at IS NULL`, t.tenant()).Scan(&have); err != nil {
			return err
		}
		if have >= MaxWebhooks {
			return library.NewError(library.KindConflict, library.CodeConflict, "This tenant has %d webhooks, the maximum. Delete one first.", MaxWebhooks)
		}
		err := t.Track(ctx, webhookNoun, []string{w.ID}, func() error {
			_, err := t.Exec(ctx, `INSERT INTO webhooks (tenant_id, webhook_id, name, url, events, description, enabled, timeout_ms, secret, created_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, t.tenant(), w.ID, w.Name, w.URL, w.Events, w.Description, w.Enabled, w.Timeout.Milliseconds(), secret, actor.ID)
			return err
		})
		if err == nil && first != nil {
			err = t.logDelivery(ctx, w.ID, *first)
		}
		if err == nil {
			out, err = getWebhook(ctx, t, t.tenant(), w.ID)
		}
		return err
	})
	return out, operationID, err
}

// Change changes a webhook by a function of what it is. One that is enabled, or gets another
// URL, starts afresh: its failures are forgotten.
func (ws *Webhooks) Change(ctx context.Context, actor library.Actor, id string, change func(*library.Webhook)) (out library.Webhook, operationID string, err error) {
	operationID, err = ws.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, webhookNoun, []string{id}, func() error {
			w, err := getWebhook(ctx, t, t.tenant(), id)
			if err != nil {
				return err
			}
			was := w
			change(&w)
			if w.Enabled && (!was.Enabled || w.URL != was.URL) {
				w.DisabledReason = ""
				if _, err := t.Exec(ctx, `UPDATE webhook_health SET failures = 0, failing_since = NULL, blocked_until = NULL WHERE tenant_id = $1 AND webhook_id = $2`, t.tenant(), id); err != nil {
					return err
				}
			}
			if _, err := t.Exec(ctx, `UPDATE webhooks SET name = $3, url = $4, events = $5, description = $6, enabled = $7, disabled_reason = $8, timeout_ms = $9, updated_at = now()
				WHERE tenant_id = $1 AND webhook_id = $2`, t.tenant(), id, w.Name, w.URL, w.Events, w.Description, w.Enabled, w.DisabledReason, w.Timeout.Milliseconds()); err != nil {
				return err
			}
			out, err = getWebhook(ctx, t, t.tenant(), id)
			return err
		})
	})
	return out, operationID, err
}

// Delete deletes a webhook. What waits for delivery is not sent, until the deletion is undone.
func (ws *Webhooks) Delete(ctx context.Context, actor library.Actor, id string) (operationID string, err error) {
	return ws.s.softDelete(ctx, actor, webhookNoun, id)
}

// WebhookSecrets are the sealed secrets of a webhook.
type WebhookSecrets struct {
	Now      []byte
	Old      []byte // nil: there is none
	OldUntil time.Time
}

// Secrets returns the secrets that requests are signed with at a time, sealed.
func (ws *Webhooks) Secrets(ctx context.Context, tenant library.TenantID, id string, at time.Time) (x WebhookSecrets, err error) {
	err = ws.s.readTenant(ctx, tenant, `SELECT secret, CASE WHEN old_secret_until > $3 THEN old_secret END, coalesce(old_secret_until, to_timestamp(0))
		FROM webhooks WHERE tenant_id = $1 AND webhook_id = $2 AND deleted_at IS NULL`,
		[]any{tenant, id, at}, func(rows pgx.Rows) (err error) {
			x, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[WebhookSecrets])
			if errors.Is(err, pgx.ErrNoRows) {
				err = library.NotFound("webhook")
			}
			return err
		})
	return x, err
}

// Rotate replaces a webhook's sealed secret. Requests are signed with the old one too until a
// time. The rotation is audited and cannot be undone: a secret is changed because it must be.
func (ws *Webhooks) Rotate(ctx context.Context, actor library.Actor, id string, secret []byte, oldUntil time.Time) error {
	_, err := ws.s.Write(ctx, actor, func(t *Tx) error {
		tag, err := t.Exec(ctx, `UPDATE webhooks SET old_secret = secret, old_secret_until = $4, secret = $3, updated_at = now()
			WHERE tenant_id = $1 AND webhook_id = $2 AND deleted_at IS NULL`, t.tenant(), id, secret, oldUntil)
		if err == nil && tag.RowsAffected() == 0 {
			err = library.NotFound("webhook")
		}
		if err != nil {
			return err
		}
		return t.Audit(ctx, "webhook.secret_rotated", id, nil)
	})
	return err
}
