package embed

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPriority_BackgroundWorkGivesWayAndIsNotStopped(t *testing.T) {
	t.Parallel()
	var p priority
	if err := p.yield(t.Context()); err != nil {
		t.Fatal(err)
	}
	leave, leaveSecond := p.enter(), p.enter()
	began := time.Now()
	if err := p.yield(t.Context()); err != nil || time.Since(began) < maxYield {
		t.Errorf("it gave way for %s: %v", time.Since(began), err)
	}
	ended := make(chan time.Duration)
	go func() {
		began := time.Now()
		_ = p.yield(context.WithoutCancel(t.Context()))
		ended <- time.Since(began)
	}()
	leave()
	leaveSecond()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits although nobody goes first")
	}
	defer p.enter()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.yield(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestBuiltin_AQueryOvertakesABackfill embeds a query while a large batch of the
// backfill runs: most of the batch comes after it.
func TestBuiltin_AQueryOvertakesABackfill(t *testing.T) {
	e := openModel(t, tinyModel(t))
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	leave := e.priority.enter() // a query that takes its time
	done := make(chan error, 1)
	go func() {
		_, err := e.Embed(Background(context.WithoutCancel(t.Context())), []string{"a red fox"})
		done <- err
	}()
	select {
	case <-done:
		t.Error("the backfill did not give way to a query")
	case <-time.After(maxYield / 2):
	}
	if _, err := e.Embed(t.Context(), []string{"a fox"}); err != nil { // another query does not wait
		t.Error(err)
	}
	leave()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
