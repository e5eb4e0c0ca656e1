package search

import (
	"maps"
	"slices"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/query/run"
)

// maxWalks is how many walks a tenant may have under way. OpenSearch keeps 300
// points for everybody: without a limit, one tenant's forgotten walks would end
// those of all others.
const maxWalks = 60

// walks are those under way that this process has seen, by tenant and point, with
// the moment at which their point is forgotten. The zero value is empty.
type walks struct {
	mu   sync.Mutex
	open map[library.TenantID]map[string]time.Time
}

// room gives nil where a tenant may begin another walk, else the fault that says
// when it may.
func (w *walks) room(tenant library.TenantID, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := w.open[tenant]
	maps.DeleteFunc(open, func(_ string, until time.Time) bool { return until.Before(now) })
	if len(open) < maxWalks {
		return nil
	}
	first := slices.MinFunc(slices.Collect(maps.Values(open)), time.Time.Compare)
	f := library.NewFault(library.KindRateLimited, run.CodeTooManyWalks,
		"You have %d walks through results under way, and no more are allowed. Walk those that are begun to their end; one that is left alone ends by itself after three minutes. Pages by offset work meanwhile.", maxWalks)
	f.RetryAfter = max(time.Second, first.Sub(now))
	return f
}

// goesOn says that a walk is under way and its point was just read from.
func (w *walks) goesOn(tenant library.TenantID, point string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[library.TenantID]map[string]time.Time{}
	}
	if w.open[tenant] == nil {
		w.open[tenant] = map[string]time.Time{}
	}
	w.open[tenant][point] = now.Add(run.PointValid)
}

// ended says that the point of a walk was given back.
func (w *walks) ended(tenant library.TenantID, point string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open[tenant], point)
	if len(w.open[tenant]) == 0 {
		delete(w.open, tenant)
	}
}
