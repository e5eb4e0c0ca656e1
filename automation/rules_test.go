package automation_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/automation"
	"vitrine/library"
)

func TestRules_AnEventThatComesAgainFiresEachRuleOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.pipeline("Mark", `ids "{{vars.asset_ids}}" | compute metadata.marks "coalesce(metadata.marks, 0) + 1"`)
	one := e.rule(library.Rule{Name: "one", Trigger: onEvent("asset.created"), Pipeline: p})
	all := e.rule(library.Rule{Name: "all", Trigger: onEvent("asset.*")})
	other := e.rule(library.Rule{Name: "other", Trigger: onEvent("collection.created"), Pipeline: p})
	var h library.AssetHash
	for n := range 5 {
		h = e.asset(n)
	}
	e.log()
	list, err := e.store.Events.After(t.Context(), e.admin, 0, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var processes sync.WaitGroup
	for range 3 { // which get the same events at the same time
		rules := e.process()
		processes.Go(func() {
			for _, x := range list {
				if err := rules.Handle(t.Context(), x); err != nil {
					t.Error(err)
				}
			}
		})
	}
	processes.Wait()
	e.work()
	e.events(2)
	if got := e.states(one); len(got) != 5 || slices.ContainsFunc(got, func(s string) bool { return s != library.FiringDone }) {
		t.Errorf("5 assets: %v", got)
	}
	if n := e.count(`SELECT count(*) FROM assets WHERE metadata ->> 'marks' = '1'`); n != 5 {
		t.Errorf("%d of 5 assets were marked once", n)
	}
	if got := len(e.states(all)); got != 10 { // created, and updated by the other rule
		t.Errorf("a rule for all of assets fired %d times, want 10", got)
	}
	if got := e.states(other); len(got) != 0 {
		t.Errorf("a rule for other events fired: %v", got)
	}
	byHand, err := e.rules.Trigger(t.Context(), e.admin.Tenant, library.TriggerEvent, "collection.created", map[string]any{"noun": "asset", "id": h})
	if err != nil || len(byHand) != 1 || byHand[0].Rule.ID != other.ID || byHand[0].Run.State != library.FiringRunning {
		t.Errorf("an event that is made by hand: %+v %v", byHand, err)
	}
	run := e.runs(one)[0]
	if run.OperationID == "" || run.Changed != 1 || run.Reason["event_type"] != "asset.created" {
		t.Errorf("the log does not say why it fired, or what to undo: %+v", run)
	}
}

func TestRules_LimitsHoldPerHourPerDayAndAtOnce(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.pipeline("Look", `ids "{{vars.asset_ids}}" | count`)
	hour := e.rule(library.Rule{Name: "hour", Trigger: onEvent("asset.created"), Limit: library.RateLimit{PerHour: 2}})
	day := e.rule(library.Rule{Name: "day", Trigger: onEvent("asset.created"), Limit: library.RateLimit{PerDay: 3}})
	once := e.rule(library.Rule{Name: "once", Trigger: onEvent("asset.created"), Limit: library.RateLimit{Concurrent: 1}, Pipeline: p})
	begin, n := e.now(), 0
	fire := func(after time.Duration) {
		t.Helper()
		e.at(begin.Add(after))
		e.asset(n)
		n++
		e.log()
		list, err := e.store.Events.After(t.Context(), e.admin, e.handled, []string{"asset.created"}, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			if err := e.rules.Handle(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			e.handled = x.Position
		}
	}
	fire(0)
	fire(time.Minute) // the first run of "once" has not ended
	fire(2 * time.Minute)
	fire(3 * time.Minute)
	e.work()
	e.events(1) // the end of the run
	fire(61 * time.Minute)
	fire(25 * time.Hour)
	const done, limited = library.FiringDone, library.FiringRateLimited
	for _, c := range []struct {
		rule library.Rule
		want []string
	}{
		{hour, []string{done, done, limited, done, done}},
		{day, []string{done, done, done, limited, done}},
		{once, []string{done, limited, "running", limited}},
	} {
		if got := e.states(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.rule.Name, got, c.want)
		}
	}
	if run := e.runs(once)[1]; run.Times != 3 || run.Error == "" {
		t.Errorf("three firings above a limit are %d: %q", run.Times, run.Error)
	}
	e.log()
	if n := e.count(`SELECT count(*) FROM events WHERE type = 'rule.rate_limited'`); n != 4 {
		t.Errorf("%d events tell of limits, want one for each time that one was reached: 4", n)
	}
}

func TestRules_ThatLeadToEachOtherStop(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.pipeline("Count up", `ids "{{vars.asset_ids}}" | compute metadata.n "coalesce(metadata.n, 0) + 1"`)
	r := e.rule(library.Rule{Name: "again", Trigger: onEvent("asset.updated"), Pipeline: p})
	h := e.asset(1)
	e.change(h, func(a *library.Asset) { a.Title = "begin" })
	e.events(1)
	if got, want := e.states(r), []string{"done", "done", "done", library.FiringLoopStopped}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := e.count(`SELECT (metadata ->> 'n')::int FROM assets`); n != library.MaxCausationDepth {
		t.Errorf("the asset was changed %d times, want %d", n, library.MaxCausationDepth)
	}
	watch := e.rule(library.Rule{Name: "watch", Trigger: library.Trigger{Type: library.TriggerWatch, Query: "loop", IntervalMinutes: 1}, Pipeline: p})
	e.change(h, func(a *library.Asset) { a.Tags = []string{"loop"} })
	e.events(1)
	e.at(e.now().Add(time.Minute))
	e.due()
	if got, want := e.states(watch), []string{library.FiringLoopStopped}; !slices.Equal(got, want) {
		t.Errorf("a watch that the loop leads to: %v, want %v", got, want)
	}
	e.at(e.now().Add(time.Minute))
	if e.due(); len(e.states(watch)) != 1 {
		t.Errorf("it stops more than once: %v", e.states(watch))
	}
}

