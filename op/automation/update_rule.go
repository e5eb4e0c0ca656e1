package automation

import (
	"context"

	"vitrine/automation"
	"vitrine/library"
	"vitrine/op"
)

type updateRuleInput struct {
	op.TenantInput
	RuleInput
	Enabled     *bool              `json:"enabled,omitempty" doc:"False stops it at once; a run that has begun goes on."`
	Trigger     *library.Trigger   `json:"trigger_config,omitempty" tool:"open" doc:"As in CreateRule; replaces the old one."`
	Limit       *library.RateLimit `json:"rate_limit_config,omitempty" tool:"open" doc:"As in CreateRule; replaces the old one."`
	Vars        *map[string]any    `json:"pipeline_vars,omitempty" tool:"-" doc:"Replaces what was there."`
	RuleName    *string            `json:"name,omitempty" maxLength:"200" tool:"-"`
	Description *string            `json:"description,omitempty" maxLength:"2000" tool:"-"`
	Delete      bool               `json:"delete,omitempty"`
}

// Validate implements op.Validator.
func (in *updateRuleInput) Validate() (errs []library.FieldError) {
	if in.RuleName != nil {
		errs = checkRuleName(in.RuleName)
	}
	if in.Vars != nil {
		errs = append(errs, op.CheckObject("pipeline_vars", *in.Vars, op.SmallObject)...)
	}
	return errs
}

func (s *Service) updateRule() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateRule", Title: "Change a rule", Domain: op.Automation,
		Doc:    "Disables, enables, changes or deletes a rule. A disabled rule fires no more, from this moment.",
		More:   "A rule that is enabled, or gets another trigger, begins anew: what happened before does not fire it.",
		Method: "PATCH", Path: "/api/v1/rules/{rule_id}", Permission: library.PermAdmin, Destructive: true, Idempotent: true,
		AnyOf:   []string{"enabled", "trigger_config", "rate_limit_config", "pipeline_vars", "name", "description", "delete"},
		Example: map[string]any{"rule_id": exampleRule, "enabled": false},
	}, func(ctx context.Context, actor library.Actor, in updateRuleInput) (changedRule, error) {
		if in.Delete {
			return s.dropRule(ctx, actor, in.ID)
		}
		before, err := s.Store.Rules.Get(ctx, actor.Tenant, in.ID)
		if err != nil {
			return changedRule{}, err
		}
		if in.Trigger != nil {
			if err := s.checkTrigger(ctx, actor, in.Trigger); err != nil {
				return changedRule{}, err
			}
		}
		after := before
		anew := s.change(&after, in)
		if in.Vars != nil {
			if err := s.Rules.Check(ctx, actor, after); err != nil {
				return changedRule{}, err
			}
		}
		var matches []library.AssetHash
		if anew {
			matches = s.prime(ctx, actor, &after)
		}
		r, operation, err := s.Store.Rules.Change(ctx, actor, in.ID, matches, func(r *library.Rule) (anew bool, err error) {
			if anew = s.change(r, in); anew {
				r.Primed = after.Primed
				r.NextAt, err = automation.FirstLook(*r, r.Through)
			}
			return anew, err
		})
		return changedRule{describeRule(r), op.Undoable{OperationID: operation}}, err
	})
}

// change makes the changes that a call asks for, and reports whether the rule begins anew.
func (s *Service) change(r *library.Rule, in updateRuleInput) (anew bool) {
	if in.Trigger != nil && *in.Trigger != r.Trigger {
		r.Trigger, anew = *in.Trigger, true
	}
	if in.Limit != nil {
		r.Limit = *in.Limit
	}
	if in.Vars != nil {
		r.Vars = *in.Vars
	}
	if in.RuleName != nil {
		r.Name = *in.RuleName
	}
	if in.Description != nil {
		r.Description = *in.Description
	}
	if in.Enabled != nil {
		anew = anew || *in.Enabled && !r.Enabled
		r.Enabled = *in.Enabled
	}
	if anew {
		r.Through = s.Rules.Now()
	}
	return anew
}

type deleteRuleInput struct {
	op.TenantInput
	RuleInput
}

func (s *Service) deleteRule() op.Operation {
	return op.Define(op.Meta{
		Name: "DeleteRule", Title: "Delete a rule", Domain: op.Automation,
		Doc:    "Deletes a rule, which fires no more, from this moment. UndoOperation brings it back.",
		Method: "DELETE", Path: "/api/v1/rules/{rule_id}", Permission: library.PermAdmin, Destructive: true, RESTOnly: true,
		Example: map[string]any{"rule_id": exampleRule},
	}, func(ctx context.Context, actor library.Actor, in deleteRuleInput) (changedRule, error) {
		return s.dropRule(ctx, actor, in.ID)
	})
}

func (s *Service) dropRule(ctx context.Context, actor library.Actor, id string) (changedRule, error) {
	r, err := s.Store.Rules.Get(ctx, actor.Tenant, id)
	if err != nil {
		return changedRule{}, err
	}
	operation, err := s.Store.Rules.Delete(ctx, actor, id)
	r.Enabled = false
	return changedRule{describeRule(r), op.Undoable{OperationID: operation}}, err
}
