package stack

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// sleeper starts a process that stays until killed, and returns it as a pid file would remember it.
func sleeper(t *testing.T) (process, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	token, err := startToken(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return process{PID: cmd.Process.Pid, Started: token}, cmd
}

func TestProcess_IsAliveOnlyAsItself(t *testing.T) {
	p, cmd := sleeper(t)
	if !p.alive() {
		t.Fatal("a running process is not alive")
	}
	if (process{PID: p.PID, Started: "another boot/1"}).alive() {
		t.Error("a process number used again is taken for the old process")
	}
	if (process{}).alive() || (process{PID: -1}).alive() {
		t.Error("no process is taken for one")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); p.alive(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a killed process stays alive, though only a zombie is left of it")
		}
	}
}

func TestProcess_ThePidFileOfACopiedRunDirectoryDoesNotCount(t *testing.T) {
	p, _ := sleeper(t)
	in := &instance{cfg: Config{Dir: t.TempDir()}}
	if err := os.MkdirAll(filepath.Join(in.cfg.Dir, "pids"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Dir = in.cfg.Dir
	if err := writeJSON(in.pidPath(Kafka), p); err != nil {
		t.Fatal(err)
	}
	if !in.process(&kafka{in}).alive() {
		t.Fatal("the process of this run directory does not count")
	}
	p.Dir = "/another/checkout/.run"
	if err := writeJSON(in.pidPath(Kafka), p); err != nil {
		t.Fatal(err)
	}
	if in.process(&kafka{in}).alive() {
		t.Error("the process of another run directory counts")
	}
}

func TestProcess_DescendantsAreFoundOverTwoGenerations(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'sleep 60 & wait' & wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = signalTree(cmd.Process.Pid, 9); _ = cmd.Wait() })
	for end := time.Now().Add(5 * time.Second); len(descendants(cmd.Process.Pid)) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("found %d descendants, want the inner shell and its sleep", len(descendants(cmd.Process.Pid)))
		}
	}
}

func TestProcess_ALockIsHeldByOneAndFollowsItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	path := filepath.Join(dir, "lock")
	first, err := acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	waited := false
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := acquire(short, path, func() { waited = true }); !errors.Is(err, context.DeadlineExceeded) || !waited {
		t.Fatalf("a second holder got %v, waiting told: %v", err, waited)
	}
	// Reset removes the directory while others wait: who comes next must not share the lock with nobody.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	second, err := acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	first.release()
	short, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := acquire(short, path, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the lock of the new directory is held twice: %v", err)
	}
	second.release()
}
