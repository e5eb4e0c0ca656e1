package automation

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// WebhookInput is embedded by inputs that speak of one webhook.
type WebhookInput struct {
	ID string `json:"webhook_id" id:"webhook" minLength:"1" maxLength:"64" doc:"The webhook."`
}

// Webhook is a webhook as it is shown. Outputs embed it.
type Webhook struct {
	ID             string        `json:"webhook_id"`
	Name           string        `json:"name"`
	URL            string        `json:"url"`
	Events         []string      `json:"events"`
	Description    string        `json:"description,omitempty"`
	Enabled        bool          `json:"enabled"`
	DisabledReason string        `json:"disabled_reason,omitempty" doc:"Why the service disabled it."`
	TimeoutMS      int64         `json:"timeout_ms"`
	CreatedAt      time.Time     `json:"created_at"`
	CreatedBy      string        `json:"created_by"`
	UpdatedAt      time.Time     `json:"updated_at"`
	Health         webhookHealth `json:"health"`
}

type webhookHealth struct {
	Failures     int        `json:"failures" doc:"Attempts that failed since the last success."`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	PausedUntil  *time.Time `json:"paused_until,omitempty" doc:"Nothing is sent before, because too many attempts failed or the endpoint asked for time."`
	LastSuccess  *time.Time `json:"last_success_at,omitempty"`
	Pending      int        `json:"pending" doc:"Deliveries that wait; counted up to 10,000."`
}

func describeWebhook(w library.Webhook) Webhook {
	return Webhook{ID: w.ID, Name: w.Name, URL: w.URL, Events: w.Events, Description: w.Description, Enabled: w.Enabled, DisabledReason: w.DisabledReason, TimeoutMS: w.Timeout.Milliseconds(),
		CreatedAt: w.CreatedAt.UTC(), CreatedBy: w.CreatedBy, UpdatedAt: w.UpdatedAt.UTC(), Health: webhookHealth{Failures: w.Health.Failures, FailingSince: utc(w.Health.FailingSince),
			PausedUntil: utc(w.Health.BlockedUntil), LastSuccess: utc(w.Health.LastSuccess), Pending: w.Health.Pending}}
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// changedWebhook is a webhook as a write left it.
type changedWebhook struct {
	Webhook
	op.Undoable
}

// testPing is the type of the event that a webhook is sent to try it.
const testPing = "test.ping"

// pingData is the data of a test.ping.
type pingData struct {
	WebhookID string `json:"webhook_id" doc:"The webhook that it was sent to."`
	Name      string `json:"name" doc:"The name of the webhook."`
}

// PingOutcome is what became of a test.ping.
type PingOutcome struct {
	Sent       bool   `json:"sent" doc:"False for a webhook that is disabled."`
	Delivered  bool   `json:"delivered" doc:"Whether the endpoint answered with 2xx."`
	Status     int    `json:"status,omitempty" doc:"The HTTP status of the response."`
	DurationMS int64  `json:"duration_ms,omitempty"`
	Error      string `json:"error,omitempty" doc:"Why it was not delivered."`
	Response   string `json:"response,omitempty" doc:"How the response begins."`
}

// ping sends a test.ping to a webhook, and returns the delivery for its log.
func (s *Service) ping(ctx context.Context, w library.Webhook, secrets ...string) (PingOutcome, *library.Delivery, webhook.Response, error) {
	d := library.Delivery{ID: store.NewDeliveryID(), EventType: testPing}
	data, err := json.Marshal(pingData{w.ID, w.Name})
	if err != nil {
		return PingOutcome{}, nil, webhook.Response{}, err
	}
	body, err := json.Marshal(op.EventMessage{Type: testPing, Timestamp: time.Now().UTC().Format(time.RFC3339Nano), Key: "webhook/" + w.ID, Data: data})
	if err != nil {
		return PingOutcome{}, nil, webhook.Response{}, err
	}
	r, err := s.Sender.Send(ctx, webhook.Message{ID: d.ID, Body: body, Secrets: secrets, URL: w.URL, Timeout: w.Timeout})
	if err != nil {
		return PingOutcome{}, nil, r, err
	}
	d.Body, d.State, d.Log = string(body), library.DeliveryFailed, []library.DeliveryAttempt{automation.Attempt(r)}
	if r.Delivered() {
		d.State = library.DeliveryDelivered
	}
	return PingOutcome{Sent: true, Delivered: r.Delivered(), Status: r.Status, DurationMS: r.Took.Milliseconds(), Error: r.Err, Response: r.Body}, &d, r, nil
}

// secrets returns what requests to a webhook are signed with.
func (s *Service) secrets(ctx context.Context, tenant library.TenantID, id string) ([]string, error) {
	sealed, err := s.Store.Webhooks.Secrets(ctx, tenant, id, time.Now())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, x := range [][]byte{sealed.Now, sealed.Old} {
		if x == nil {
			continue
		}
		secret, err := s.Sealer.Open(x, automation.Endpoint(tenant, id))
		if err != nil {
			return nil, library.NewError(library.KindConflict, library.CodeConflict, "The secret of this webhook was encrypted with another signing key. Rotate it with POST /api/v1/webhooks/{webhook_id}/rotate.")
		}
		out = append(out, secret)
	}
	return out, nil
}

// checkURL returns what is wrong with the URL of an endpoint.
func (s *Service) checkURL(raw string) []library.FieldError {
	if why := s.Webhooks.CheckURL(raw); why != "" {
		return []library.FieldError{forbiddenURL(why)}
	}
	return nil
}

func forbiddenURL(why string) library.FieldError {
	return library.FieldError{Field: "url", Code: "forbidden", Message: why,
		Hint: "Send an https URL of a public host. An operator can allow networks of their own with VITRINE_WEBHOOK_ALLOW_PRIVATE."}
}

// checkName refuses a name of blanks.
func checkName(name *string) []library.FieldError {
	if *name = strings.TrimSpace(*name); *name == "" {
		return []library.FieldError{{Field: "name", Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."}}
	}
	return nil
}
