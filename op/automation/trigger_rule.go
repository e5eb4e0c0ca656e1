package automation

import (
	"context"
	"slices"

	"vitrine/library"
	"vitrine/op"
)

type triggerInput struct {
	op.TenantInput
	Type      string         `json:"trigger_type" enum:"schedule,watch,event"`
	EventType string         `json:"event_type,omitempty" maxLength:"100" doc:"Required for event, such as asset.created."`
	EventData map[string]any `json:"event_data,omitempty"`
}

// Validate implements op.Validator.
func (in *triggerInput) Validate() []library.FieldError {
	return op.CheckObject("event_data", in.EventData, op.SmallObject)
}

type triggerOutput struct {
	Data []Fired `json:"data" doc:"One for each rule that fired, or that did not because of its limits."`
}

func (s *Service) triggerRule() op.Operation {
	return op.Define(op.Meta{
		Name: "TriggerRule", Title: "Trigger rules", Domain: op.Automation,
		Doc:    "Evaluates schedules that are due, checks watches now, or dispatches an event of your making to the rules that wait for it.",
		Method: "POST", Path: "/api/v1/rules/trigger", Permission: library.PermAdmin,
		Example: map[string]any{"trigger_type": "schedule"},
	}, func(ctx context.Context, actor library.Actor, in triggerInput) (triggerOutput, error) {
		out := triggerOutput{Data: []Fired{}}
		if in.Type == string(library.TriggerEvent) && in.EventType == "" {
			return out, unprocessable(library.FieldError{Field: "event_type", Code: "required", Message: "It is required when trigger_type is event.", Hint: "Send the type of an event, such as asset.created."})
		}
		if in.Type == string(library.TriggerEvent) && !slices.Contains(s.types, in.EventType) {
			types := []string{"?"}
			return out, unprocessable(library.FieldError{Field: "event_type", Code: "enum", Message: "There is no event of this type.", Hint: s.checkEvents(&types)[0].Hint})
		}
		list, err := s.Rules.Trigger(ctx, actor.Tenant, library.TriggerType(in.Type), in.EventType, in.EventData)
		for _, x := range list {
			out.Data = append(out.Data, describeFiring(x.Rule, x.Run))
		}
		return out, err
	})
}
