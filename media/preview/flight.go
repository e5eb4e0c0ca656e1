package preview

import (
	"context"
	"sync"

	"vitrine/internal/panics"
)

// flights lets several callers wait for one making of the same thing. Unlike
// golang.org/x/sync/singleflight, a making is cancelled when all of them have left.
type flights struct {
	mu  sync.Mutex
	now map[string]*flight
}

type flight struct {
	callers int
	cancel  context.CancelFunc
	done    chan struct{}
	made    []byte
	err     error
}

// do returns what create returns, called once for all who ask at the same time.
func (f *flights) do(ctx context.Context, key string, create func(context.Context) ([]byte, error)) ([]byte, error) {
	f.mu.Lock()
	one, under := f.now[key]
	if !under {
		// One caller's leaving must not fail the others.
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		one = &flight{cancel: cancel, done: make(chan struct{})}
		if f.now == nil {
			f.now = map[string]*flight{}
		}
		f.now[key] = one
		go func() {
			one.err = panics.Try(func() (err error) { one.made, err = create(shared); return err })
			f.forget(key, one)
			cancel()
			close(one.done)
		}()
	}
	one.callers++
	f.mu.Unlock()

	select {
	case <-one.done:
		return one.made, one.err
	case <-ctx.Done():
		f.leave(key, one)
		return nil, ctx.Err()
	}
}

// leave cancels the making when nobody waits for it any longer. Who comes then
// starts another one.
func (f *flights) leave(key string, one *flight) {
	f.mu.Lock()
	one.callers--
	last := one.callers == 0
	if last && f.now[key] == one {
		delete(f.now, key)
	}
	f.mu.Unlock()
	if last {
		one.cancel()
	}
}

func (f *flights) forget(key string, one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now[key] == one {
		delete(f.now, key)
	}
}
