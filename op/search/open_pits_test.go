package search

import (
	"fmt"
	"testing"
	"time"

	"vitrine/library"
)

func TestOpenPits_TheTenantWithTheMostWalksGivesUpTheOneThatRestedLongest(t *testing.T) {
	t.Parallel()
	const modest, greedy = library.TenantID("modest"), library.TenantID("greedy")
	var w openPITs
	now := time.Now()
	begin := func(tenant library.TenantID, n int) {
		for i := range n {
			w.touch(tenant, fmt.Sprint(tenant, i), now.Add(time.Duration(i)*time.Second))
		}
	}
	begin(modest, pitsPerTenant)
	if pit, ok := w.evict(now); ok {
		t.Errorf("a tenant with its fair share gave up %s", pit)
	}
	begin(greedy, pitsPerTenant+3)
	w.touch(greedy, "greedy0", now.Add(time.Minute)) // is read on; greedy1 rests
	w.closed(greedy, "greedy2")
	for _, want := range []string{"greedy1", "greedy3"} {
		if pit, _ := w.evict(now); pit != want {
			t.Errorf("gave up %q instead of %q", pit, want)
		}
	}
	if pit, ok := w.evict(now); ok {
		t.Errorf("gave up %s though nobody has more than the fair share", pit)
	}
	begin(greedy, 2*pitsPerTenant)
	if pit, ok := w.evict(now.Add(time.Hour)); ok || len(w.byTenant) != 0 {
		t.Errorf("gave up %q of walks that have ended by themselves; left are %v", pit, w.byTenant)
	}
}
