package embed

import (
	"context"
	"sync"
	"time"
)

type backgroundKey struct{}

// Background returns a context for work that nobody waits for, such as the backfill
// of vectors: calls with it give way to others, which are those of searches.
func Background(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

func isBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }

// maxYield bounds how long one pass of background work gives way, so that searches
// without a pause slow it down and do not stop it.
const maxYield = 250 * time.Millisecond

// priority lets background work give way. The zero value is ready.
type priority struct {
	mu      sync.Mutex
	waiting int           // calls that go first, under way
	idle    chan struct{} // closed when there are none; nil while there are none
}

// enter records that a call which goes first has begun; leave ends it.
func (p *priority) enter() (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting++; p.waiting == 1 {
		p.idle = make(chan struct{})
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting--; p.waiting == 0 {
			close(p.idle)
			p.idle = nil
		}
	}
}

// yield waits until no call that goes first is under way, or for maxYield.
func (p *priority) yield(ctx context.Context) error {
	p.mu.Lock()
	idle := p.idle
	p.mu.Unlock()
	if idle == nil {
		return ctx.Err()
	}
	limit := time.NewTimer(maxYield)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
