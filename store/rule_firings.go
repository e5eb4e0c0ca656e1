package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/failpoint"
	"vitrine/library"
)

// The types of the events of rules that fire.
const (
	EventRuleFired       = "rule.fired"
	EventRuleRateLimited = "rule.rate_limited"
	EventRulePaused      = "rule.paused"
)

// RuleActor is who does what a rule does. Only who has the permission admin makes rules, so a rule
// may do everything in its tenant.
func RuleActor(tenant library.TenantID, r library.Rule) library.Actor {
	return library.Actor{Kind: library.ActorRule, ID: r.ID, Name: r.Name, Tenant: tenant, Permissions: library.Permissions}
}

// FiringPlan is what a rule does when it fires.
type FiringPlan struct {
	Run    *library.PipelineRun // that is started; nil: none
	Failed string               // why there is no run although there should be one
}

// Fire fires a rule for a cause, once however often it is called: the firing, the start of its run
// and its events commit together. It does not fire when the rule is disabled, above a limit of its
// own, or was led to by too many others.
func (rs *Rules) Fire(ctx context.Context, tenant library.TenantID, rule library.Rule, f library.RuleFiring, plan FiringPlan) (run library.RuleRun, err error) {
	ctx = library.WithCall(ctx, library.Call{Tool: "RunRule", Permission: library.PermAdmin, Depth: f.Depth + 1})
	_, err = rs.s.Write(ctx, RuleActor(tenant, rule), func(t *Tx) error {
		run = library.RuleRun{ID: newID(), RuleID: rule.ID, Trigger: rule.Trigger.Type, Reason: f.Reason, FiredAt: f.At, Times: 1}
		r, err := getRule(ctx, t, tenant, rule.ID, " FOR UPDATE")
		switch {
		case isNotFound(err), err == nil && (!r.Enabled || r.Trigger != rule.Trigger):
			run.State = library.FiringDisabled
			return nil
		case err != nil:
			return err
		}
		if run.State, run.Error, err = t.firingState(ctx, r, f, plan); err != nil {
			return err
		}
		switch run.State {
		case library.FiringDuplicate, library.FiringStale:
			return nil
		case library.FiringRateLimited:
			return t.limitFiring(ctx, r, f, run)
		case library.FiringRunning:
			if err := t.CreateRun(ctx, plan.Run); err != nil {
				return err
			}
			run.RunID = plan.Run.ID
		}
		return t.keepFiring(ctx, r, f, run)
	})
	return run, err
}

// firingState returns what is to become of a firing, and why. The assets of a watch that fires are
// known from then on.
func (t *Tx) firingState(ctx context.Context, r library.Rule, f library.RuleFiring, plan FiringPlan) (state, why string, err error) {
	var fired bool
	if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM rule_runs WHERE tenant_id = $1 AND rule_id = $2 AND source = $3)`, t.tenant(), r.ID, f.Source).Scan(&fired); err != nil {
		return "", "", err
	}
	if fired || !f.Due.IsZero() && !f.Due.After(r.Through) {
		return library.FiringDuplicate, "", nil
	}
	loop := f.Depth >= library.MaxCausationDepth
	if !loop {
		if why, err = t.aboveLimit(ctx, r, f.At); err != nil || why != "" {
			return library.FiringRateLimited, why, err
		}
	}
	if len(f.Assets) > 0 {
		tag, err := t.Exec(ctx, `INSERT INTO rule_matches (tenant_id, rule_id, asset_h) SELECT $1, $2, h FROM unnest($3::text[]) AS h
			WHERE NOT EXISTS (SELECT FROM rule_matches WHERE tenant_id = $1 AND rule_id = $2 AND asset_h = ANY($3))`, t.tenant(), r.ID, f.Assets)
		if err != nil || tag.RowsAffected() == 0 {
			return library.FiringStale, "", err
		}
	}
	switch {
	case loop:
		return library.FiringLoopStopped, fmt.Sprintf("%d rules led to each other, one by one", f.Depth), nil
	case plan.Failed != "":
		return library.FiringFailed, plan.Failed, nil
	case plan.Run != nil:
		return library.FiringRunning, "", nil
	}
	return library.FiringDone, "", nil
}

// keepFiring writes the entry of the log of a firing, and its event.
func (t *Tx) keepFiring(ctx context.Context, r library.Rule, f library.RuleFiring, run library.RuleRun) error {
	if err := t.logFiring(ctx, r, f, run); err != nil {
		return err
	}
	switch run.State {
	case library.FiringLoopStopped:
		return nil
	case library.FiringFailed:
		return t.ruleFailed(ctx, r, run)
	}
	sql := `UPDATE rule_state SET limited = '' WHERE tenant_id = $1 AND rule_id = $2 AND limited <> ''`
	if run.State == library.FiringDone {
		sql = `UPDATE rule_state SET limited = '', failures = 0 WHERE tenant_id = $1 AND rule_id = $2 AND (limited <> '' OR failures > 0)`
	}
	if _, err := t.Exec(ctx, sql, t.tenant(), r.ID); err != nil {
		return err
	}
	if err := t.emitRule(ctx, EventRuleFired, r, run); err != nil {
		return err
	}
	return failpoint.Inject("rules.firing")
}

func (t *Tx) logFiring(ctx context.Context, r library.Rule, f library.RuleFiring, run library.RuleRun) error {
	_, err := t.Exec(ctx, `INSERT INTO rule_runs (tenant_id, rule_run_id, rule_id, source, trigger_type, reason, state, run_id, error, fired_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		t.tenant(), run.ID, r.ID, f.Source, r.Trigger.Type, object(f.Reason), run.State, run.RunID, run.Error, f.At)
	return err
}

