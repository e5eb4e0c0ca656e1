package indexer

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff waits longer after every failure, with jitter so that replicas which
// failed together do not come back together.
type backoff struct {
	first, max time.Duration
	next       time.Duration
}

// outageBackoff is the backoff for a server that does not answer. Its longest wait
// bounds how long after the server's return work goes on.
func outageBackoff() *backoff { return &backoff{first: 100 * time.Millisecond, max: 5 * time.Second} }

// wait blocks for the next pause, or less when ctx ends, which it reports.
func (b *backoff) wait(ctx context.Context) error {
	return sleep(ctx, b.pause())
}

// pause gives the next pause.
func (b *backoff) pause() time.Duration {
	b.next = min(max(b.first, 2*b.next), b.max)
	return b.next/2 + rand.N(b.next/2+1)
}

func (b *backoff) reset() { b.next = 0 }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// retryUntilDone repeats do until it succeeds or ctx ends, whose error it returns then.
// Each failure is told to failed.
func retryUntilDone(ctx context.Context, do func(context.Context) error, failed func(error)) error {
	b := outageBackoff()
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed(err)
		if err := b.wait(ctx); err != nil {
			return err
		}
	}
}
