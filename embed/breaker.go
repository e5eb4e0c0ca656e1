package embed

import (
	"sync"
	"time"
)

// breaker gives a failing provider a rest, so that searches are answered at once
// without it instead of waiting for its timeout each time.
type breaker struct {
	mu       sync.Mutex
	failures int
	until    time.Time
}

// How many failures in a row open the breaker, and for how long: the first time,
// and at most after it has opened again and again.
const (
	breakAfter   = 3
	shortestRest = 5 * time.Second
	longestRest  = 2 * time.Minute
)

// allow reports whether a call may be tried, and else how long none may. Once a
// rest is over one call may try; the others wait for its outcome.
func (b *breaker) allow(now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return 0, true
	}
	if left := b.until.Sub(now); left > 0 {
		return left, false
	}
	b.until = now.Add(shortestRest)
	return 0, true
}

// record takes the outcome of a call that was allowed.
func (b *breaker) record(now time.Time, good bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if good {
		b.failures = 0
		return
	}
	b.failures++
	if over := b.failures - breakAfter; over >= 0 {
		b.until = now.Add(min(shortestRest<<min(over, 10), longestRest))
	}
}