// emitRule emits an event of a rule. What it says of the reason names no asset: the stream of events
// is read by people who may not see it.
func (t *Tx) emitRule(ctx context.Context, kind string, r library.Rule, run library.RuleRun) error {
	reason := map[string]any{}
	for _, name := range []string{"event_type", "due", "missed", "assets"} {
		if v, ok := run.Reason[name]; ok {
			reason[name] = v
		}
	}
	return t.Emit(ctx, library.Event{Type: kind, Key: "rule/" + r.ID, Payload: library.RuleEvent{RuleID: r.ID, Name: r.Name, Trigger: string(r.Trigger.Type), RuleRunID: run.ID, RunID: run.RunID,
		Reason: reason, Cause: t.cause()}})
}

// aboveLimit returns the limit that a rule has reached; empty: none.
func (t *Tx) aboveLimit(ctx context.Context, r library.Rule, now time.Time) (string, error) {
	if r.Limit == (library.RateLimit{}) {
		return "", nil
	}
	const fired = `(SELECT count(*) FROM (SELECT FROM rule_runs WHERE tenant_id = $1 AND rule_id = $2 AND state IN ('running', 'done', 'failed') AND fired_at <= $3 AND fired_at > $3::timestamptz - `
	var hour, day, running int
	err := t.QueryRow(ctx, `SELECT `+fired+`interval '1 hour' LIMIT $4) x), `+fired+`interval '1 day' LIMIT $5) x),
		(SELECT count(*) FROM (SELECT FROM rule_runs WHERE tenant_id = $1 AND rule_id = $2 AND state = 'running' LIMIT $6) x)`,
		t.tenant(), r.ID, now, r.Limit.PerHour, r.Limit.PerDay, r.Limit.Concurrent).Scan(&hour, &day, &running)
	switch {
	case err != nil:
		return "", err
	case r.Limit.PerHour > 0 && hour >= r.Limit.PerHour:
		return "max_executions_per_hour is reached", nil
	case r.Limit.PerDay > 0 && day >= r.Limit.PerDay:
		return "max_executions_per_day is reached", nil
	case r.Limit.Concurrent > 0 && running >= r.Limit.Concurrent:
		return "max_concurrent is reached", nil
	}
	return "", nil
}

