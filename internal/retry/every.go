package retry

import (
	"context"
	"time"
)

// Every calls do in the background, each time after an interval, until stop is called or ctx ends.
// stop ends the context of a call that is under way and returns when that has ended. do must not
// call stop.
func Every(ctx context.Context, interval time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for Sleep(ctx, interval) == nil && ctx.Err() == nil { // both may be over when Sleep looks
			do(ctx)
		}
	}()
	return func() { cancel(); <-done }
}
