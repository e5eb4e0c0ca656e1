package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// Rules keeps rules, how far they are, and their log.
type Rules struct{ s *Store }

// ruleNoun is a rule; its key is the id.
var ruleNoun = softDeleted(rowNoun("rule", &rowTable{table: "rules", key: []string{"rule_id"}, label: "name", touched: "updated_at", trash: "deleted_at",
	columns: []string{"name", "description", "trigger_type", "trigger_config", "rate_limit_config", "pipeline_vars", "pipeline_definition_h", "enabled", "disabled_reason", "created_at", "created_by", "deleted_at"}}))

func init() { register(ruleNoun, undoRules) }

// undoRules is undoRows. A rule whose trigger is put back, or that runs again, begins anew: what
// happened meanwhile does not count.
func undoRules(ctx context.Context, t *Tx, n *Noun, entries []entry) ([]library.Outcome, error) {
	outcomes, changed, err := revertRows(ctx, t, n, entries)
	if err != nil || len(changed) == 0 {
		return outcomes, err
	}
	anew := map[string]bool{}
	for _, e := range entries {
		var fields map[string]json.RawMessage
		if e.before != nil && json.Unmarshal(e.before, &fields) != nil {
			continue
		}
		anew[e.key] = e.before == nil || fields["trigger_config"] != nil || fields["enabled"] != nil || fields["deleted_at"] != nil
	}
	var keys []string
	for _, k := range changed {
		if anew[k] {
			keys = append(keys, k)
		}
	}
	_, err = t.Exec(ctx, `UPDATE rule_state s SET since = now(), through = now(), next_at = CASE WHEN r.trigger_type <> 'event' THEN now() END, primed = r.trigger_type <> 'watch', failures = 0, limited = ''
		FROM rules r WHERE s.tenant_id = $1 AND s.rule_id = ANY($2) AND r.tenant_id = $1 AND r.rule_id = s.rule_id`, t.tenant(), keys)
	return outcomes, err
}

const (
	ruleColumns = `r.rule_id, r.name, r.description, r.trigger_config, r.rate_limit_config, r.pipeline_vars, coalesce(r.pipeline_definition_h, ''), r.enabled, r.disabled_reason,
	r.created_at, r.created_by, r.updated_at, s.through, s.next_at, s.primed, s.failures`
	rulesFrom = ` FROM rules r JOIN rule_state s ON s.tenant_id = r.tenant_id AND s.rule_id = r.rule_id WHERE r.tenant_id = $1 AND r.deleted_at IS NULL`
)

func scanRule(row pgx.CollectableRow) (r library.Rule, err error) {
	err = row.Scan(&r.ID, &r.Name, &r.Description, &r.Trigger, &r.Limit, &r.Vars, &r.Pipeline, &r.Enabled, &r.DisabledReason, &r.CreatedAt, &r.CreatedBy, &r.UpdatedAt,
		&r.Through, &r.NextAt, &r.Primed, &r.Failures)
	return r, err
}

// RuleFilter narrows a list of rules. Empty fields do not.
type RuleFilter struct {
	Enabled *bool
	Trigger library.TriggerType
}

// List returns a page of a tenant's rules by name, and how many there are.
func (rs *Rules) List(ctx context.Context, tenant library.TenantID, f RuleFilter, limit, offset int) (list []library.Rule, total int, err error) {
	err = rs.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		from := rulesFrom + ` AND ($2::boolean IS NULL OR r.enabled = $2) AND ($3 = '' OR r.trigger_type = $3)`
		if err := tx.QueryRow(ctx, `SELECT count(*)`+from, tenant, f.Enabled, f.Trigger).Scan(&total); err != nil {
			return err
		}
		list, err = queryRows(ctx, tx, scanRule, `SELECT `+ruleColumns+from+` ORDER BY lower(r.name), r.rule_id LIMIT $4 OFFSET $5`, tenant, f.Enabled, f.Trigger, limit, offset)
		return err
	})
	return list, total, err
}

// Get returns one rule; a not-found error when there is none.
func (rs *Rules) Get(ctx context.Context, tenant library.TenantID, id string) (r library.Rule, err error) {
	err = rs.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		r, err = getRule(ctx, tx, tenant, id, "")
		return err
	})
	return r, err
}

func getRule(ctx context.Context, tx pgx.Tx, tenant library.TenantID, id, lock string) (library.Rule, error) {
	list, err := queryRows(ctx, tx, scanRule, `SELECT `+ruleColumns+rulesFrom+` AND r.rule_id = $2`+lock, tenant, id)
	if err == nil && len(list) == 0 {
		err = library.NotFound("rule")
	}
	if err != nil {
		return library.Rule{}, err
	}
	return list[0], nil
}

