package retry

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

func TestEvery_CallsUntilItIsStopped(t *testing.T) {
	var calls atomic.Int64
	third := make(chan struct{})
	stop := Every(t.Context(), time.Millisecond, func(ctx context.Context) {
		if calls.Add(1) == 3 {
			close(third)
			<-ctx.Done() // stop ends a call that is under way
		}
	})
	<-third
	stop()
	stop() // again does no harm
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls, the third of which went on until it was stopped", n)
	}
}

func TestEvery_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stop := Every(ctx, time.Nanosecond, func(context.Context) { t.Error("called after the end") })
	time.Sleep(5 * time.Millisecond)
	stop()
}
