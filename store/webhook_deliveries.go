package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// maxAttemptLog is how many attempts are kept of one delivery.
const maxAttemptLog = 20

// DeliveryRetention is how long deliveries are kept.
const DeliveryRetention = 30 * 24 * time.Hour

// Subscribed returns the event patterns of the enabled webhooks of a tenant, and the time of the
// database at which they were read: events that were written before that concern no other webhooks.
func (ws *Webhooks) Subscribed(ctx context.Context, tenant library.TenantID) (patterns []string, at time.Time, err error) {
	err = ws.s.indexer.QueryRow(ctx, `SELECT coalesce((SELECT array_agg(DISTINCT e) FROM webhooks w, unnest(w.events) AS e
		WHERE w.tenant_id = $1 AND w.enabled AND w.deleted_at IS NULL), '{}'), now()`, tenant).Scan(&patterns, &at)
	return patterns, at, unavailable(err)
}

// Deliver makes a delivery of an event for each enabled webhook of its tenant that subscribes to one
// of the patterns and was there before the event, unless there is one already. A payload that has
// webhook_ids is for these alone. Deliver reports how many it made.
func (ws *Webhooks) Deliver(ctx context.Context, e LoggedEvent, patterns []string, body []byte) (int64, error) {
	tag, err := ws.s.indexer.Exec(ctx, `INSERT INTO webhook_deliveries (tenant_id, delivery_id, webhook_id, source, event_type, body)
		SELECT w.tenant_id, gen_random_uuid()::text, w.webhook_id, left((SELECT epoch::text FROM index_state), 8) || '.' || $2::bigint, $3, $5
		FROM webhooks w WHERE w.tenant_id = $1 AND w.enabled AND w.deleted_at IS NULL AND w.events && $4::text[] AND w.created_at <= $6
			AND (NOT $7::jsonb ? 'webhook_ids' OR $7::jsonb -> 'webhook_ids' ? w.webhook_id)
		ON CONFLICT DO NOTHING`, e.Tenant, e.Position, e.Type, patterns, string(body), e.At, string(e.Payload))
	return tag.RowsAffected(), unavailable(err)
}

// logDelivery keeps a delivery that was tried outside of the queue, such as a ping.
func (t *Tx) logDelivery(ctx context.Context, webhook string, d library.Delivery) error {
	log, err := jsonb(d.Log)
	if err != nil {
		return err
	}
	_, err = t.Exec(ctx, `INSERT INTO webhook_deliveries (tenant_id, delivery_id, webhook_id, source, event_type, body, state, attempts, attempt_log, finished_at)
		VALUES ($1, $2, $3, 'ping/' || $2, $4, $5, $6, 1, $7, now())`, t.tenant(), d.ID, webhook, d.EventType, d.Body, d.State, string(log))
	if err == nil && d.State == library.DeliveryDelivered {
		_, err = t.Exec(ctx, `INSERT INTO webhook_health AS h (tenant_id, webhook_id, last_success_at) VALUES ($1, $2, now()) `+markHealthy, t.tenant(), webhook)
	}
	return err
}

// LogPing keeps a ping that was sent to a webhook.
func (ws *Webhooks) LogPing(ctx context.Context, actor library.Actor, webhook string, d library.Delivery) error {
	_, err := ws.s.Write(ctx, actor, func(t *Tx) error { return t.logDelivery(ctx, webhook, d) })
	return err
}

// NewDeliveryID returns an id for a delivery.
func NewDeliveryID() string { return newID() }

// DueDelivery is a delivery that was claimed, with what it takes to send it.
type DueDelivery struct {
	Tenant       library.TenantID
	ID           string
	WebhookID    string
	EventType    string
	Body         string
	Attempts     int // before this one
	CreatedAt    time.Time
	URL          string
	TimeoutMS    int
	Secret       []byte
	OldSecret    []byte     // nil: it is not used any more
	Failures     int        // of the endpoint, in a row
	FailingSince *time.Time // the first of them
}

