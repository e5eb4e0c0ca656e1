package preview

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestFlights_AMakingIsSharedAndEndsWhenAllHaveLeft(t *testing.T) {
	var f flights
	began, ended := make(chan struct{}), make(chan error, 1)
	calls := 0
	create := func(ctx context.Context) ([]byte, error) {
		calls++
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	left := make(chan error, 2)
	for _, ctx := range []context.Context{first, second} {
		go func() {
			_, err := f.do(ctx, "a", create)
			left <- err
		}()
	}
	<-began
	for callers := 0; callers < 2; time.Sleep(time.Millisecond) {
		f.mu.Lock()
		callers = f.now["a"].callers
		f.mu.Unlock()
	}
	leaveFirst()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who leaves gets %v", err)
	}
	select {
	case <-ended:
		t.Fatal("the making ended while somebody waited for it")
	case <-time.After(20 * time.Millisecond):
	}
	leaveSecond()
	if err := errors.Join(<-left, <-ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	got, err := f.do(t.Context(), "a", func(context.Context) ([]byte, error) { return []byte("anew"), nil })
	if string(got) != "anew" || err != nil || calls != 1 {
		t.Errorf("afterwards: %q %v, %d calls", got, err, calls)
	}
}
