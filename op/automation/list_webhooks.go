package automation

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type listWebhooksInput struct {
	op.TenantInput
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50"`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0"`
}

type listWebhooksOutput struct {
	Data  []Webhook `json:"data" doc:"The oldest first."`
	Total int       `json:"total"`
}

func (s *Service) listWebhooks() op.Operation {
	return op.Define(op.Meta{
		Name: "ListWebhooks", Title: "List webhooks", Domain: op.Automation,
		Doc:    "Lists the tenant's webhooks and how each fares.",
		Method: "GET", Path: "/api/v1/webhooks", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listWebhooksInput) (listWebhooksOutput, error) {
		list, total, err := s.Store.Webhooks.List(ctx, actor.Tenant, in.Limit, in.Offset)
		out := listWebhooksOutput{Data: []Webhook{}, Total: total}
		for _, w := range list {
			out.Data = append(out.Data, describeWebhook(w))
		}
		return out, err
	})
}

type getWebhookInput struct {
	op.TenantInput
	WebhookInput
}

func (s *Service) getWebhook() op.Operation {
	return op.Define(op.Meta{
		Name: "GetWebhook", Title: "Get a webhook", Domain: op.Automation,
		Doc:    "Returns one webhook and how it fares.",
		Method: "GET", Path: "/api/v1/webhooks/{webhook_id}", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"webhook_id": exampleWebhook},
	}, func(ctx context.Context, actor library.Actor, in getWebhookInput) (Webhook, error) {
		w, err := s.Store.Webhooks.Get(ctx, actor.Tenant, in.ID)
		return describeWebhook(w), err
	})
}
