package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/query/run"
)

// fairWalks is how many walks a tenant may keep when the index keeps no more
// points. It keeps 300 for everybody: without this, one tenant that begins walks
// and leaves them would keep all others from walking.
const fairWalks = 20

// walks are those under way that this process has seen, by tenant and point, with
// the moment at which their point is forgotten. The zero value is empty.
type walks struct {
	mu   sync.Mutex
	open map[library.TenantID]map[string]time.Time
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

// ended says that the point of a walk is gone.
func (w *walks) ended(tenant library.TenantID, point string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(tenant, point)
}

func (w *walks) remove(tenant library.TenantID, point string) {
	delete(w.open[tenant], point)
	if len(w.open[tenant]) == 0 {
		delete(w.open, tenant)
	}
}

// giveUp takes the walk that rested longest from the tenant that has the most, if
// that has more than its fair share.
func (w *walks) giveUp(now time.Time) (point string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var most library.TenantID
	for tenant, open := range w.open {
		for p, until := range open {
			if until.Before(now) {
				w.remove(tenant, p)
			}
		}
		if len(open) > max(fairWalks, len(w.open[most])) {
			most = tenant
		}
	}
	for p, until := range w.open[most] {
		if point == "" || until.Before(w.open[most][point]) {
			point = p
		}
	}
	w.remove(most, point)
	return point, point != ""
}

// begin opens a point for a walk. When the index keeps no more, the tenant that
// has by far the most walks loses one.
func (s *Service) begin(ctx context.Context, tenant library.TenantID) (string, error) {
	for {
		point, err := s.Searcher.OpenPoint(ctx, tenant)
		var f *library.Error
		if !errors.As(err, &f) || f.Code != run.CodeTooManyWalks {
			return point, err
		}
		victim, ok := s.walks.giveUp(time.Now())
		if !ok {
			return "", err
		}
		// One that another process has ended meanwhile is gone already: then the
		// next is asked for.
		if err := s.Searcher.ClosePoint(ctx, victim); err != nil {
			return "", err
		}
	}
}

// end gives the point of a walk back.
func (s *Service) end(ctx context.Context, tenant library.TenantID, point string) error {
	s.walks.ended(tenant, point)
	return s.Searcher.ClosePoint(ctx, point)
}
