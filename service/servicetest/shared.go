package servicetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"vitrine/library"
)

// Shared returns the one product that the tests of a package share, in a tenant that
// this test has for itself: what others store it does not see. The product starts with
// the first test that asks for it and ends with CloseShared. A test that changes the
// service's settings, looks at all tenants or counts what lies on disk starts its own.
func Shared(t testing.TB) *Env {
	t.Helper()
	base, err := shared()
	if err != nil {
		t.Fatalf("starting the product that tests share: %v", err)
	}
	e := *base
	e.T = t
	e.Tenant = e.NewTenant(t.Name())
	e.Key = e.NewKey(e.Tenant, library.Permissions...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the end of the log of the service, which other tests share:\n%s", e.Logs.Tail(8000))
		}
	})
	return &e
}

// CloseShared ends the shared product, if a test has started it. TestMain calls it
// after the tests; an error means that the product did not end well.
func CloseShared() error {
	return process.end()
}

var process processTB

var shared = sync.OnceValues(func() (e *Env, err error) {
	defer func() {
		if failed, ok := recover().(fatal); ok {
			err = errors.New(string(failed))
		}
	}()
	return Start(&process, Options{}), nil
})

// fatal ends what a processTB started.
type fatal string

// processTB stands in for a test in what lives as long as the process: its cleanups run
// when the process ends.
type processTB struct {
	testing.TB // for its unexported method
	mu         sync.Mutex
	cleanups   []func()
	errs       []error
}

func (p *processTB) Helper()                   {}
func (p *processTB) Name() string              { return "shared" }
func (p *processTB) Context() context.Context  { return context.Background() }
func (p *processTB) Log(args ...any)           { fmt.Fprintln(os.Stderr, args...) }
func (p *processTB) Logf(f string, a ...any)   { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (p *processTB) Error(args ...any)         { p.fail(fmt.Sprint(args...)) }
func (p *processTB) Errorf(f string, a ...any) { p.fail(fmt.Sprintf(f, a...)) }
func (p *processTB) Fatal(args ...any)         { panic(fatal(fmt.Sprint(args...))) }
func (p *processTB) Fatalf(f string, a ...any) { panic(fatal(fmt.Sprintf(f, a...))) }

func (p *processTB) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.errs) > 0
}

func (p *processTB) fail(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errs = append(p.errs, errors.New(what))
}

func (p *processTB) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

func (p *processTB) TempDir() string {
	dir, err := os.MkdirTemp("", "vitrine-shared-")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			p.Error(err)
		}
	})
	return dir
}

// end runs the cleanups, the last first.
func (p *processTB) end() error {
	for {
		p.mu.Lock()
		n := len(p.cleanups)
		if n == 0 {
			defer p.mu.Unlock()
			return errors.Join(p.errs...)
		}
		last := p.cleanups[n-1]
		p.cleanups = p.cleanups[:n-1]
		p.mu.Unlock()
		last()
	}
}
