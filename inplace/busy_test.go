package inplace

import (
	"context"
	"testing"
	"time"
)

// TestBusy_WhoWaitsGoesOnWhenTheLastPassEnds and no sooner, unless its patience ends.
func TestBusy_WhoWaitsGoesOnWhenTheLastPassEnds(t *testing.T) {
	t.Parallel()
	var b busy
	b.await(t.Context(), time.Hour) // nothing is read: it returns at once
	first, second := b.begin(), b.begin()
	done := make(chan struct{})
	go func() { defer close(done); b.await(t.Context(), time.Hour) }()
	first()
	b.await(t.Context(), 20*time.Millisecond) // the second pass still reads
	select {
	case <-done:
		t.Fatal("it went on while a pass read files")
	default:
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	b.await(ended, time.Hour) // whose context has ended does not wait
	second()
	<-done
	third := b.begin() // and again
	defer third()
	if b.idle == nil {
		t.Error("nobody would wait for a pass that begins after all others have ended")
	}
}
