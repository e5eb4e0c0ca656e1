package testenv

import (
	"context"
	"os"
	"sync"
	"testing"

	"vitrine/internal/tools"
)

// Tool returns the path of a program, or of a folder of libraries, that the list in internal/tools names. It is
// installed into the cache when it is not there; a tool that cannot be installed fails the test.
func Tool(t testing.TB, name string) string {
	t.Helper()
	tool, ok := tools.Named(name)
	if !ok {
		t.Fatalf("internal/tools/list.go has no tool %q", name)
	}
	found, _ := installed.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		cfg, err := stackConfig()
		if err != nil {
			return "", err
		}
		ctx, cancel := context.WithTimeout(context.Background(), upTimeout)
		defer cancel()
		return tool.Path(ctx, cfg, os.Stderr)
	}))
	path, err := found.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var installed sync.Map // name → func() (string, error)
