package automation

import (
	"context"
	"time"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type registerInput struct {
	op.TenantInput
	Name        string   `json:"name" minLength:"1" maxLength:"200"`
	URL         string   `json:"url" minLength:"1" maxLength:"2000" doc:"https, public."`
	Events      []string `json:"events" minItems:"1" maxItems:"50" doc:"Types such as pipeline.completed; asset.* or *."`
	Description string   `json:"description,omitempty" maxLength:"2000"`
	Enabled     *bool    `json:"enabled,omitempty" default:"true"`
	TimeoutMS   int64    `json:"timeout_ms,omitempty" minimum:"1000" maximum:"60000" default:"10000"`
}

// Validate implements op.Validator.
func (in *registerInput) Validate() []library.FieldError { return checkName(&in.Name) }

type registerOutput struct {
	Webhook
	Secret string      `json:"secret,omitempty" doc:"Signs requests, as Standard Webhooks says. It is shown this once."`
	Ping   PingOutcome `json:"ping" doc:"What became of the test.ping."`
	op.Undoable
}

// WithoutSecrets implements op.Secretive.
func (o registerOutput) WithoutSecrets() any { o.Secret = ""; return o }

// pingLimit is how long a call may take that sends a ping: the longest timeout of a webhook, and
// some time for the rest.
const pingLimit = 75 * time.Second

func (s *Service) registerWebhook() op.Operation {
	return op.Define(op.Meta{
		Name: "RegisterWebhook", Title: "Register a webhook", Domain: op.Automation,
		Doc:    "Registers an endpoint for events, sends it a test.ping and returns the outcome with the signing secret.",
		More:   "Requests are signed as Standard Webhooks 1.0 says (webhook-id, webhook-timestamp, webhook-signature), so any verifier of that standard takes them. Only 2xx is a success; redirects are not followed. A delivery that fails is tried again nine times in 75 hours.",
		Method: "POST", Path: "/api/v1/webhooks", Permission: library.PermAdmin, Creates: "/api/v1/webhooks/{webhook_id}", Limit: pingLimit, OpenWorld: true,
		Example: map[string]any{"name": "Slack relay", "url": "https://hooks.example.com/vitrine", "events": []string{"asset.created", "collection.*"}, "enabled": false},
	}, func(ctx context.Context, actor library.Actor, in registerInput) (registerOutput, error) {
		if errs := append(s.checkURL(in.URL), s.checkEvents(&in.Events)...); len(errs) > 0 {
			return registerOutput{}, unprocessable(errs...)
		}
		w := library.Webhook{ID: store.NewWebhookID(), Name: in.Name, URL: in.URL, Events: in.Events, Description: in.Description, Enabled: in.Enabled == nil || *in.Enabled,
			Timeout: time.Duration(in.TimeoutMS) * time.Millisecond}
		out := registerOutput{Secret: webhook.NewSecret()}
		var first *library.Delivery
		if w.Enabled {
			var r webhook.Response
			var err error
			if out.Ping, first, r, err = s.ping(ctx, w, out.Secret); err != nil {
				return registerOutput{}, err
			}
			if r.Forbidden {
				return registerOutput{}, unprocessable(forbiddenURL("The name of the host leads to an address that is not a public one."))
			}
		}
		made, operation, err := s.Store.Webhooks.Add(ctx, actor, w, s.Sealer.Seal(out.Secret, automation.Endpoint(actor.Tenant, w.ID)), first)
		if err != nil {
			return registerOutput{}, err
		}
		out.Webhook, out.OperationID = describeWebhook(made), operation
		return out, nil
	})
}
