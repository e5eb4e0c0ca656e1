package automation_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/store"
)

func every(cron, zone, missed string) library.Trigger {
	return library.Trigger{Type: library.TriggerSchedule, Cron: cron, TimeZone: zone, Missed: missed}
}

// naiveDue returns when a schedule of the form "M H * * D" is due in a time: it looks at every
// minute of the clock in its zone.
func naiveDue(t *testing.T, cron, zone string, from, until time.Time) (list []string) {
	t.Helper()
	in, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(cron)
	fits := func(field string, value int) bool {
		if step, ok := strings.CutPrefix(field, "*/"); ok {
			n, _ := strconv.Atoi(step)
			return value%n == 0
		}
		return field == "*" || slices.Contains(strings.Split(field, ","), strconv.Itoa(value))
	}
	for at := from.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		if c := at.In(in); fits(fields[0], c.Minute()) && fits(fields[1], c.Hour()) && fits(fields[4], int(c.Weekday())) {
			list = append(list, "due/"+at.UTC().Format(time.RFC3339))
		}
	}
	return list
}

// TestRules_ASimulatedWeekFiresEveryDueTimeOfEachRuleOnce has two processes and calls of
// TriggerRule evaluate 500 schedules side by side through a week in which clocks change in
// Europe, with pauses of a process up to hours.
func TestRules_ASimulatedWeekFiresEveryDueTimeOfEachRuleOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := randtest.NewRand(randtest.Fresh(t))
	begin := time.Date(2026, 10, 22, 22, 17, 33, 0, time.UTC)
	end := begin.Add(7 * 24 * time.Hour)
	e.at(begin)
	want, total := drawSchedules(t, e, r, begin, end)
	other := e.process()
	for now := begin; now.Before(end); {
		if now = now.Add(time.Duration(1+r.IntN(300)) * time.Minute); now.After(end) {
			now = end
		}
		e.at(now)
		var both sync.WaitGroup
		both.Go(func() {
			if err := e.rules.RunDue(t.Context(), library.TriggerSchedule); err != nil {
				t.Error(err)
			}
		})
		if r.IntN(2) == 0 {
			both.Go(func() {
				if err := other.RunDue(t.Context(), library.TriggerSchedule); err != nil {
					t.Error(err)
				}
			})
		} else if r.IntN(2) == 0 {
			both.Go(func() {
				if _, err := other.Trigger(t.Context(), e.admin.Tenant, library.TriggerSchedule, "", nil); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	got, fired := firedSources(t, e)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(got[id], want[id]) {
			t.Errorf("fired for %v, want %v", got[id], want[id])
		}
	}
	e.log()
	if n := e.count(`SELECT count(*) FROM events WHERE type = 'rule.fired'`); fired != total || n != total {
		t.Errorf("%d firings with %d events for %d due times", fired, n, total)
	}
	t.Logf("500 rules, %d due times", total)
}

// drawSchedules makes 500 rules in several time zones, and returns when each of them is due.
func drawSchedules(t *testing.T, e *env, r *rand.Rand, begin, end time.Time) (want map[string][]string, total int) {
	t.Helper()
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"}
	want = map[string][]string{}
	for n := range 500 {
		cron := fmt.Sprintf("%d %d * * %d", r.IntN(60), 4+r.IntN(20), r.IntN(7)) // no hour that clocks skip or repeat: package schedule tests those
		switch {
		case n%50 == 0:
			cron = fmt.Sprintf("%d */8 * * *", r.IntN(60))
		case n%20 == 0 || randtest.Long():
			cron = fmt.Sprintf("%d,%d %d * * *", r.IntN(30), 30+r.IntN(30), 4+r.IntN(20))
		}
		zone := zones[r.IntN(len(zones))]
		rule := e.rule(library.Rule{Name: fmt.Sprint("rule ", n), Trigger: every(cron, zone, "all")})
		want[rule.ID] = naiveDue(t, cron, zone, begin, end)
		total += len(want[rule.ID])
	}
	return want, total
}

// firedSources returns what each rule fired for, and how often all of them fired.
func firedSources(t *testing.T, e *env) (got map[string][]string, fired int) {
	t.Helper()
	got = map[string][]string{}
	rows, err := e.db.Query(t.Context(), `SELECT rule_id, source FROM rule_runs WHERE state = 'done' ORDER BY rule_id, source`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var id, source string
		if err := rows.Scan(&id, &source); err != nil {
			t.Fatal(err)
		}
		got[id] = append(got[id], source)
		fired++
	}
	return got, fired
}

func TestRules_DoForMissedTimesWhatTheirPolicySays(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	begin := time.Date(2026, 3, 2, 8, 30, 0, 0, time.UTC)
	e.at(begin)
	rules := map[string]library.Rule{}
	for _, policy := range []string{"skip", "once", "all"} {
		rules[policy] = e.rule(library.Rule{Name: policy, Trigger: every("0 * * * *", "UTC", policy), Limit: library.RateLimit{PerHour: 1}})
	}
	expect := func(after time.Duration, what string, want map[string]string) {
		t.Helper()
		e.at(begin.Add(after))
		e.due()
		for policy, w := range want {
			var got []string
			for _, x := range e.runs(rules[policy]) {
				due, _ := x.Reason["due"].(string)
				entry := due[11:13] + " " + x.State
				if m := x.Reason["missed"]; m != nil {
					entry += fmt.Sprint(" missed ", m)
				}
				got = append(got, entry)
			}
			if joined := strings.Join(got, ", "); joined != w {
				t.Errorf("%s, %s: %s, want %s", what, policy, joined, w)
			}
		}
	}
	expect(30*time.Minute+20*time.Second, "in time", map[string]string{"skip": "09 done", "once": "09 done", "all": "09 done"})
	expect(4*time.Hour, "after an outage of three hours", map[string]string{
		"skip": "09 done, 12 missed missed 3", "once": "09 done, 12 done missed 2", "all": "09 done, 10 done, 11 done, 12 done"})
	expect(4*time.Hour+10*time.Minute, "nothing is due", map[string]string{
		"skip": "09 done, 12 missed missed 3", "once": "09 done, 12 done missed 2", "all": "09 done, 10 done, 11 done, 12 done"})
	expect(6*time.Hour+30*time.Minute+time.Minute, "one missed, one in time", map[string]string{
		"skip": "09 done, 12 missed missed 3, 15 done missed 2", "once": "09 done, 12 done missed 2, 15 done missed 2", "all": "09 done, 10 done, 11 done, 12 done, 13 done, 14 done, 15 done"})
	e.at(begin.Add(time.Hour)) // the clock is set back
	e.due()
	expect(7*time.Hour, "the clock was set back and forth", map[string]string{"once": "09 done, 12 done missed 2, 15 done missed 2"})
}

func TestRules_ADueTimeOfAnotherTriggerDoesNotFire(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.at(time.Date(2026, 3, 2, 8, 30, 0, 0, time.UTC))
	r := e.rule(library.Rule{Name: "changed", Trigger: every("0 9 * * *", "UTC", "once")})
	e.at(e.now().Add(31 * time.Minute))
	if _, _, err := e.store.Rules.Change(t.Context(), e.admin, r.ID, nil, func(x *library.Rule) (bool, error) {
		x.Trigger = every("0 10 * * *", "UTC", "once")
		next := e.now().Add(59 * time.Minute)
		x.Through, x.NextAt = e.now(), &next
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	// A process that read the rule before fires it for a time that was due then.
	due := e.now().Add(-time.Minute)
	late := library.RuleFiring{Source: "due/" + due.Format(time.RFC3339), At: e.now(), Due: due}
	now := r
	now.Trigger = every("0 10 * * *", "UTC", "once")
	for rule, want := range map[*library.Rule]string{&r: library.FiringDisabled, &now: library.FiringDuplicate} {
		if run, err := e.store.Rules.Fire(t.Context(), e.admin.Tenant, *rule, late, store.FiringPlan{}); err != nil || run.State != want {
			t.Errorf("fired with what was read before: %s %v, want %s", run.State, err, want)
		}
	}
	run, err := e.rules.Trigger(t.Context(), e.admin.Tenant, library.TriggerSchedule, "", nil)
	if err != nil || len(run) != 0 {
		t.Errorf("%+v %v", run, err)
	}
	if e.due(); len(e.states(r)) != 0 {
		t.Errorf("it fired for its old time: %v", e.states(r))
	}
	e.at(e.now().Add(time.Hour))
	if e.due(); len(e.states(r)) != 1 {
		t.Errorf("it did not fire for its new time: %v", e.states(r))
	}
}
