// Package memory bounds the memory that decoding files takes in one process.
//
// A decoder says how many bytes it may need before it allocates them and waits
// until they are free. The bytes it needed count until they are garbage
// collected: memory that is merely unreachable is still memory of the process.
// The package knows nothing of what is decoded.
package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// The sizes of a Budget that says nothing else.
const (
	// DefaultShared is what all decoders of a process share, in bytes.
	DefaultShared = 160 << 20
	// DefaultSingle is the most that one decoder gets, alone, in bytes.
	DefaultSingle = 568 << 20
	// DefaultWait is how long a decoder waits for its turn.
	DefaultWait = 30 * time.Second
	// maxWaiting bounds the queue. A longer one could not be served within
	// DefaultWait anyway.
	maxWaiting = 1000
	// collectAfter is how much may become garbage before the collector is run. The
	// collector's own pace is set for a heap that is mostly small and long-lived.
	collectAfter = 32 << 20
)

// ErrBusy reports that memory did not become free in time.
var ErrBusy = errors.New("too much is being decoded right now")

// TooLargeError reports that one decoder needs more than any may have.
type TooLargeError struct{ Need, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("decoding takes %d MB, and at most %d MB are allowed", e.Need/1e6, e.Limit/1e6)
}

// Budget is the memory that all decoders of a process share. The zero value is
// not usable; see New. It is safe for concurrent use.
type Budget struct {
	shared, single, least int64
	wait                  time.Duration
	free                  *semaphore.Weighted

	used, waiting, garbage atomic.Int64
	busy, tooLarge         atomic.Int64
}

// Config sizes a Budget. The zero value is useful.
type Config struct {
	Shared   int64         // bytes that decoders share; 0 means DefaultShared
	Single   int64         // bytes that one decoder may need at most; 0 means DefaultSingle
	Parallel int           // decoders that run at once at most; 0 means one per processor
	Wait     time.Duration // how long a decoder waits for its turn; 0 means DefaultWait
}

// New returns a budget of which nothing is used.
func New(cfg Config) *Budget {
	if cfg.Shared <= 0 {
		cfg.Shared = DefaultShared
	}
	if cfg.Single <= 0 {
		cfg.Single = DefaultSingle
	}
	if cfg.Parallel <= 0 {
		cfg.Parallel = runtime.GOMAXPROCS(0)
	}
	if cfg.Wait <= 0 {
		cfg.Wait = DefaultWait
	}
	return &Budget{shared: cfg.Shared, single: max(cfg.Single, cfg.Shared), wait: cfg.Wait,
		least: max(1, cfg.Shared/int64(cfg.Parallel)), free: semaphore.NewWeighted(cfg.Shared)}
}

// Use runs decode while need bytes are set aside for it. Decode must not need
// more, and what it returns through its closure should be small, because the
// bytes count as free when it has ended.
//
// A need above what decoders share runs alone. A need above Config.Single is a
// *TooLargeError and decode is not called. Who does not get its turn within
// Config.Wait gets ErrBusy, and who gives up waiting the error of its context.
func (b *Budget) Use(ctx context.Context, need int64, decode func() error) error {
	release, err := b.acquire(ctx, need)
	if err != nil {
		return err
	}
	defer release()
	return decode()
}

// acquire sets need bytes aside until release is called.
func (b *Budget) acquire(ctx context.Context, need int64) (release func(), err error) {
	if need > b.single {
		b.tooLarge.Add(1)
		return nil, &TooLargeError{Need: need, Limit: b.single}
	}
	// Every decoder takes a share at least: more of them than processors would only
	// take each other's time.
	share := min(max(need, b.least), b.shared)
	if err := b.await(ctx, share); err != nil {
		return nil, err
	}
	b.used.Add(need)
	return func() {
		b.used.Add(-need)
		b.collect(need)
		b.free.Release(share)
	}, nil
}

func (b *Budget) await(ctx context.Context, share int64) error {
	if b.free.TryAcquire(share) {
		return nil
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > maxWaiting {
		b.busy.Add(1)
		return ErrBusy
	}
	bounded, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	if b.free.Acquire(bounded, share) == nil {
		return nil
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	b.busy.Add(1)
	return ErrBusy
}

// collect runs the collector before so much garbage is about that it counts. What
// one large decoder needed goes back to the system at once.
func (b *Budget) collect(bytes int64) {
	garbage := b.garbage.Add(bytes)
	if garbage < collectAfter || !b.garbage.CompareAndSwap(garbage, 0) {
		return
	}
	if bytes > b.shared {
		debug.FreeOSMemory()
		return
	}
	runtime.GC()
}

// Stats is the state of a Budget.
type Stats struct {
	Used     int64 // bytes set aside now
	Waiting  int64 // decoders that wait for their turn
	Busy     int64 // decoders that were refused because they waited too long, so far
	TooLarge int64 // decoders that were refused because they need too much, so far
}

// Stats returns the current state.
func (b *Budget) Stats() Stats {
	return Stats{Used: b.used.Load(), Waiting: b.waiting.Load(), Busy: b.busy.Load(), TooLarge: b.tooLarge.Load()}
}
