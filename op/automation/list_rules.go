package automation

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type listRulesInput struct {
	op.TenantInput
	Enabled *bool  `json:"enabled,omitempty"`
	Trigger string `json:"trigger_type,omitempty" enum:"event,schedule,watch"`
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50"`
	Offset  int    `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0"`
}

type listRulesOutput struct {
	Data  []Rule `json:"data" doc:"Sorted by name."`
	Total int    `json:"total"`
}

func (s *Service) listRules() op.Operation {
	return op.Define(op.Meta{
		Name: "ListRules", Title: "List rules", Domain: op.Automation,
		Doc:    "Lists automation rules, what fires each and when it is due next.",
		Method: "GET", Path: "/api/v1/rules", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"enabled": true, "limit": 10},
	}, func(ctx context.Context, actor library.Actor, in listRulesInput) (listRulesOutput, error) {
		list, total, err := s.Store.Rules.List(ctx, actor.Tenant, store.RuleFilter{Enabled: in.Enabled, Trigger: library.TriggerType(in.Trigger)}, in.Limit, in.Offset)
		out := listRulesOutput{Data: []Rule{}, Total: total}
		for _, r := range list {
			out.Data = append(out.Data, describeRule(r))
		}
		return out, err
	})
}

type getRuleInput struct {
	op.TenantInput
	RuleInput
}

func (s *Service) getRule() op.Operation {
	return op.Define(op.Meta{
		Name: "GetRule", Title: "Get a rule", Domain: op.Automation,
		Doc:    "Returns one automation rule.",
		Method: "GET", Path: "/api/v1/rules/{rule_id}", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"rule_id": exampleRule},
	}, func(ctx context.Context, actor library.Actor, in getRuleInput) (Rule, error) {
		r, err := s.Store.Rules.Get(ctx, actor.Tenant, in.ID)
		return describeRule(r), err
	})
}

type listRunsInput struct {
	op.TenantInput
	RuleInput
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50"`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"10000" default:"0"`
}

type ruleRun struct {
	Fired
	FiredAt     time.Time `json:"fired_at"`
	Times       int       `json:"times" doc:"How often in a row; more than 1 only where limits were reached."`
	Changed     int64     `json:"changed_count" doc:"Effects of the pipeline's run so far."`
	OperationID string    `json:"operation_id,omitempty" doc:"UndoOperation takes back what the run changed."`
}

type listRunsOutput struct {
	Data  []ruleRun `json:"data" doc:"The newest first."`
	Total int       `json:"total" doc:"Counted up to 10,000."`
}

func (s *Service) listRuleRuns() op.Operation {
	return op.Define(op.Meta{
		Name: "ListRuleRuns", Title: "List firings of a rule", Domain: op.Automation,
		Doc:    "Lists the firings of a rule in the last 90 days: why it fired, which run it started, what that changed, and the operation that takes it back.",
		Method: "GET", Path: "/api/v1/rules/{rule_id}/runs", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"rule_id": exampleRule},
	}, func(ctx context.Context, actor library.Actor, in listRunsInput) (listRunsOutput, error) {
		out := listRunsOutput{Data: []ruleRun{}}
		r, err := s.Store.Rules.Get(ctx, actor.Tenant, in.ID)
		if err != nil {
			return out, err
		}
		list, total, err := s.Store.Rules.Runs(ctx, actor.Tenant, in.ID, in.Limit, in.Offset)
		out.Total = total
		for _, x := range list {
			out.Data = append(out.Data, ruleRun{Fired: describeFiring(r, x), FiredAt: x.FiredAt.UTC(), Times: x.Times, Changed: x.Changed, OperationID: x.OperationID})
		}
		return out, err
	})
}
