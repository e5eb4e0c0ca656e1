package search

import (
	"fmt"
	"testing"
	"time"

	"vitrine/library"
)

func TestTheTenantWithTheMostWalksGivesUpTheOneThatRestedLongest(t *testing.T) {
	const modest, greedy = library.TenantID("modest"), library.TenantID("greedy")
	var w walks
	now := time.Now()
	begin := func(tenant library.TenantID, n int) {
		for i := range n {
			w.goesOn(tenant, fmt.Sprint(tenant, i), now.Add(time.Duration(i)*time.Second))
		}
	}
	begin(modest, fairWalks)
	if point, ok := w.giveUp(now); ok {
		t.Errorf("a tenant with its fair share gave up %s", point)
	}
	begin(greedy, fairWalks+3)
	w.goesOn(greedy, "greedy0", now.Add(time.Minute)) // is read on; greedy1 rests
	w.ended(greedy, "greedy2")
	for _, want := range []string{"greedy1", "greedy3"} {
		if point, _ := w.giveUp(now); point != want {
			t.Errorf("gave up %q instead of %q", point, want)
		}
	}
	if point, ok := w.giveUp(now); ok {
		t.Errorf("gave up %s though nobody has more than the fair share", point)
	}
	begin(greedy, 2*fairWalks)
	if point, ok := w.giveUp(now.Add(time.Hour)); ok || len(w.open) != 0 {
		t.Errorf("gave up %q of walks that have ended by themselves; left are %v", point, w.open)
	}
}
