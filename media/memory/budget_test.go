package memory

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestBudget_WhatRunsAtOnceFitsIntoIt runs many decoders of random needs and watches
// what is in use.
func TestBudget_WhatRunsAtOnceFitsIntoIt(t *testing.T) {
	b := New(Config{Shared: 100, Single: 300, Parallel: 4})
	var used, alone, most atomic.Int64
	var all sync.WaitGroup
	for i := range 400 {
		need := int64(i*37%150 + 1)
		all.Go(func() {
			err := b.Use(t.Context(), need, func() error {
				now := used.Add(need)
				if need > 100 {
					if now != need {
						t.Errorf("one that needs %d runs beside others: %d", need, now)
					}
					alone.Add(1)
				} else if now > 100 {
					t.Errorf("%d of 100 are in use", now)
				}
				most.Store(max(most.Load(), now))
				time.Sleep(time.Millisecond)
				used.Add(-need)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if alone.Load() == 0 || most.Load() < 80 {
		t.Errorf("%d ran alone, %d were in use at most: nothing was tried", alone.Load(), most.Load())
	}
	if s := b.Stats(); s != (Stats{}) {
		t.Errorf("something is left: %+v", s)
	}
}

func TestBudget_NoMoreDecodersThanProcessors(t *testing.T) {
	b := New(Config{Shared: 1000, Parallel: 3})
	var now, most atomic.Int64
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			_ = b.Use(t.Context(), 1, func() error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(2 * time.Millisecond)
				now.Add(-1)
				return nil
			})
		})
	}
	all.Wait()
	if most.Load() > 3 {
		t.Errorf("%d decoded at once", most.Load())
	}
}

func TestBudget_WaitingEndsWithItsDeadlineAndWithItsCaller(t *testing.T) {
	b := New(Config{Shared: 10, Wait: 100 * time.Millisecond})
	hold, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- b.Use(t.Context(), 10, func() error { <-hold; return nil }) }()
	for b.Stats().Used == 0 {
		time.Sleep(time.Millisecond)
	}
	never := func() error { t.Error("it was decoded"); return nil }
	if err := b.Use(t.Context(), 1, never); !errors.Is(err, ErrBusy) {
		t.Errorf("after the deadline: %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, leave)
	if err := b.Use(ctx, 1, never); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller left: %v", err)
	}
	var large *TooLargeError
	if err := b.Use(t.Context(), DefaultSingle+1, never); !errors.As(err, &large) || large.Limit != DefaultSingle {
		t.Errorf("one that needs too much: %v", err)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if s := b.Stats(); s != (Stats{Busy: 1, TooLarge: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestBudget_TheQueueIsBounded(t *testing.T) {
	b := New(Config{Shared: 10, Wait: 5 * time.Second})
	hold := make(chan struct{})
	var all sync.WaitGroup
	var busy atomic.Int64
	for range maxWaiting + 50 {
		all.Go(func() {
			if errors.Is(b.Use(t.Context(), 10, func() error { <-hold; return nil }), ErrBusy) {
				busy.Add(1)
			}
		})
	}
	for b.Stats().Waiting < maxWaiting || busy.Load() < 49 {
		time.Sleep(time.Millisecond)
	}
	close(hold)
	all.Wait()
	if busy.Load() != 49 { // one decodes, maxWaiting wait
		t.Errorf("%d were refused at once", busy.Load())
	}
}

// TestLease_NeverWaitsForMore: two that each hold memory and wait for more would wait
// for each other.
func TestLease_NeverWaitsForMore(t *testing.T) {
	b := New(Config{Shared: 10, Wait: time.Second})
	l := b.Lease()
	if err := l.Acquire(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ran := false
	if err := l.Acquire(t.Context(), 10); err != nil {
		t.Error(err)
	}
	if err := l.Use(t.Context(), 10, func() error { ran = true; return nil }); err != nil || !ran {
		t.Errorf("%v, ran %v", err, ran)
	}
	if s := b.Stats(); s.Used != 10 {
		t.Errorf("%+v", s)
	}
	l.Release()
	l.Release()
	if s := b.Stats(); s.Used != 0 {
		t.Errorf("after the release: %+v", s)
	}
	var none *Lease
	if err := errors.Join(none.Acquire(t.Context(), 1<<60), none.Use(t.Context(), 1<<60, func() error { return nil })); err != nil {
		t.Error(err)
	}
	none.Release()
}
