package testenv

import (
	"context"
	"io"
	"os"
	"sync"
	"testing"

	"vitrine/internal/stack"
)

// Model returns the folder of the sentence model, downloading it when no earlier run has.
func Model(t testing.TB) string {
	t.Helper()
	dir, err := model()
	if err != nil {
		t.Fatalf("the sentence model could not be fetched: %v", err)
	}
	return dir
}

// Runtime returns the path of ONNX Runtime's shared library, downloading it when no earlier run has.
func Runtime(t testing.TB) string {
	t.Helper()
	path, err := onnxRuntime()
	if err != nil {
		t.Fatalf("ONNX Runtime could not be fetched: %v", err)
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
