package automation

import (
	"context"
	"strings"
	"time"

	"vitrine/automation/schedule"
	"vitrine/library"
	"vitrine/op"
)

// exampleRule stands in examples where a caller puts an id of their own.
const exampleRule = "019a7e3f-0000-7000-8000-000000000000"

// RuleInput is embedded by inputs that speak of one rule.
type RuleInput struct {
	ID string `json:"rule_id" id:"rule" minLength:"1" maxLength:"64"`
}

// Rule is a rule as it is shown. Outputs embed it.
type Rule struct {
	ID             string            `json:"rule_id"`
	Name           string            `json:"name"`
	Description    string            `json:"description,omitempty"`
	Trigger        library.Trigger   `json:"trigger_config"`
	Limit          library.RateLimit `json:"rate_limit_config"`
	Vars           map[string]any    `json:"pipeline_vars,omitempty"`
	Pipeline       string            `json:"pipeline_definition_h,omitempty" doc:"The pipeline that it runs; absent: it only emits rule.fired."`
	Enabled        bool              `json:"enabled"`
	DisabledReason string            `json:"disabled_reason,omitempty" doc:"Why the service paused it."`
	Failures       int               `json:"failures" doc:"Firings in a row that failed; after 5 the rule is paused."`
	NextAt         *time.Time        `json:"next_at,omitempty" doc:"When a schedule is due next, or a watch looks next."`
	CreatedAt      time.Time         `json:"created_at"`
	CreatedBy      string            `json:"created_by"`
	UpdatedAt      time.Time         `json:"updated_at"`
}

// changedRule is a rule as a write left it.
type changedRule struct {
	Rule
	op.Undoable
}

func describeRule(r library.Rule) Rule {
	out := Rule{ID: r.ID, Name: r.Name, Description: r.Description, Trigger: r.Trigger, Limit: r.Limit, Vars: r.Vars, Pipeline: r.Pipeline, Enabled: r.Enabled, DisabledReason: r.DisabledReason,
		Failures: r.Failures, CreatedAt: r.CreatedAt.UTC(), CreatedBy: r.CreatedBy, UpdatedAt: r.UpdatedAt.UTC()}
	if r.NextAt != nil && r.Enabled {
		next := r.NextAt.UTC()
		out.NextAt = &next
	}
	return out
}

// Fired is what became of a rule that was looked at.
type Fired struct {
	RuleID    string         `json:"rule_id"`
	Name      string         `json:"name"`
	State     string         `json:"state" enum:"running,done,failed,rate_limited,loop_stopped,missed,duplicate,disabled,stale" doc:"running: its pipeline runs. duplicate: it had fired for this cause before."`
	RuleRunID string         `json:"rule_run_id,omitempty"`
	RunID     string         `json:"run_id,omitempty" doc:"The pipeline's run. GetPipelineRun takes it."`
	Reason    map[string]any `json:"reason,omitempty" doc:"Why it fired: the event, the time that was due, or the assets."`
	Error     string         `json:"error,omitempty" doc:"Why it failed or did nothing."`
}

func describeFiring(r library.Rule, x library.RuleRun) Fired {
	f := Fired{RuleID: r.ID, Name: r.Name, State: x.State, RuleRunID: x.ID, RunID: x.RunID, Reason: x.Reason, Error: x.Error}
	if x.State == library.FiringDuplicate || x.State == library.FiringDisabled || x.State == library.FiringStale {
		f.RuleRunID = "" // nothing is kept of it
	}
	return f
}

// ruleEvents declares the events of rules that fire.
func ruleEvents() []op.EventType {
	example := library.RuleEvent{RuleID: exampleRule, Name: "Monday digest", Trigger: "schedule", RuleRunID: "019a7e3f-1111-7000-8000-000000000000", Reason: map[string]any{"due": "2026-11-23T08:00:00Z"}, Cause: op.ExampleCause}
	return []op.EventType{
		op.DefineEvent("rule.fired", "A rule fired.", example),
		op.DefineEvent("rule.rate_limited", "A rule did not fire because of its limits. It comes once, until the rule fires again.", example),
		op.DefineEvent("rule.paused", "A rule was paused because it failed again and again.", example),
	}
}

// checkRuleName returns what is wrong with the name of a rule.
func checkRuleName(name *string) []library.FieldError {
	if *name = strings.TrimSpace(*name); *name == "" {
		return []library.FieldError{{Field: "name", Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."}}
	}
	return nil
}

// checkTrigger returns what is wrong with a trigger. It takes out what is of other types of
// triggers, and fills in defaults.
func (s *Service) checkTrigger(ctx context.Context, actor library.Actor, t *library.Trigger) error {
	fail := func(field, message, hint string) error {
		return unprocessable(library.FieldError{Field: "trigger_config." + field, Code: "format", Message: message, Hint: hint})
	}
	switch t.Type {
	case library.TriggerEvent:
		types := []string{t.EventType}
		if errs := s.checkEvents(&types); len(errs) > 0 {
			return fail("event_type", errs[0].Message, errs[0].Hint)
		}
		*t = library.Trigger{Type: t.Type, EventType: types[0]}
	case library.TriggerSchedule:
		if _, err := schedule.Parse(t.Cron, t.TimeZone); err != nil {
			return fail("cron", "It cannot be used: "+err.Error()+".", "0 9 * * 1 with timezone Europe/Berlin is Mondays at nine.")
		}
		*t = library.Trigger{Type: t.Type, Cron: strings.TrimSpace(t.Cron), TimeZone: t.TimeZone, Missed: t.Missed}
		if t.Missed == "" {
			t.Missed = "once"
		}
	case library.TriggerWatch:
		if strings.TrimSpace(t.Query) == "" {
			return fail("query", "A watch needs a query.", "Send one as in SearchAssets, such as tag:review.")
		}
		if err := s.CheckMatch(ctx, actor, t.Query); err != nil {
			return err
		}
		*t = library.Trigger{Type: t.Type, Query: t.Query, IntervalMinutes: t.IntervalMinutes}
		if t.IntervalMinutes == 0 {
			t.IntervalMinutes = 15
		}
	}
	return nil
}

// NamedPipeline is embedded by inputs that name the pipeline of a rule.
type NamedPipeline struct {
	Hash string `json:"pipeline_definition_h,omitempty" id:"pipeline" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"40 hex digits"`
	Name string `json:"pipeline_name,omitempty" maxLength:"200" doc:"Or its name or slug."`
}

// findPipeline returns the hash of the pipeline that a rule is to run; empty when it names none.
func (s *Service) findPipeline(ctx context.Context, actor library.Actor, p NamedPipeline) (string, error) {
	if p.Hash == "" && p.Name == "" {
		return "", nil
	}
	if p.Hash != "" && p.Name != "" {
		return "", unprocessable(library.FieldError{Field: "pipeline_name", Code: "exclusive", Message: "Send pipeline_definition_h or pipeline_name, not both."})
	}
	found, err := s.Store.Pipelines.Find(ctx, actor.Tenant, library.PipelineHash(strings.ToLower(p.Hash)), p.Name)
	return string(found.Hash), err
}
