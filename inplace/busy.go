package inplace

import (
	"context"
	"sync"
	"time"
)

// busy counts the passes that read files, for those who wait until none does.
type busy struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n falls to zero; nil while it is
}

// begin counts a pass until the function that it returns is called.
func (b *busy) begin() (end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n++; b.idle == nil {
		b.idle = make(chan struct{})
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.n--; b.n == 0 {
			close(b.idle)
			b.idle = nil
		}
	}
}

// await waits until no pass reads files, for at most a time.
func (b *busy) await(ctx context.Context, atMost time.Duration) {
	b.mu.Lock()
	idle := b.idle
	b.mu.Unlock()
	if idle == nil {
		return
	}
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// AwaitRead waits until no import of this process reads files, for at most a time. Work that
// can wait calls it so that imports have the processors.
func (e *Engine) AwaitRead(ctx context.Context, atMost time.Duration) { e.busy.await(ctx, atMost) }
