package fetch

import (
	"errors"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/fetch/fetchtest"
)

const public = fetchtest.Public

// fetcherIn makes a fetcher that sees nothing but these servers.
func fetcherIn(t *testing.T, w *fetchtest.Web, allow ...string) *Fetcher {
	t.Helper()
	f, err := New(Config{Allow: allow, MaxBytes: 1 << 20, Port: w.Port, RootCAs: w.Roots, Resolver: w.Resolver, Reachable: fetchtest.Reachable()})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// codeOf returns the code of the error that fetching a URL ends in; "" where it succeeds.
func codeOf(t *testing.T, f *Fetcher, url string) string {
	t.Helper()
	_, err := read(t, f, url, 5*time.Second)
	return code(t, err)
}

func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var known *library.Error
	if !errors.As(err, &known) || known.Kind != library.KindUnprocessable {
		t.Fatalf("the error %v is none for users", err)
	}
	return known.Code
}