func TestRules_ARuleForAllEventsDoesNotFireItself(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.rule(library.Rule{Name: "all", Trigger: onEvent("*")})
	chained := e.rule(library.Rule{Name: "chained", Trigger: onEvent("rule.fired")})
	e.asset(1)
	e.events(1)
	if got := e.states(r); len(got) != 1 {
		t.Errorf("one event fired it %d times", len(got))
	}
	// The rule for rule.fired fires for the other rule, and for itself until it is stopped.
	if got := e.states(chained); len(got) != 3 || got[2] != library.FiringLoopStopped {
		t.Errorf("%v", got)
	}
}

func TestRules_ThatFailAgainAndAgainArePaused(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.pipeline("Delete", `ids "{{vars.asset_ids}}" | delete`) // lacks its confirmation
	failing := e.rule(library.Rule{Name: "failing", Trigger: onEvent("asset.created"), Pipeline: p})
	if err := e.rules.Check(t.Context(), e.admin, failing); err == nil {
		t.Error("it is not found out when the rule is made")
	}
	for n := range library.MaxRuleFailures + 2 {
		e.asset(n)
		e.events(1)
	}
	if got := e.states(failing); len(got) != library.MaxRuleFailures || got[0] != library.FiringFailed {
		t.Errorf("%v, want %d failures", got, library.MaxRuleFailures)
	}
	r, err := e.store.Rules.Get(t.Context(), e.admin.Tenant, failing.ID)
	if err != nil || r.Enabled || r.DisabledReason == "" {
		t.Errorf("it is not paused: %+v %v", r, err)
	}
	if n := e.count(`SELECT count(*) FROM events WHERE type = 'rule.paused'`); n != 1 {
		t.Errorf("%d events tell that it was paused", n)
	}
	// One that completes in between begins to count anew; a run that fails counts as well.
	runs := e.rule(library.Rule{Name: "runs", Trigger: onEvent("asset.created"), Pipeline: e.pipeline("Ends", `ids "{{vars.asset_ids}}" | count`)})
	for n, failed := range []bool{true, true, true, true, false, true, true, true, true} {
		e.asset(100 + n)
		e.log()
		list, err := e.store.Events.After(t.Context(), e.admin, e.handled, []string{"asset.created"}, 10)
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		e.handled = list[0].Position
		if err := e.rules.Handle(t.Context(), list[0]); err != nil {
			t.Fatal(err)
		}
		log := e.runs(runs)
		for range 2 { // the end is told twice
			if err := e.store.Rules.Ended(t.Context(), e.admin.Tenant, runs.ID, log[len(log)-1].RunID, failed, "RUN_TIMED_OUT"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r, err = e.store.Rules.Get(t.Context(), e.admin.Tenant, runs.ID); err != nil || !r.Enabled || r.Failures != 4 {
		t.Errorf("after 4 failures, an end and 4 failures: %+v %v", r, err)
	}
}

func TestRules_StopAtOnceWhenTheyAreDisabledOrDeletedAndBeginAnew(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.at(time.Now().Add(-7 * 24 * time.Hour)) // the time of the undo, a week later, is that of the database
	r := e.rule(library.Rule{Name: "daily", Trigger: library.Trigger{Type: library.TriggerSchedule, Cron: "0 9 * * *", Missed: "all"}})
	created := e.rule(library.Rule{Name: "created", Trigger: onEvent("asset.created")})
	e.asset(1)
	enable := func(r library.Rule, on bool) {
		t.Helper()
		if _, _, err := e.store.Rules.Change(t.Context(), e.admin, r.ID, nil, func(x *library.Rule) (anew bool, err error) {
			x.Enabled, x.Through = on, e.now()
			x.NextAt, err = automation.FirstLook(*x, e.now())
			return on, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	enable(r, false)
	enable(created, false)
	e.events(1) // the event of before comes after it was disabled
	e.at(e.now().Add(72 * time.Hour))
	e.due()
	enable(r, true)
	enable(created, true)
	e.due()
	e.handled = 0
	e.events(1) // what happened while it was disabled comes again
	if got, got2 := e.states(r), e.states(created); len(got)+len(got2) != 0 {
		t.Errorf("they fired while they were disabled: %v %v", got, got2)
	}
	e.at(e.now().Add(24 * time.Hour))
	if e.due(); len(e.states(r)) != 1 {
		t.Errorf("a day after it was enabled: %v", e.states(r))
	}
	operation, err := e.store.Rules.Delete(t.Context(), e.admin, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	e.at(e.now().Add(72 * time.Hour))
	e.due()
	if _, err := e.store.Operations.Undo(t.Context(), e.admin, operation, func(library.Operation) error { return nil }); err != nil {
		t.Fatal(err)
	}
	e.due()
	if got := e.states(r); len(got) != 1 {
		t.Errorf("it fired for times at which it was deleted: %v", got)
	}
}
