package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/query/run"
)

// pitsPerTenant is how many cursors a tenant may keep open when the index keeps no more
// PITs. It keeps 300 for everybody: without this, one tenant that opens cursors
// and leaves them would keep all others from walking.
const pitsPerTenant = 20

// openPITs are those under way that this process has seen, by tenant and PIT, with
// the moment at which the PIT expires. The zero value is empty.
type openPITs struct {
	mu       sync.Mutex
	byTenant map[library.TenantID]map[string]time.Time
}

// touch records that a cursor is in use and its PIT was just read from.
func (w *openPITs) touch(tenant library.TenantID, pit string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byTenant == nil {
		w.byTenant = map[library.TenantID]map[string]time.Time{}
	}
	if w.byTenant[tenant] == nil {
		w.byTenant[tenant] = map[string]time.Time{}
	}
	w.byTenant[tenant][pit] = now.Add(run.PITKeepAlive)
}

// closed records that the PIT of a cursor is gone.
func (w *openPITs) closed(tenant library.TenantID, pit string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(tenant, pit)
}

func (w *openPITs) remove(tenant library.TenantID, pit string) {
	delete(w.byTenant[tenant], pit)
	if len(w.byTenant[tenant]) == 0 {
		delete(w.byTenant, tenant)
	}
}

// evict takes the cursor that was idle longest from the tenant that has the most, if
// that has more than its fair share.
func (w *openPITs) evict(now time.Time) (pit string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var most library.TenantID
	for tenant, open := range w.byTenant {
		for p, until := range open {
			if until.Before(now) {
				w.remove(tenant, p)
			}
		}
		if len(open) > max(pitsPerTenant, len(w.byTenant[most])) {
			most = tenant
		}
	}
	for p, until := range w.byTenant[most] {
		if pit == "" || until.Before(w.byTenant[most][pit]) {
			pit = p
		}
	}
	w.remove(most, pit)
	return pit, pit != ""
}

// openPIT opens a PIT for a cursor. When the index keeps no more, the tenant that
// has by far the most cursors loses one.
func (s *Service) openPIT(ctx context.Context, tenant library.TenantID) (string, error) {
	for {
		pit, err := s.Searcher.OpenPIT(ctx, tenant)
		var f *library.Error
		if !errors.As(err, &f) || f.Code != run.CodeTooManyCursors {
			return pit, err
		}
		victim, ok := s.openPITs.evict(time.Now())
		if !ok {
			return "", err
		}
		// One that another process has ended meanwhile is gone already: then the
		// next is asked for.
		if err := s.Searcher.ClosePIT(ctx, victim); err != nil {
			return "", err
		}
	}
}

// closePIT closes the PIT of a cursor.
func (s *Service) closePIT(ctx context.Context, tenant library.TenantID, pit string) error {
	s.openPITs.closed(tenant, pit)
	return s.Searcher.ClosePIT(ctx, pit)
}