// Add keeps a rule, and for a watch the assets that match already, if r.Primed says that these are
// all. r.NextAt is when it is looked at first. A name that is taken and a rule too many are conflicts.
func (rs *Rules) Add(ctx context.Context, actor library.Actor, r library.Rule, matches []library.AssetHash) (out library.Rule, operationID string, err error) {
	operationID, err = rs.s.Write(ctx, actor, func(t *Tx) error {
		var have int
		if err := t.QueryRow(ctx, `SELECT count(*) FROM rules WHERE tenant_id = $1 AND deleted_at IS NULL`, t.tenant()).Scan(&have); err != nil {
			return err
		}
		if have >= library.MaxRules {
			return library.NewError(library.KindConflict, library.CodeConflict, "This tenant has %d rules, the maximum. Delete one first.", library.MaxRules)
		}
		id := newID()
		err := t.Track(ctx, ruleNoun, []string{id}, func() error {
			_, err := t.Exec(ctx, `INSERT INTO rules (tenant_id, rule_id, name, description, trigger_type, trigger_config, rate_limit_config, pipeline_vars, pipeline_definition_h, enabled, created_by)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, ''), $10, $11)`, t.tenant(), id, r.Name, r.Description, r.Trigger.Type, r.Trigger, r.Limit, object(r.Vars), r.Pipeline, r.Enabled, actor.ID)
			return ruleError(err)
		})
		if err == nil {
			err = t.resetRule(ctx, id, r, matches)
		}
		if err == nil {
			out, err = getRule(ctx, t, t.tenant(), id, "")
		}
		return err
	})
	return out, operationID, err
}

// resetRule begins a rule's state anew: nothing that was before counts.
func (t *Tx) resetRule(ctx context.Context, id string, r library.Rule, matches []library.AssetHash) error {
	_, err := t.Exec(ctx, `INSERT INTO rule_state (tenant_id, rule_id, through, next_at, primed) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant_id, rule_id) DO UPDATE SET since = now(), through = excluded.through, next_at = excluded.next_at, primed = excluded.primed, failures = 0, limited = ''`,
		t.tenant(), id, r.Through, r.NextAt, r.Primed)
	if err != nil || r.Trigger.Type != library.TriggerWatch {
		return err
	}
	if _, err := t.Exec(ctx, `DELETE FROM rule_matches WHERE tenant_id = $1 AND rule_id = $2`, t.tenant(), id); err != nil || len(matches) == 0 {
		return err
	}
	return learnMatches(ctx, t, t.tenant(), id, matches)
}

// Change changes a rule by a function of what it is, which reports whether its state begins
// anew: with another trigger, and when it is enabled. matches is as in Add.
func (rs *Rules) Change(ctx context.Context, actor library.Actor, id string, matches []library.AssetHash, change func(*library.Rule) (anew bool, err error)) (out library.Rule, operationID string, err error) {
	operationID, err = rs.s.Write(ctx, actor, func(t *Tx) error {
		return t.Track(ctx, ruleNoun, []string{id}, func() error {
			r, err := getRule(ctx, t, t.tenant(), id, " FOR UPDATE")
			if err != nil {
				return err
			}
			anew, err := change(&r)
			if err != nil {
				return err
			}
			if r.Enabled {
				r.DisabledReason = ""
			}
			if _, err := t.Exec(ctx, `UPDATE rules SET name = $3, description = $4, trigger_type = $5, trigger_config = $6, rate_limit_config = $7, pipeline_vars = $8, enabled = $9,
				disabled_reason = $10, pipeline_definition_h = nullif($11, ''), updated_at = now() WHERE tenant_id = $1 AND rule_id = $2`,
				t.tenant(), id, r.Name, r.Description, r.Trigger.Type, r.Trigger, r.Limit, object(r.Vars), r.Enabled, r.DisabledReason, r.Pipeline); err != nil {
				return ruleError(err)
			}
			if anew {
				if err := t.resetRule(ctx, id, r, matches); err != nil {
					return err
				}
			}
			out, err = getRule(ctx, t, t.tenant(), id, "")
			return err
		})
	})
	return out, operationID, err
}

// Delete deletes a rule; its log stays until the deletion is older than what can be undone.
func (rs *Rules) Delete(ctx context.Context, actor library.Actor, id string) (operationID string, err error) {
	return rs.s.softDelete(ctx, actor, ruleNoun, id)
}

func ruleError(err error) error {
	if pg.IsUniqueViolation(err) {
		return library.NewError(library.KindConflict, library.CodeNameTaken, "Another rule has this name. Choose another name, or change that rule.")
	}
	return err
}

// Subscribed returns the event patterns of the enabled rules of a tenant, and the time of the
// database at which they were read.
func (rs *Rules) Subscribed(ctx context.Context, tenant library.TenantID) (patterns []string, at time.Time, err error) {
	err = rs.s.indexer.QueryRow(ctx, `SELECT coalesce((SELECT array_agg(DISTINCT trigger_config ->> 'event_type') FROM rules
		WHERE tenant_id = $1 AND enabled AND deleted_at IS NULL AND trigger_type = 'event'), '{}'), now()`, tenant).Scan(&patterns, &at)
	return patterns, at, unavailable(err)
}