// DeliveryClaim is which deliveries are claimed, and for how long.
type DeliveryClaim struct {
	Now         time.Time // zero: the time of the database
	Failing     bool      // of endpoints whose last attempt failed or that had none yet; else of all others
	Limit       int
	PerEndpoint int           // that may be under way to one endpoint at once
	Lease       time.Duration // behind the endpoint's timeout, when the delivery may be claimed again
}

// Claim claims deliveries that are due, of all tenants: of each endpoint the longest due, and one of
// every endpoint before a second one of any. Endpoints that failed least often come first.
func (ws *Webhooks) Claim(ctx context.Context, c DeliveryClaim) ([]DueDelivery, error) {
	return collectIndexer(ctx, ws.s, `WITH clock AS (SELECT coalesce($1::timestamptz, now()) AS now),
		endpoint AS MATERIALIZED (
			SELECT w.tenant_id, w.webhook_id, w.url, w.timeout_ms, w.secret, CASE WHEN w.old_secret_until > clock.now THEN w.old_secret END AS old_secret,
				coalesce(h.failures, 0) AS failures, h.failing_since, $4 - busy.requests AS free, clock.now
			FROM clock, webhooks w LEFT JOIN webhook_health h ON h.tenant_id = w.tenant_id AND h.webhook_id = w.webhook_id
			CROSS JOIN LATERAL (SELECT d.next_at FROM webhook_deliveries d WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.webhook_id AND d.state = 'pending'
				AND d.next_at <= coalesce($1::timestamptz, now()) AND (d.lease_until IS NULL OR d.lease_until <= coalesce($1::timestamptz, now())) ORDER BY d.next_at LIMIT 1) first
			CROSS JOIN LATERAL (SELECT count(*) AS requests FROM webhook_deliveries x
				WHERE x.tenant_id = w.tenant_id AND x.webhook_id = w.webhook_id AND x.state = 'pending' AND x.next_at <= coalesce($1::timestamptz, now()) AND x.lease_until > coalesce($1::timestamptz, now())) busy
			WHERE busy.requests < $4 AND w.enabled AND w.deleted_at IS NULL AND (h.blocked_until IS NULL OR h.blocked_until <= clock.now) AND (h.last_success_at IS NULL OR h.failures > 0) = $2
			ORDER BY coalesce(h.failures, 0), first.next_at LIMIT $3
		), due AS (
			SELECT e.*, d.delivery_id FROM endpoint e CROSS JOIN LATERAL (
				SELECT d.delivery_id, d.next_at FROM webhook_deliveries d
				WHERE d.tenant_id = e.tenant_id AND d.webhook_id = e.webhook_id AND d.state = 'pending' AND d.next_at <= e.now AND (d.lease_until IS NULL OR d.lease_until <= e.now)
				ORDER BY d.next_at LIMIT e.free FOR UPDATE SKIP LOCKED) d
			ORDER BY row_number() OVER (PARTITION BY e.tenant_id, e.webhook_id ORDER BY d.next_at), e.failures, d.next_at LIMIT $3
		)
		UPDATE webhook_deliveries d SET lease_until = due.now + due.timeout_ms * interval '1 millisecond' + $5::interval FROM due
		WHERE d.tenant_id = due.tenant_id AND d.delivery_id = due.delivery_id
		RETURNING d.tenant_id::text, d.delivery_id, d.webhook_id, d.event_type, d.body, d.attempts, d.created_at, due.url, due.timeout_ms, due.secret, due.old_secret, due.failures, due.failing_since`,
		pgx.RowToStructByPos[DueDelivery], timeOrNull(c.Now), c.Failing, c.Limit, c.PerEndpoint, c.Lease)
}

// Release ends the claim of a delivery that was not attempted, or whose attempt was cut off: it
// is due again at once.
func (ws *Webhooks) Release(ctx context.Context, d DueDelivery) error {
	_, err := ws.s.indexer.Exec(ctx, `UPDATE webhook_deliveries SET lease_until = NULL WHERE tenant_id = $1 AND delivery_id = $2 AND state = 'pending'`, d.Tenant, d.ID)
	return unavailable(err)
}

