package automation

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listDeliveriesInput struct {
	op.TenantInput
	WebhookInput
	State     string `json:"state,omitempty" enum:"pending,delivered,failed"`
	EventType string `json:"event_type,omitempty" maxLength:"100"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset    int    `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0"`
}

// Delivery is a delivery as it is shown.
type Delivery struct {
	ID         string                    `json:"delivery_id" doc:"Also the header webhook-id of every attempt."`
	EventType  string                    `json:"event_type"`
	State      string                    `json:"state" enum:"pending,delivered,failed" doc:"failed: all attempts were made."`
	Attempts   int                       `json:"attempts" doc:"Since it was made or replayed."`
	NextAt     *time.Time                `json:"next_attempt_at,omitempty"`
	CreatedAt  time.Time                 `json:"created_at"`
	FinishedAt *time.Time                `json:"finished_at,omitempty"`
	Log        []library.DeliveryAttempt `json:"attempt_log" doc:"The last 20, the oldest first."`
	Body       string                    `json:"body" doc:"What is sent."`
}

type listDeliveriesOutput struct {
	Data  []Delivery `json:"data" doc:"The newest first."`
	Total int        `json:"total" doc:"Counted up to 10,000."`
}

func (s *Service) listWebhookDeliveries() op.Operation {
	return op.Define(op.Meta{
		Name: "ListWebhookDeliveries", Title: "List deliveries of a webhook", Domain: op.Automation,
		Doc:    "Lists what was sent to a webhook in the last 30 days and what waits, each with its attempts.",
		Method: "GET", Path: "/api/v1/webhooks/{webhook_id}/deliveries", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"webhook_id": exampleWebhook, "state": "failed"},
	}, func(ctx context.Context, actor library.Actor, in listDeliveriesInput) (listDeliveriesOutput, error) {
		list, total, err := s.Store.Webhooks.Deliveries(ctx, actor.Tenant, in.ID, store.DeliveryFilter{State: in.State, EventType: in.EventType}, in.Limit, in.Offset)
		out := listDeliveriesOutput{Data: []Delivery{}, Total: total}
		for _, d := range list {
			shown := Delivery{ID: d.ID, EventType: d.EventType, State: d.State, Attempts: d.Attempts, CreatedAt: d.CreatedAt.UTC(), FinishedAt: utc(d.FinishedAt), Log: d.Log, Body: d.Body}
			if d.State == library.DeliveryPending {
				shown.NextAt = utc(&d.NextAt)
			}
			out.Data = append(out.Data, shown)
		}
		return out, err
	})
}
