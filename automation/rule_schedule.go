package automation

import (
	"context"
	"time"

	"vitrine/automation/schedule"
	"vitrine/library"
)

const (
	// onTime is how late a time that was due may be looked at without being missed.
	onTime = 90 * time.Second
	// mostMissed is for how many missed times a rule fires that fires for all: the last of them.
	mostMissed = 1000
)

// fireDue fires a rule for the times that were due since it was last looked at, as it wants it for
// those that were missed.
func (rs *Rules) fireDue(ctx context.Context, tenant library.TenantID, r library.Rule) (out []Result, err error) {
	s, err := schedule.Parse(r.Trigger.Cron, r.Trigger.TimeZone)
	if err != nil {
		return nil, err
	}
	now := rs.cfg.Now()
	due, total := s.Between(r.Through, now, mostMissed)
	fires, missed := split(r.Trigger.Missed, due, now)
	missed += total - len(due)
	if len(due) > 0 && len(fires) == 0 {
		f := firingAt(due[len(due)-1], now)
		f.Reason["missed"] = missed
		if err := rs.rules.LogMissed(ctx, tenant, r, f); err != nil {
			return nil, err
		}
	}
	for i, at := range fires {
		f := firingAt(at, now)
		if i == 0 && missed > 0 {
			f.Reason["missed"] = missed
		}
		if r.Trigger.Missed == "all" {
			f.At = at // its limits are those of that time
		}
		run, err := rs.fire(ctx, tenant, r, f)
		if err != nil {
			return out, err
		}
		out = append(out, Result{r, run})
	}
	return out, rs.rules.Advance(ctx, tenant, r, now, s.Next(now))
}

// split returns for which of some times that were due a rule fires, and how many it passes over.
// Those that are looked at in time always fire; of the others none does (skip), the last one if no
// other fires (once), or each.
func split(policy string, due []time.Time, now time.Time) (fires []time.Time, missed int) {
	if policy == "all" {
		return due, 0
	}
	for late := len(due); late > 0; late-- {
		if now.Sub(due[late-1]) > onTime {
			if late == len(due) && policy != "skip" {
				late--
			}
			return due[late:], late
		}
	}
	return due, 0
}

func firingAt(due, now time.Time) library.RuleFiring {
	at := due.UTC().Format(time.RFC3339)
	return library.RuleFiring{Source: "due/" + at, At: now, Due: due, Reason: map[string]any{"due": at}, Vars: map[string]any{"due": at}}
}

// DefaultInterval is how often a watch looks that says nothing else.
const DefaultInterval = 15 * time.Minute

// FirstLook returns when a rule is looked at first after a time; nil: events bring it.
func FirstLook(r library.Rule, now time.Time) (*time.Time, error) {
	switch r.Trigger.Type {
	case library.TriggerSchedule:
		s, err := schedule.Parse(r.Trigger.Cron, r.Trigger.TimeZone)
		if err != nil {
			return nil, err
		}
		next := s.Next(now)
		return &next, nil
	case library.TriggerWatch:
		if r.Primed {
			now = now.Add(interval(r))
		}
		return &now, nil
	}
	return nil, nil
}

// interval returns how often a watch looks.
func interval(r library.Rule) time.Duration {
	if m := r.Trigger.IntervalMinutes; m > 0 {
		return time.Duration(m) * time.Minute
	}
	return DefaultInterval
}