// DeliveryOutcome is what became of an attempt.
type DeliveryOutcome struct {
	Now       time.Time // zero: the time of the database
	Attempt   library.DeliveryAttempt
	Delivered bool
	Last      bool          // it is not tried again
	RetryIn   time.Duration // until the next attempt
	PauseFor  time.Duration // nothing is sent to the endpoint meanwhile; 0: what is due is sent
}

// Finish records what became of an attempt at a delivery.
func (ws *Webhooks) Finish(ctx context.Context, d DueDelivery, o DeliveryOutcome) error {
	state := library.DeliveryPending
	switch {
	case o.Delivered:
		state = library.DeliveryDelivered
	case o.Last:
		state = library.DeliveryFailed
	}
	attempt, err := jsonb(o.Attempt)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`UPDATE webhook_deliveries SET state = $3, attempts = attempts + 1, next_at = coalesce($4::timestamptz, now()) + $5::interval, lease_until = NULL,
			attempt_log = CASE WHEN jsonb_array_length(attempt_log) >= $7 THEN attempt_log - 0 ELSE attempt_log END || $6::jsonb,
			finished_at = CASE WHEN $3 <> 'pending' THEN coalesce($4::timestamptz, now()) END
		WHERE tenant_id = $1 AND delivery_id = $2 AND state = 'pending'`, d.Tenant, d.ID, state, timeOrNull(o.Now), o.RetryIn, string(attempt), maxAttemptLog)
	if o.Delivered {
		// While it succeeds, the row is written once in ten seconds: attempts at one endpoint would wait for each other.
		b.Queue(`INSERT INTO webhook_health AS h (tenant_id, webhook_id, last_success_at) SELECT w.tenant_id, w.webhook_id, coalesce($3::timestamptz, now()) FROM webhooks w
			WHERE w.tenant_id = $1 AND w.webhook_id = $2 AND NOT EXISTS (SELECT FROM webhook_health k
				WHERE k.tenant_id = $1 AND k.webhook_id = $2 AND k.failures = 0 AND k.last_success_at >= coalesce($3::timestamptz, now()) - interval '10 seconds')
			`+markHealthy, d.Tenant, d.WebhookID, timeOrNull(o.Now))
	} else {
		b.Queue(`INSERT INTO webhook_health AS h (tenant_id, webhook_id, failures, failing_since, blocked_until)
			SELECT w.tenant_id, w.webhook_id, 1, coalesce($3::timestamptz, now()), coalesce($3::timestamptz, now()) + nullif($4::interval, interval '0') FROM webhooks w
			WHERE w.tenant_id = $1 AND w.webhook_id = $2
			ON CONFLICT (tenant_id, webhook_id) DO UPDATE SET failures = h.failures + 1, failing_since = coalesce(h.failing_since, excluded.failing_since),
				blocked_until = greatest(excluded.blocked_until, h.blocked_until)`, d.Tenant, d.WebhookID, timeOrNull(o.Now), o.PauseFor)
	}
	return unavailable(ws.s.indexer.SendBatch(ctx, b).Close())
}

// markHealthy ends an insert of a success into webhook_health AS h.
const markHealthy = `ON CONFLICT (tenant_id, webhook_id) DO UPDATE SET failures = 0, failing_since = NULL, blocked_until = NULL, last_success_at = excluded.last_success_at`

// timeOrNull returns a time as a parameter; the zero time as SQL's null.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Disable disables a webhook for a reason, unless it had a success after a time.
func (ws *Webhooks) Disable(ctx context.Context, tenant library.TenantID, id, reason string, since time.Time) error {
	actor := library.Actor{Kind: library.ActorSystem, ID: "webhooks", Tenant: tenant}
	ctx = library.WithCall(ctx, library.Call{Tool: "DeliverWebhooks", Permission: library.PermAdmin})
	_, err := ws.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, webhookNoun, []string{id}, func() error {
			_, err := t.Exec(ctx, `UPDATE webhooks w SET enabled = false, disabled_reason = $3, updated_at = now() WHERE tenant_id = $1 AND webhook_id = $2 AND enabled AND deleted_at IS NULL
				AND NOT EXISTS (SELECT FROM webhook_health h WHERE h.tenant_id = $1 AND h.webhook_id = $2 AND h.last_success_at > $4)`, t.tenant(), id, reason, since)
			return err
		})
	})
	return err
}