// limitFiring records that a rule is above a limit, and emits an event of it once, until the rule
// fires again. A thousand in a row are one entry of the log.
func (t *Tx) limitFiring(ctx context.Context, r library.Rule, f library.RuleFiring, run library.RuleRun) error {
	tag, err := t.Exec(ctx, `UPDATE rule_runs SET times = times + 1, fired_at = $3 WHERE tenant_id = $1 AND rule_run_id = (SELECT limited FROM rule_state WHERE tenant_id = $1 AND rule_id = $2)`, t.tenant(), r.ID, f.At)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	if err := t.logFiring(ctx, r, f, run); err != nil {
		return err
	}
	if _, err := t.Exec(ctx, `UPDATE rule_state SET limited = $3 WHERE tenant_id = $1 AND rule_id = $2`, t.tenant(), r.ID, run.ID); err != nil {
		return err
	}
	return t.emitRule(ctx, EventRuleRateLimited, r, run)
}

// ruleFailed counts a failure and pauses a rule that fails again and again.
func (t *Tx) ruleFailed(ctx context.Context, r library.Rule, run library.RuleRun) error {
	var failures int
	if err := t.QueryRow(ctx, `UPDATE rule_state SET failures = failures + 1 WHERE tenant_id = $1 AND rule_id = $2 RETURNING failures`, t.tenant(), r.ID).Scan(&failures); err != nil || failures < library.MaxRuleFailures || !r.Enabled {
		return err
	}
	err := t.Track(ctx, ruleNoun, []string{r.ID}, func() error {
		_, err := t.Exec(ctx, `UPDATE rules SET enabled = false, disabled_reason = $3, updated_at = now() WHERE tenant_id = $1 AND rule_id = $2`, t.tenant(), r.ID,
			fmt.Sprintf("It failed %d times in a row, the last time: %s", failures, run.Error))
		return err
	})
	if err != nil {
		return err
	}
	return t.emitRule(ctx, EventRulePaused, r, run)
}

func isNotFound(err error) bool {
	return err != nil && library.AsError(err).Kind == library.KindNotFound
}

// Matches returns the assets that a watch knows to match.
func (rs *Rules) Matches(ctx context.Context, tenant library.TenantID, rule string) (list []library.AssetHash, err error) {
	err = rs.s.readTenant(ctx, tenant, `SELECT asset_h FROM rule_matches WHERE tenant_id = $1 AND rule_id = $2`, []any{tenant, rule}, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
		return err
	})
	return list, err
}

// Depths returns, of some assets, how many rules led one by one to the last change of each, if a
// run of a pipeline made it.
func (rs *Rules) Depths(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) (map[library.AssetHash]int, error) {
	out := map[library.AssetHash]int{}
	err := rs.s.readTenant(ctx, tenant, `SELECT h, p.causation_depth FROM unnest($2::text[]) AS h
		CROSS JOIN LATERAL (SELECT operation_id FROM audit WHERE tenant_id = $1 AND subject = h AND at > now() - interval '30 days' ORDER BY audit_id DESC LIMIT 1) j
		JOIN pipeline_runs p ON p.tenant_id = $1 AND p.operation_id = j.operation_id`, []any{tenant, assets}, func(rows pgx.Rows) error {
		var h library.AssetHash
		var depth int
		_, err := pgx.ForEachRow(rows, []any{&h, &depth}, func() error { out[h] = depth; return nil })
		return err
	})
	return out, err
}