// ForEvent returns the enabled rules of a tenant that wait for one of some patterns and did so when
// an event was written; nil: now.
func (rs *Rules) ForEvent(ctx context.Context, tenant library.TenantID, patterns []string, at *time.Time) (list []library.Rule, err error) {
	err = rs.s.readTenant(ctx, tenant, `SELECT `+ruleColumns+rulesFrom+` AND r.enabled AND r.trigger_type = 'event' AND r.trigger_config ->> 'event_type' = ANY($2) AND s.since <= coalesce($3, now()) ORDER BY r.rule_id`,
		[]any{tenant, patterns, at}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanRule)
			return err
		})
	return list, err
}

// DueRule names a rule that is to be looked at.
type DueRule struct {
	Tenant library.TenantID
	ID     string
}

// Due returns the enabled rules of all tenants with a trigger of a kind that are to be looked at
// until a time, the longest due first.
func (rs *Rules) Due(ctx context.Context, kind library.TriggerType, now time.Time, limit int) ([]DueRule, error) {
	return collectIndexer(ctx, rs.s, `SELECT r.tenant_id::text, r.rule_id FROM rule_state s JOIN rules r ON r.tenant_id = s.tenant_id AND r.rule_id = s.rule_id
		WHERE s.next_at <= $1 AND r.trigger_type = $2 AND r.enabled AND r.deleted_at IS NULL ORDER BY s.next_at, r.rule_id LIMIT $3`, pgx.RowToStructByPos[DueRule], now, kind, limit)
}

// Lead makes a process the one that looks at due rules with a kind of trigger until a time, unless
// another one is, and reports whether it is.
func (rs *Rules) Lead(ctx context.Context, kind library.TriggerType, holder string, ttl time.Duration) (leads bool, err error) {
	err = rs.s.indexer.QueryRow(ctx, `INSERT INTO rule_leaders AS l (trigger_type, holder, until) VALUES ($1, $2, now() + $3::interval)
		ON CONFLICT (trigger_type) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE l.holder = excluded.holder OR l.until < now() RETURNING true`, kind, holder, ttl).Scan(&leads)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return leads, unavailable(err)
}

// Advance records how far a rule was looked at, unless it was looked at further or began anew
// meanwhile.
func (rs *Rules) Advance(ctx context.Context, tenant library.TenantID, r library.Rule, through, next time.Time) error {
	return rs.s.execTenant(ctx, tenant, `UPDATE rule_state SET through = greatest(through, $3), next_at = $4 WHERE tenant_id = $1 AND rule_id = $2 AND through = $5`,
		tenant, r.ID, through, next, r.Through)
}

// Postpone has a rule that could not be looked at wait until a time.
func (rs *Rules) Postpone(ctx context.Context, due DueRule, until time.Time) error {
	return rs.s.execTenant(ctx, due.Tenant, `UPDATE rule_state SET next_at = $3 WHERE tenant_id = $1 AND rule_id = $2 AND next_at < $3`, due.Tenant, due.ID, until)
}

// Runs returns a page of a rule's log, the newest first, and how many entries it has, counted up to 10,000.
func (rs *Rules) Runs(ctx context.Context, tenant library.TenantID, rule string, limit, offset int) (list []library.RuleRun, total int, err error) {
	err = rs.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		if _, err := getRule(ctx, tx, tenant, rule, ""); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM rule_runs WHERE tenant_id = $1 AND rule_id = $2 LIMIT 10000) x`, tenant, rule).Scan(&total); err != nil {
			return err
		}
		list, err = queryRows(ctx, tx, scanRuleRun, `SELECT `+ruleRunColumns+`, coalesce(p.operation_id, ''), coalesce((p.progress ->> 'changed')::bigint, 0)
			FROM rule_runs r LEFT JOIN pipeline_runs p ON p.tenant_id = r.tenant_id AND p.run_id = r.run_id WHERE r.tenant_id = $1 AND r.rule_id = $2
			ORDER BY r.fired_at DESC, r.rule_run_id DESC LIMIT $3 OFFSET $4`, tenant, rule, limit, offset)
		return err
	})
	return list, total, err
}

const ruleRunColumns = `r.rule_run_id, r.rule_id, r.trigger_type, r.reason, r.state, r.run_id, r.times, r.error, r.fired_at`

func scanRuleRun(row pgx.CollectableRow) (r library.RuleRun, err error) {
	err = row.Scan(&r.ID, &r.RuleID, &r.Trigger, &r.Reason, &r.State, &r.RunID, &r.Times, &r.Error, &r.FiredAt, &r.OperationID, &r.Changed)
	if r.Changed == 0 {
		r.OperationID = ""
	}
	return r, err
}
