package automation

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type updateWebhookInput struct {
	op.TenantInput
	WebhookInput
	Name        *string  `json:"name,omitempty" minLength:"1" maxLength:"200"`
	URL         *string  `json:"url,omitempty" minLength:"1" maxLength:"2000" doc:"https, public."`
	Events      []string `json:"events,omitempty" minItems:"1" maxItems:"50" doc:"Replaces what was there."`
	Description *string  `json:"description,omitempty" maxLength:"2000"`
	Enabled     *bool    `json:"enabled,omitempty" doc:"What waits for a disabled webhook is sent once it is enabled; events meanwhile are not."`
	TimeoutMS   *int64   `json:"timeout_ms,omitempty" minimum:"1000" maximum:"60000"`
}

// Validate implements op.Validator.
func (in *updateWebhookInput) Validate() []library.FieldError {
	if in.Name == nil {
		return nil
	}
	return checkName(in.Name)
}

func (s *Service) updateWebhook() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateWebhook", Title: "Change a webhook", Domain: op.Automation,
		Doc:    "Changes the fields that are sent. A webhook that is enabled starts afresh: its failures are forgotten.",
		Method: "PATCH", Path: "/api/v1/webhooks/{webhook_id}", Permission: library.PermAdmin, Idempotent: true, RESTOnly: true,
		AnyOf:   []string{"name", "url", "events", "description", "enabled", "timeout_ms"},
		Example: map[string]any{"webhook_id": exampleWebhook, "enabled": false},
	}, func(ctx context.Context, actor library.Actor, in updateWebhookInput) (changedWebhook, error) {
		var errs []library.FieldError
		if in.URL != nil {
			errs = s.checkURL(*in.URL)
		}
		if errs = append(errs, s.checkEvents(&in.Events)...); len(errs) > 0 {
			return changedWebhook{}, unprocessable(errs...)
		}
		w, operation, err := s.Store.Webhooks.Change(ctx, actor, in.ID, in.apply)
		return changedWebhook{describeWebhook(w), op.Undoable{OperationID: operation}}, err
	})
}

// apply sets the fields that were sent.
func (in *updateWebhookInput) apply(w *library.Webhook) {
	for field, sent := range map[*string]*string{&w.Name: in.Name, &w.URL: in.URL, &w.Description: in.Description} {
		if sent != nil {
			*field = *sent
		}
	}
	if len(in.Events) > 0 {
		w.Events = in.Events
	}
	if in.Enabled != nil {
		w.Enabled = *in.Enabled
	}
	if in.TimeoutMS != nil {
		w.Timeout = time.Duration(*in.TimeoutMS) * time.Millisecond
	}
}

type deleteWebhookOutput struct {
	ID      string `json:"webhook_id"`
	Deleted bool   `json:"deleted"`
	op.Undoable
}

func (s *Service) deleteWebhook() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteWebhook", Title: "Delete a webhook", Domain: op.Automation,
		Doc:    "Deletes a webhook; nothing is sent to it any more. UndoOperation restores it with its secret.",
		Method: "DELETE", Path: "/api/v1/webhooks/{webhook_id}", Permission: library.PermAdmin, Destructive: true, RESTOnly: true,
		Example: map[string]any{"webhook_id": exampleWebhook},
	}, func(ctx context.Context, actor library.Actor, in getWebhookInput) (deleteWebhookOutput, error) {
		operation, err := s.Store.Webhooks.Delete(ctx, actor, in.ID)
		return deleteWebhookOutput{ID: in.ID, Deleted: err == nil, Undoable: op.Undoable{OperationID: operation}}, err
	})
}
