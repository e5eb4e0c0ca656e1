package automation

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type simulateInput struct {
	op.TenantInput
	RuleInput
	Hours int `json:"hours,omitempty" minimum:"1" maximum:"720" default:"24" doc:"How far to look back; the log of events has 30 days."`
}

type simulateOutput struct {
	Fired   int64       `json:"fired" doc:"How often it would have fired."`
	Limited int64       `json:"rate_limited" doc:"How often its limits per hour and per day would have kept it from firing."`
	Stopped int64       `json:"loop_stopped" doc:"How often it would have stopped because rules led to each other."`
	Sample  []simulated `json:"sample" doc:"The last 20 firings, the oldest first."`
	More    bool        `json:"more" doc:"There was more in that time than 20,000 events, which the figures leave out."`
	Note    string      `json:"note,omitempty" doc:"How far the figures can be trusted."`
}

type simulated struct {
	At     time.Time      `json:"at"`
	Reason map[string]any `json:"reason" doc:"Why it would have fired."`
}

func (s *Service) simulateRule() op.Operation {
	return op.Define(op.Meta{
		Name: "SimulateRule", Title: "Simulate a rule", Domain: op.Automation,
		Doc:    "Returns how often a rule would have fired in the last hours, and why, also of a disabled one. Nothing is changed.",
		Method: "POST", Path: "/api/v1/rules/{rule_id}/simulate", Permission: library.PermAdmin, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"rule_id": exampleRule, "hours": 24},
	}, func(ctx context.Context, actor library.Actor, in simulateInput) (simulateOutput, error) {
		out := simulateOutput{Sample: []simulated{}}
		r, err := s.Store.Rules.Get(ctx, actor.Tenant, in.ID)
		if err != nil {
			return out, err
		}
		sim, err := s.Rules.Simulate(ctx, actor, r, s.Rules.Now().Add(-time.Duration(in.Hours)*time.Hour))
		out.Fired, out.Limited, out.Stopped, out.More, out.Note = sim.Fired, sim.Limited, sim.Stopped, sim.More, sim.Note
		for _, x := range sim.Sample {
			out.Sample = append(out.Sample, simulated{x.At, x.Reason})
		}
		return out, err
	})
}
