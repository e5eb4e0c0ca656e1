// Package testenv gives a test its own corner of the real servers: a fresh PostgreSQL database, a prefix for OpenSearch
// indices, a prefix for Kafka topics. Tests may run in parallel, in one process and in many, and never see each other.
//
// What comes in is the running stack: of the run directory named by VITRINE_TEST_STACK, else of this checkout (`.run`).
// When it does not run it is started, so that a plain `go test ./...` works on a fresh machine. What goes out are
// addresses and names; what a test made is removed when it ends, and what a killed test left behind is removed by the
// next run.
//
// It never replaces a server by something else and never skips a test because a server is missing: that test fails with
// one sentence saying what to install. The servers are shared, so a test that stops or freezes one must start its own
// stack with package stack.
package testenv

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vitrine/internal/stack"
)

// upTimeout bounds the start of the stack by a test: the downloads of a fresh machine on a slow line included, and below
// the ten minutes after which go test ends a package.
const upTimeout = 9 * time.Minute

// cleanupTimeout bounds what is done after a test ended.
const cleanupTimeout = 30 * time.Second

// Stack returns the addresses of the running servers, starting them when they do not run, and fails the test when that
// is not possible. The question is answered once per process.
func Stack(t testing.TB) stack.Endpoints {
	t.Helper()
	found, err := running()
	if err != nil {
		t.Fatalf("the servers for tests could not be started: %v", err)
	}
	return found
}

// StackConfig returns the configuration of the stack that tests share, for tests of package stack itself.
func StackConfig(t testing.TB) stack.Config {
	t.Helper()
	cfg, err := stackConfig()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

var running = sync.OnceValues(func() (stack.Endpoints, error) {
	cfg, err := stackConfig()
	if err != nil {
		return stack.Endpoints{}, err
	}
	if found, err := stack.Running(cfg.Dir); err == nil {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), upTimeout)
	defer cancel()
	return stack.Up(ctx, cfg, os.Stderr)
})

func stackConfig() (stack.Config, error) {
	root, err := moduleRoot()
	if err != nil {
		return stack.Config{}, err
	}
	cfg, err := stack.FromEnv(root)
	if dir := os.Getenv("VITRINE_TEST_STACK"); dir != "" {
		cfg.Dir = dir
	}
	return cfg, err
}

// ModuleRoot returns the directory of the checkout: the one that holds this module's go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module vitrine\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no directory above the test holds the go.mod of this module")
		}
		dir = filepath.Dir(dir)
	}
}

// Corpus returns the directory of the sample files, which are not part of the repository: `../shared/corpus` beside the
// checkout. Without it the test is skipped, since nobody outside can have these files.
func Corpus(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(ModuleRoot(t), "..", "shared", "corpus")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Skip("the corpus of sample files is not beside this checkout (../shared/corpus), so this test has nothing to read")
	}
	return dir
}

// Names made here carry the process that made them, so that what a killed process left can be told from what a running
// one uses. They are lower case and valid as index, topic and database names.
func newName() string {
	var random [4]byte
	rand.Read(random[:])
	return fmt.Sprintf("t%dx%s", os.Getpid(), hex.EncodeToString(random[:]))
}

var madeHere = regexp.MustCompile(`^t([0-9]+)x[0-9a-f]{8}`)

// abandoned reports whether a name was made by newName in a process that has ended.
func abandoned(name string) bool {
	parts := madeHere.FindStringSubmatch(name)
	if parts == nil {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && syscall.Kill(pid, 0) == syscall.ESRCH
}

// cleanupContext is a context for work after a test: t.Context has ended by then.
func cleanupContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), cleanupTimeout)
}
