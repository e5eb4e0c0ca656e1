// Package automation holds the operations on webhooks and rules: what happens without anybody
// asking. One file per operation; package automation does what they arrange.
package automation

import (
	"context"
	"slices"
	"strings"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Rules *automation.Rules
	// CheckMatch reports what is wrong with the query of a watch.
	CheckMatch func(ctx context.Context, actor library.Actor, query string) error
	Sender     *webhook.Sender
	Sealer     *webhook.Sealer
	Webhooks   webhook.Config // which endpoints can be reached

	types []string // of all events
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.createRule(), s.listRules(), s.getRule(), s.updateRule(), s.deleteRule(), s.triggerRule(), s.listRuleRuns(), s.simulateRule(),
		s.registerWebhook(), s.listWebhooks(), s.getWebhook(), s.updateWebhook(), s.testWebhook(), s.rotateWebhookSecret(),
		s.listWebhookDeliveries(), s.replayWebhookDeliveries(), s.deleteWebhook()}
}

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	ping := op.DefineEvent(testPing, "A webhook was registered, or somebody asked for a ping. It is sent to that webhook alone and is not on the stream.",
		pingData{WebhookID: exampleWebhook, Name: "Slack relay"})
	ping.Direct = true
	return slices.Concat(op.ChangeEvents("rule", "A rule", exampleRule, []string{"enabled"}, "created", "updated", "deleted", "restored"), ruleEvents(),
		op.ChangeEvents("webhook", "A webhook", exampleWebhook, []string{"events"}, "created", "updated", "deleted", "restored"), []op.EventType{ping})
}

// SetEventTypes sets which events there are, those of other packages among them.
func (s *Service) SetEventTypes(types []op.EventType) {
	for _, t := range types {
		s.types = append(s.types, t.Name)
	}
	slices.Sort(s.types)
}

// checkEvents returns what is wrong with event types of which patterns such as asset.* or * may
// stand for several, and takes out repetitions.
func (s *Service) checkEvents(list *[]string) []library.FieldError {
	var out []string
	for _, e := range *list {
		e = strings.ToLower(strings.TrimSpace(e))
		noun, all := strings.CutSuffix(e, ".*")
		known := e == "*" || slices.Contains(s.types, e) || all && slices.ContainsFunc(s.types, func(t string) bool { return strings.HasPrefix(t, noun+".") })
		if !known {
			return []library.FieldError{{Field: "events", Code: "enum", Message: "It names an event type that does not exist.",
				Hint: "Event types are " + strings.Join(s.types, ", ") + "; asset.* means all of assets, * all there are."}}
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	*list = out
	return nil
}

// unprocessable is the error of arguments that fit their schema and are refused all the same.
func unprocessable(errs ...library.FieldError) error {
	err := library.Invalid(errs...)
	err.Kind = library.KindUnprocessable
	return err
}

// exampleWebhook stands in examples where a caller puts an id of their own.
const exampleWebhook = "019a7e3e-0000-7000-8000-000000000000"
