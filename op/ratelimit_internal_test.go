package op

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/library"
)

func TestRatelimit_The121stSearchOfAMinuteIsRefusedAndTheBudgetComesBack(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l := NewLimiter(Budgets)
	l.now = func() time.Time { return now }
	one, two := library.Actor{ID: "one"}, library.Actor{ID: "two"}
	for i := range 120 {
		state, err := l.Take(one, RateSearch)
		if err != nil || state.Remaining != 119-i {
			t.Fatalf("call %d: %+v %v", i+1, state, err)
		}
		now = now.Add(100 * time.Millisecond)
	}
	state, err := l.Take(one, RateSearch)
	if f := library.AsError(err); err == nil || f.Code != library.CodeRateLimited || f.RetryAfter != 48*time.Second || state.Remaining != 0 {
		t.Fatalf("the 121st: %+v %+v", state, err)
	}
	if _, err := l.Take(two, RateSearch); err != nil {
		t.Errorf("another key is held back: %v", err)
	}
	if state, err := l.Take(one, ""); state != nil || err != nil {
		t.Errorf("a class without a budget is limited: %+v %v", state, err)
	}
	now = now.Add(48 * time.Second)
	if state, err := l.Take(one, RateSearch); err != nil || state.Remaining != 0 {
		t.Errorf("when the first call left the window: %+v %v", state, err)
	}
	if _, err := l.Take(one, RateSearch); err == nil {
		t.Error("one place was free, two calls passed")
	}
}

func TestRatelimit_NoStretchOfAWindowHoldsMoreCallsThanTheBudget(t *testing.T) {
	randtest.Check(t, func(rt *rapid.T) {
		budget := Budget{Calls: rapid.IntRange(1, 6).Draw(rt, "calls"), Window: time.Second}
		now := time.Unix(0, 0)
		l := NewLimiter(map[RateClass]Budget{"x": budget})
		l.now = func() time.Time { return now }
		var passed []time.Time
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 700), 1, 40).Draw(rt, "ms") {
			now = now.Add(time.Duration(step) * time.Millisecond)
			inWindow := 0
			for _, p := range passed {
				if now.Sub(p) < budget.Window {
					inWindow++
				}
			}
			state, err := l.Take(library.Actor{ID: "a"}, "x")
			if (err == nil) != (inWindow < budget.Calls) {
				rt.Fatalf("%d of %d calls in the window, refused: %v", inWindow, budget.Calls, err != nil)
			}
			if err == nil {
				passed = append(passed, now)
				if want := budget.Calls - inWindow - 1; state.Remaining != want {
					rt.Fatalf("remaining %d, want %d", state.Remaining, want)
				}
			}
		}
	})
}
