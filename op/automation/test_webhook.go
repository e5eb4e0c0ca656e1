package automation

import (
	"context"
	"time"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/op"
)

func (s *Service) testWebhook() op.Operation {
	return op.Define(op.Meta{
		Name: "TestWebhook", Title: "Test a webhook", Domain: op.Automation,
		Doc:    "Sends a test.ping to a webhook, also one that is failing, and returns the outcome. A disabled webhook gets none.",
		Method: "POST", Path: "/api/v1/webhooks/{webhook_id}/test", Permission: library.PermAdmin, RESTOnly: true, OpenWorld: true, Limit: pingLimit,
		Example: map[string]any{"webhook_id": exampleWebhook},
	}, func(ctx context.Context, actor library.Actor, in getWebhookInput) (PingOutcome, error) {
		w, err := s.Store.Webhooks.Get(ctx, actor.Tenant, in.ID)
		if err != nil || !w.Enabled {
			return PingOutcome{}, err
		}
		secrets, err := s.secrets(ctx, actor.Tenant, in.ID)
		if err != nil {
			return PingOutcome{}, err
		}
		out, d, _, err := s.ping(ctx, w, secrets...)
		if err != nil {
			return out, err
		}
		return out, s.Store.Webhooks.LogPing(ctx, actor, w.ID, *d)
	})
}

// overlap is how long requests are signed with the secret before a rotation too.
const overlap = 24 * time.Hour

type rotateOutput struct {
	ID             string    `json:"webhook_id"`
	Secret         string    `json:"secret,omitempty" doc:"The new secret. It is shown this once."`
	OldSecretUntil time.Time `json:"old_secret_until" doc:"Until then requests carry signatures with both secrets."`
}

// WithoutSecrets implements op.Secretive.
func (o rotateOutput) WithoutSecrets() any { o.Secret = ""; return o }

func (s *Service) rotateWebhookSecret() op.Operation {
	return op.Define(op.Meta{
		Name: "RotateWebhookSecret", Title: "Rotate a webhook's secret", Domain: op.Automation,
		Doc:    "Gives a webhook a new signing secret. For 24 hours requests are signed with the old one as well.",
		Method: "POST", Path: "/api/v1/webhooks/{webhook_id}/rotate", Permission: library.PermAdmin, RESTOnly: true,
		Example: map[string]any{"webhook_id": exampleWebhook},
	}, func(ctx context.Context, actor library.Actor, in getWebhookInput) (rotateOutput, error) {
		out := rotateOutput{ID: in.ID, Secret: webhook.NewSecret(), OldSecretUntil: time.Now().Add(overlap).UTC().Truncate(time.Second)}
		err := s.Store.Webhooks.Rotate(ctx, actor, in.ID, s.Sealer.Seal(out.Secret, automation.Endpoint(actor.Tenant, in.ID)), out.OldSecretUntil)
		return out, err
	})
}
