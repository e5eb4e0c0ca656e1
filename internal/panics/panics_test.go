package panics_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"vitrine/internal/panics"
)

func TestTry_ReturnsTheErrorOfTheFunction(t *testing.T) {
	want := errors.New("no")
	if got := panics.Try(func() error { return want }); !errors.Is(got, want) {
		t.Errorf("got %v", got)
	}
	if got := panics.Try(func() error { return nil }); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestTry_ReturnsAPanicWithItsStack(t *testing.T) {
	at := 5
	err := panics.Try(func() error { _ = "abc"[at:]; return nil })
	var p *panics.Error
	var cause runtime.Error
	if !errors.As(err, &p) || !errors.As(err, &cause) || !strings.Contains(err.Error(), "TestTry_ReturnsAPanicWithItsStack") {
		t.Errorf("got %v", err)
	}
	if err := panics.Try(func() error { panic("plain") }); !strings.HasPrefix(err.Error(), "panic: plain\n") {
		t.Errorf("got %v", err)
	}
}
