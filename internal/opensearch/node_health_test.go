package opensearch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/library"
)

// moody is a node that can be made to hang, as a whole or for one path.
type moody struct {
	*httptest.Server
	hangs, slow atomic.Bool
	release     chan struct{}
}

func newMoody(t *testing.T) *moody {
	t.Helper()
	m := &moody{release: make(chan struct{})}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for m.hangs.Load() || m.slow.Load() && r.URL.Path != "/" {
			select {
			case <-r.Context().Done():
				return
			case <-m.release:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(m.Close)
	t.Cleanup(func() { close(m.release) })
	return m
}

func (m *moody) ask(t *testing.T) (time.Duration, error) {
	t.Helper()
	client, err := NewClientWithHealthCheck(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = Call(t.Context(), client, http.MethodGet, "/assets/_search", nil, nil)
	return time.Since(began), err
}

func TestNodeHealth_ARequestToANodeThatHangsEndsSoonAndFurtherOnesAtOnceUntilItAnswers(t *testing.T) {
	m := newMoody(t)
	client, err := NewClientWithHealthCheck(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	get := func() (time.Duration, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		err := Call(ctx, client, http.MethodGet, "/assets/_search", nil, nil)
		return time.Since(began), err
	}
	m.hangs.Store(true)
	took, err := get()
	if !errors.Is(err, errNodeHangs) || took > 10*time.Second {
		t.Fatalf("the first request ended after %s with %v", took, err)
	}
	var f *library.Error
	if !errors.As(Unavailable(err), &f) || f.Code != library.CodeIndexUnavailable || f.RetryAfter <= 0 {
		t.Errorf("its error is %v", Unavailable(err))
	}
	if took, err := get(); !errors.Is(err, errNodeHangs) || took > 250*time.Millisecond {
		t.Errorf("a further request ended after %s with %v", took, err)
	}
	m.hangs.Store(false)
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := get(); err == nil {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("the node answers again, and nobody noticed")
		}
	}
}

func TestNodeHealth_ASlowSearchOnAHealthyNodeIsWaitedFor(t *testing.T) {
	m := newMoody(t)
	m.slow.Store(true)
	time.AfterFunc(3*probeAfter, func() { m.slow.Store(false) })
	if took, err := m.ask(t); err != nil || took < 3*probeAfter {
		t.Errorf("the search ended after %s with %v", took, err)
	}
}

func TestNodeHealth_ANodeThatIsDownRefusesAndDoesNotHang(t *testing.T) {
	m := newMoody(t)
	m.Close()
	if took, err := m.ask(t); err == nil || errors.Is(err, errNodeHangs) || took > 5*time.Second {
		t.Errorf("a request to a port that nobody listens on ended after %s with %v", took, err)
	}
}

func TestNodeHealth_TheCallersOwnEndIsNotAnOutage(t *testing.T) {
	m := newMoody(t)
	m.hangs.Store(true)
	client, err := NewClientWithHealthCheck(m.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	err = Call(ctx, client, http.MethodGet, "/", nil, nil)
	if !errors.Is(err, context.Canceled) || !errors.Is(Unavailable(err), context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