// Learn makes a watch know all assets that match, without firing, unless it began anew since r was
// read.
func (rs *Rules) Learn(ctx context.Context, tenant library.TenantID, r library.Rule, matches []library.AssetHash) error {
	return rs.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE rule_state SET primed = true WHERE tenant_id = $1 AND rule_id = $2 AND through = $3 AND NOT primed`, tenant, r.ID, r.Through)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return learnMatches(ctx, tx, tenant, r.ID, matches)
	})
}

func learnMatches(ctx context.Context, tx pgx.Tx, tenant library.TenantID, rule string, matches []library.AssetHash) error {
	_, err := tx.Exec(ctx, `INSERT INTO rule_matches (tenant_id, rule_id, asset_h) SELECT $1, $2, h FROM unnest($3::text[]) AS h ON CONFLICT DO NOTHING`, tenant, rule, matches)
	return err
}

// Unlearn makes a watch forget assets that do not match any more.
func (rs *Rules) Unlearn(ctx context.Context, tenant library.TenantID, rule string, gone []library.AssetHash) error {
	return rs.s.execTenant(ctx, tenant, `DELETE FROM rule_matches WHERE tenant_id = $1 AND rule_id = $2 AND asset_h = ANY($3)`, tenant, rule, gone)
}

// Ended records that the run of a rule ended, once.
func (rs *Rules) Ended(ctx context.Context, tenant library.TenantID, rule, runID string, failed bool, why string) error {
	ctx = library.WithCall(ctx, library.Call{Tool: "RunRule", Permission: library.PermAdmin})
	_, err := rs.s.Write(ctx, RuleActor(tenant, library.Rule{ID: rule}), func(t *Tx) error {
		r, err := getRule(ctx, t, tenant, rule, " FOR UPDATE")
		deleted := isNotFound(err)
		if err != nil && !deleted {
			return err
		}
		run := library.RuleRun{RunID: runID, State: library.FiringDone, Error: why}
		if failed {
			run.State = library.FiringFailed
		}
		rows, err := t.Query(ctx, `UPDATE rule_runs SET state = $3, error = $4 WHERE tenant_id = $1 AND run_id = $2 AND state = 'running' RETURNING rule_run_id, reason`, t.tenant(), runID, run.State, why)
		if err != nil {
			return err
		}
		ended := 0
		if _, err := pgx.ForEachRow(rows, []any{&run.ID, &run.Reason}, func() error { ended++; return nil }); err != nil || ended == 0 || deleted {
			return err
		}
		if failed {
			return t.ruleFailed(ctx, r, run)
		}
		_, err = t.Exec(ctx, `UPDATE rule_state SET failures = 0 WHERE tenant_id = $1 AND rule_id = $2`, t.tenant(), rule)
		return err
	})
	return err
}

// LogMissed records that a time of a rule passed for which nothing was done.
func (rs *Rules) LogMissed(ctx context.Context, tenant library.TenantID, r library.Rule, f library.RuleFiring) error {
	return rs.s.execTenant(ctx, tenant, `INSERT INTO rule_runs (tenant_id, rule_run_id, rule_id, source, trigger_type, reason, state, fired_at)
		SELECT $1, $2, $3, $4, $5, $6, 'missed', $7 WHERE EXISTS (SELECT FROM rules WHERE tenant_id = $1 AND rule_id = $3) ON CONFLICT DO NOTHING`,
		tenant, newID(), r.ID, f.Source, r.Trigger.Type, object(f.Reason), f.At)
}

// ForgetRuns deletes firings that are older than three times EventRetention, at most limit of them,
// and reports how many. A cause is younger than that: one that comes again is known.
func (rs *Rules) ForgetRuns(ctx context.Context, limit int) (int64, error) {
	tag, err := rs.s.indexer.Exec(ctx, `DELETE FROM rule_runs WHERE (tenant_id, rule_run_id) IN (
		SELECT tenant_id, rule_run_id FROM rule_runs WHERE fired_at < now() - $1::interval * 3 ORDER BY fired_at LIMIT $2)`, EventRetention, limit)
	return tag.RowsAffected(), unavailable(err)
}

// Since returns the events of the actor's tenant since a time whose types a pattern stands for, at
// most limit of them, the oldest first, and reports whether there are more.
func (ev *Events) Since(ctx context.Context, actor library.Actor, since time.Time, pattern string, limit int) (list []LoggedEvent, more bool, err error) {
	err = ev.s.readTenant(ctx, actor.Tenant, `SELECT `+eventColumns+` FROM events e WHERE tenant_id = $1 AND at >= $2 AND type NOT LIKE CASE WHEN $3 = '*' THEN 'rule.%' ELSE '' END
			AND ($3 = '*' OR type = $3 OR right($3, 2) = '.*' AND starts_with(type, left($3, -1))) AND `+visibleEvent("$5")+` ORDER BY position LIMIT $4`,
		[]any{actor.Tenant, since, pattern, limit + 1, viewer(actor)}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanEvent)
			return err
		})
	if len(list) > limit {
		list, more = list[:limit], true
	}
	return list, more, err
}
