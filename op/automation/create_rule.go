package automation

import (
	"context"
	"slices"

	"vitrine/automation"
	"vitrine/library"
	"vitrine/op"
)

type createRuleInput struct {
	op.TenantInput
	RuleName    string             `json:"name" minLength:"1" maxLength:"200"`
	Trigger     library.Trigger    `json:"trigger_config"`
	Description string             `json:"description,omitempty" maxLength:"2000"`
	Limit       *library.RateLimit `json:"rate_limit_config,omitempty" doc:"Default: 1000 an hour."`
	Vars        map[string]any     `json:"pipeline_vars,omitempty"`
	NamedPipeline
	Enabled *bool `json:"enabled,omitempty" default:"true"`
}

// Validate implements op.Validator.
func (in *createRuleInput) Validate() []library.FieldError {
	return slices.Concat(checkRuleName(&in.RuleName), op.CheckObject("pipeline_vars", in.Vars, op.SmallObject))
}

func (s *Service) createRule() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateRule", Title: "Create a rule", Domain: op.Automation,
		Doc:    "Creates a rule that runs a saved pipeline on an event, on a schedule, or for assets that newly match a query.",
		More:   "Without a pipeline the rule emits rule.fired. The pipeline's variables asset_ids (list), event_type and due are set if it declares them. A watch fires once for each asset that begins to match.",
		Method: "POST", Path: "/api/v1/rules", Permission: library.PermAdmin, Creates: "/api/v1/rules/{rule_id}",
		Example: map[string]any{"name": "Monday digest", "trigger_config": map[string]any{"type": "schedule", "cron": "0 9 * * 1", "timezone": "Europe/Berlin"}, "enabled": false},
	}, func(ctx context.Context, actor library.Actor, in createRuleInput) (changedRule, error) {
		now := s.Rules.Now()
		r := library.Rule{Name: in.RuleName, Description: in.Description, Trigger: in.Trigger, Limit: library.DefaultRateLimit, Vars: in.Vars, Enabled: in.Enabled == nil || *in.Enabled, Through: now}
		if in.Limit != nil {
			r.Limit = *in.Limit
		}
		if err := s.checkTrigger(ctx, actor, &r.Trigger); err != nil {
			return changedRule{}, err
		}
		var err error
		if r.Pipeline, err = s.findPipeline(ctx, actor, in.NamedPipeline); err != nil {
			return changedRule{}, err
		}
		if err := s.Rules.Check(ctx, actor, r); err != nil {
			return changedRule{}, err
		}
		matches := s.prime(ctx, actor, &r)
		if r.NextAt, err = automation.FirstLook(r, now); err != nil {
			return changedRule{}, err
		}
		r, operation, err := s.Store.Rules.Add(ctx, actor, r, matches)
		return changedRule{describeRule(r), op.Undoable{OperationID: operation}}, err
	})
}

// prime returns the assets for which a watch is not to fire because they match already.
func (s *Service) prime(ctx context.Context, actor library.Actor, r *library.Rule) (matches []library.AssetHash) {
	if r.Primed = true; r.Trigger.Type == library.TriggerWatch {
		matches, r.Primed = s.Rules.Prime(ctx, actor, r.Trigger.Query)
	}
	return matches
}
