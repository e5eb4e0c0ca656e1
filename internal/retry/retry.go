// Package retry repeats what fails while a server is away.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff waits longer after every failure, with jitter so that replicas which
// failed together do not come back together.
type Backoff struct {
	First, Max time.Duration
	next       time.Duration
}

// Outage returns the backoff for a server that does not answer. Its longest wait
// bounds how long after the server's return work goes on.
func Outage() *Backoff { return &Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second} }

// Wait blocks for the next pause, or less when ctx ends, which it reports.
func (b *Backoff) Wait(ctx context.Context) error {
	return Sleep(ctx, b.Pause())
}

// Pause returns the next pause.
func (b *Backoff) Pause() time.Duration {
	b.next = min(max(b.First, 2*b.next), b.Max)
	return b.next/2 + rand.N(b.next/2+1)
}

// Reset begins anew with the shortest pause: something succeeded.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits, or less when ctx ends, whose error it returns then.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// UntilDone repeats do until it succeeds or ctx ends, whose error it returns then.
// Each failure is told to failed.
func UntilDone(ctx context.Context, do func(context.Context) error, failed func(error)) error {
	b := Outage()
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed(err)
		if err := b.Wait(ctx); err != nil {
			return err
		}
	}
}
