package op

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/library"
)

// Budget is how many calls of one class a credential may make in a window.
type Budget struct {
	Calls  int
	Window time.Duration
}

// Budgets are the default rate limits.
var Budgets = map[RateClass]Budget{RateSearch: {Calls: 120, Window: time.Minute}}

// maxCallers bounds the memory of a Limiter: about a kilobyte each.
const maxCallers = 10_000

// RateState is where a credential stands in one budget, for the RateLimit
// headers.
type RateState struct {
	Class     RateClass
	Budget    Budget
	Remaining int           // calls left at this moment
	Reset     time.Duration // until the next call leaves the window
}

// Limiter counts calls per credential and class over a sliding window: no
// stretch of one window ever holds more calls than the budget. It counts in this
// process; the zero value is not usable, see NewLimiter.
type Limiter struct {
	budgets map[RateClass]Budget
	now     func() time.Time
	mu      sync.Mutex
	callers *lru.Cache[caller, *window]
}

type caller struct {
	who   string
	class RateClass
	calls int // of the budget: a changed one is counted anew
}

// window holds the times of the last calls, oldest at next once it is full.
type window struct {
	mu    sync.Mutex
	times []time.Time
	next  int
}

// NewLimiter makes a limiter for the given budgets; Budgets are the defaults.
func NewLimiter(budgets map[RateClass]Budget) *Limiter {
	callers, err := lru.New[caller, *window](maxCallers)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	return &Limiter{budgets: budgets, now: time.Now, callers: callers}
}

// Take counts one call of a credential. It gives nil when the class has no budget,
// and a RATE_LIMITED error beside the state when the budget is spent; a refused call
// does not count.
func (l *Limiter) Take(actor library.Actor, class RateClass) (*RateState, error) {
	b, limited := l.budgets[class]
	if !limited {
		return nil, nil
	}
	return l.take(caller{actor.ID, class, b.Calls}, b, "credential")
}

// TakeTenant is Take for all credentials of a tenant together, which may make this
// many calls a minute.
func (l *Limiter) TakeTenant(tenant library.TenantID, class RateClass, calls int64) (*RateState, error) {
	if calls < 0 {
		return nil, nil
	}
	b := Budget{Calls: int(calls), Window: time.Minute}
	return l.take(caller{"tenant " + string(tenant), class, b.Calls}, b, "tenant")
}

func (l *Limiter) take(c caller, b Budget, whose string) (*RateState, error) {
	w := l.windowOf(c, b)
	now := l.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	state := &RateState{Class: c.class, Budget: b}
	oldest := w.times[w.next]
	if !oldest.IsZero() && now.Sub(oldest) < b.Window {
		state.Reset = b.Window - now.Sub(oldest)
		libErr := library.NewError(library.KindRateLimited, library.CodeRateLimited,
			"More than %d calls of the kind %q by this %s in %s. Wait, then repeat the call.", b.Calls, c.class, whose, b.Window)
		libErr.RetryAfter = state.Reset
		return state, libErr
	}
	w.times[w.next] = now
	w.next = (w.next + 1) % b.Calls
	state.Remaining, state.Reset = w.remaining(now, b)
	return state, nil
}

func (l *Limiter) windowOf(c caller, b Budget) *window {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, ok := l.callers.Get(c)
	if !ok {
		w = &window{times: make([]time.Time, b.Calls)}
		l.callers.Add(c, w)
	}
	return w
}

// remaining counts the free places and says when the next one comes free.
func (w *window) remaining(now time.Time, b Budget) (free int, reset time.Duration) {
	for i := range w.times {
		t := w.times[(w.next+i)%b.Calls]
		if t.IsZero() || now.Sub(t) >= b.Window {
			free++
			continue
		}
		return free, b.Window - now.Sub(t) // times only grow from here on
	}
	return free, 0
}
