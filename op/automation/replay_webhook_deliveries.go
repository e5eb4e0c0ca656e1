package automation

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type replayInput struct {
	op.TenantInput
	WebhookInput
	Deliveries []string `json:"delivery_ids,omitempty" id:"delivery" minItems:"1" maxItems:"1000" doc:"Which deliveries. Leave out for those of a range of time."`
	From       string   `json:"from,omitempty" format:"date-time" doc:"Deliveries that were made from then on."`
	To         string   `json:"to,omitempty" format:"date-time" doc:"And before this. Default: now."`
	State      string   `json:"state,omitempty" enum:"pending,delivered,failed" doc:"Only deliveries in this state."`

	from, to time.Time
}

// Validate implements op.Validator.
func (in *replayInput) Validate() (errs []library.FieldError) {
	in.to = time.Now()
	for _, x := range []struct {
		field, sent string
		to          *time.Time
	}{{"from", in.From, &in.from}, {"to", in.To, &in.to}} {
		if x.sent == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, x.sent)
		if err != nil {
			errs = append(errs, library.FieldError{Field: x.field, Code: "format", Message: "Expected a time such as 2026-11-02T09:00:00Z."})
		}
		*x.to = at
	}
	return errs
}

type replayOutput struct {
	Replayed int64 `json:"replayed" doc:"Deliveries that are sent again, with the webhook-id that they had."`
}

func (s *Service) replayWebhookDeliveries() op.Operation {
	return op.Define(op.Meta{
		Name: "ReplayWebhookDeliveries", Title: "Send deliveries again", Domain: op.Automation,
		Doc:    "Sends deliveries of a webhook again, whatever became of them: those with the given ids, or those of a range of time.",
		Method: "POST", Path: "/api/v1/webhooks/{webhook_id}/replay", Permission: library.PermAdmin, RESTOnly: true, OpenWorld: true,
		OneOf:   []string{"delivery_ids", "from"},
		Example: map[string]any{"webhook_id": exampleWebhook, "from": "2026-11-02T09:00:00Z", "state": "failed"},
	}, func(ctx context.Context, actor library.Actor, in replayInput) (replayOutput, error) {
		n, err := s.Store.Webhooks.Replay(ctx, actor, in.ID, in.Deliveries, in.from, in.to, in.State)
		return replayOutput{n}, err
	})
}
