package automation_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/library"
)

func watch(query string) library.Trigger {
	return library.Trigger{Type: library.TriggerWatch, Query: query, IntervalMinutes: 1}
}

func tag(tags ...string) func(*library.Asset) {
	return func(a *library.Asset) { a.Tags = tags }
}

func TestWatch_FiresOncePerMatchAndNotForWhatMatchedBefore(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	old := e.asset(0, "fox")
	p := e.pipeline("Mark", `ids "{{vars.asset_ids}}" | compute metadata.marks "coalesce(metadata.marks, 0) + 1"`)
	r := e.rule(library.Rule{Name: "foxes", Trigger: watch("fox"), Pipeline: p})
	look := func() { t.Helper(); e.lookAtOnce(t) }
	look()
	if got := e.states(r); len(got) != 0 {
		t.Fatalf("it fired for what matched when it was made: %v", got)
	}
	fresh := e.asset(1, "fox")
	second := e.asset(2)
	look()
	e.change(second, tag("fox"))
	look()
	look()
	marks := func(h library.AssetHash) int {
		return e.count(`SELECT coalesce((metadata ->> 'marks')::int, 0) FROM assets WHERE asset_h = $1`, h)
	}
	if marks(old) != 0 || marks(fresh) != 1 || marks(second) != 1 {
		t.Errorf("marked %d, %d and %d times, want 0, 1 and 1: %v", marks(old), marks(fresh), marks(second), e.states(r))
	}
	e.change(fresh, tag())
	look()
	e.change(fresh, tag("fox"))
	look()
	if marks(fresh) != 2 {
		t.Errorf("what matches anew was marked %d times, want 2", marks(fresh))
	}
	e.lost[string(second)], e.lost[string(old)] = true, true // the index is being rebuilt
	look()
	clear(e.lost)
	look()
	if marks(second) != 1 || marks(old) != 0 {
		t.Errorf("what the index had lost fired again: %d, %d", marks(second), marks(old))
	}
	if _, err := e.store.Trash.Move(t.Context(), e.admin, []library.AssetHash{second}, true); err != nil {
		t.Fatal(err)
	}
	look()
	if n := e.count(`SELECT count(*) FROM rule_matches WHERE asset_h = $1`, second); n != 0 {
		t.Error("an asset in the trash still matches")
	}
}

// lookAtOnce lets the clock go on and has two processes and a call of TriggerRule look for new
// matches at once.
func (e *env) lookAtOnce(t *testing.T) {
	t.Helper()
	e.at(e.now().Add(time.Minute))
	var both sync.WaitGroup
	for range 2 {
		rules := e.process()
		both.Go(func() {
			if err := rules.RunDue(t.Context(), library.TriggerWatch); err != nil {
				t.Error(err)
			}
		})
	}
	both.Go(func() {
		if _, err := e.rules.Trigger(t.Context(), e.admin.Tenant, library.TriggerWatch, "", nil); err != nil {
			t.Error(err)
		}
	})
	both.Wait()
	e.due() // those that found others at it look again
	e.work()
}

func TestWatch_WhatALimitKeptFiresLater(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	r := e.rule(library.Rule{Name: "foxes", Trigger: watch("fox"), Limit: library.RateLimit{PerHour: 1}})
	e.asset(1, "fox")
	e.at(e.now().Add(time.Minute))
	e.due()
	e.asset(2, "fox")
	e.at(e.now().Add(time.Minute))
	e.due()
	e.at(e.now().Add(time.Hour))
	e.due()
	if got, want := e.states(r), []string{library.FiringDone, library.FiringRateLimited, library.FiringDone}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := e.count(`SELECT count(*) FROM rule_matches`); n != 2 {
		t.Errorf("%d assets fired, want 2", n)
	}
}

func TestWatch_ThatCouldNotLookWhenItWasMadeLearnsAtItsFirstLook(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.asset(1, "fox")
	r, _, err := e.store.Rules.Add(t.Context(), e.admin, library.Rule{Name: "foxes", Trigger: watch("fox"), Enabled: true, Through: e.now(), NextAt: new(e.now())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.due()
	e.asset(2, "fox")
	e.at(e.now().Add(time.Minute))
	e.due()
	if got := e.runs(r); len(got) != 1 || got[0].Reason["assets"] != float64(1) {
		t.Errorf("%+v", got)
	}
}

func TestSimulate_CountsWhatARuleThenDoes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	limit := library.RateLimit{PerHour: 3}
	acting := e.rule(library.Rule{Name: "acting", Trigger: onEvent("asset.tagged"), Limit: limit})
	h := e.asset(1)
	begin := e.now()
	for n := range 5 {
		e.change(h, tag("a", string(rune('b'+n))))
		e.events(1)
	}
	sim, err := e.rules.Simulate(t.Context(), e.admin, acting, begin.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	done, limited := 0, 0
	for _, x := range e.runs(acting) {
		if x.State == library.FiringDone {
			done++
		} else {
			limited += x.Times
		}
	}
	if int(sim.Fired) != done || int(sim.Limited) != limited || done != 3 || limited != 2 || len(sim.Sample) != 3 {
		t.Errorf("simulated %+v, it fired %d times and was limited %d times", sim, done, limited)
	}
	watching := library.Rule{Trigger: watch("f")}
	if sim, err = e.rules.Simulate(t.Context(), e.admin, watching, begin.Add(-time.Hour)); err != nil || sim.Fired != 1 || sim.Note == "" {
		t.Errorf("a watch: %+v %v", sim, err)
	}
	e.at(time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC))
	daily := library.Rule{Trigger: every("0 9 * * *", "UTC", "once")}
	if sim, err = e.rules.Simulate(t.Context(), e.admin, daily, e.now().Add(-48*time.Hour)); err != nil || sim.Fired != 2 {
		t.Errorf("a schedule: %+v %v", sim, err)
	}
	if n := e.count(`SELECT count(*) FROM rule_runs WHERE rule_id <> $1`, acting.ID); n != 0 {
		t.Errorf("a simulation left %d firings", n)
	}
}