// DeliveryFilter narrows the log of deliveries. Empty fields do not.
type DeliveryFilter struct {
	State     string
	EventType string
}

const deliveryColumns = `delivery_id, webhook_id, event_type, body, state, attempts, next_at, attempt_log, created_at, finished_at`

func scanDelivery(row pgx.CollectableRow) (d library.Delivery, err error) {
	var log json.RawMessage
	if err = row.Scan(&d.ID, &d.WebhookID, &d.EventType, &d.Body, &d.State, &d.Attempts, &d.NextAt, &log, &d.CreatedAt, &d.FinishedAt); err == nil {
		err = json.Unmarshal(log, &d.Log)
	}
	return d, err
}

// Deliveries returns a page of the log of a webhook, the newest first, and how many there are,
// counted up to 10,000.
func (ws *Webhooks) Deliveries(ctx context.Context, tenant library.TenantID, webhook string, f DeliveryFilter, limit, offset int) (list []library.Delivery, total int, err error) {
	err = ws.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		if _, err := getWebhook(ctx, tx, tenant, webhook); err != nil {
			return err
		}
		from := ` FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND ($3 = '' OR state = $3) AND ($4 = '' OR event_type = $4)`
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT`+from+` LIMIT 10000) x`, tenant, webhook, f.State, f.EventType).Scan(&total); err != nil {
			return err
		}
		list, err = queryRows(ctx, tx, scanDelivery, `SELECT `+deliveryColumns+from+` ORDER BY created_at DESC, delivery_id DESC LIMIT $5 OFFSET $6`, tenant, webhook, f.State, f.EventType, limit, offset)
		return err
	})
	return list, total, err
}

// Replay sends deliveries of a webhook again: those with the given ids, or where there are
// none those that were made from a time to another, of one state where it is named. It
// returns how many.
func (ws *Webhooks) Replay(ctx context.Context, actor library.Actor, webhook string, ids []string, from, to time.Time, state string) (n int64, err error) {
	_, err = ws.s.Write(ctx, actor, func(t *Tx) error {
		if _, err := getWebhook(ctx, t, t.tenant(), webhook); err != nil {
			return err
		}
		tag, err := t.Exec(ctx, `UPDATE webhook_deliveries SET state = 'pending', attempts = 0, next_at = now(), finished_at = NULL
			WHERE tenant_id = $1 AND webhook_id = $2 AND (lease_until IS NULL OR lease_until < now()) AND ($6 = '' OR state = $6)
				AND CASE WHEN cardinality($3::text[]) > 0 THEN delivery_id = ANY($3) ELSE created_at >= $4 AND created_at < $5 END`, t.tenant(), webhook, append([]string{}, ids...), from, to, state)
		if err != nil {
			return err
		}
		n = tag.RowsAffected()
		return t.Audit(ctx, "webhook.replayed", webhook, map[string]any{"deliveries": n})
	})
	return n, err
}

// Forget deletes deliveries that are older than DeliveryRetention, at most limit of them, and
// reports how many.
func (ws *Webhooks) Forget(ctx context.Context, limit int) (int64, error) {
	tag, err := ws.s.indexer.Exec(ctx, `DELETE FROM webhook_deliveries WHERE (tenant_id, delivery_id) IN (
		SELECT tenant_id, delivery_id FROM webhook_deliveries WHERE created_at < now() - $1::interval ORDER BY created_at LIMIT $2)`, DeliveryRetention, limit)
	return tag.RowsAffected(), unavailable(err)
}
