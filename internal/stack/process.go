package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// stopGrace is how long a server may take to finish its work before it is killed.
const stopGrace = 30 * time.Second

// process is a server process as its pid file remembers it. The number alone could since belong to another program, and
// the whole run directory could be a copy of that of another checkout, whose servers are not ours.
type process struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
	Dir     string `json:"dir"`
}

// alive reports whether this very process still runs.
func (p process) alive() bool {
	if p.PID <= 0 {
		return false
	}
	p.reap()
	token, err := startToken(p.PID)
	return err == nil && token == p.Started
}

// reap takes the exit status of a server this very process started, so that it does not stay behind as a zombie. For
// all others the kernel says no such child, which is fine.
func (p process) reap() {
	var status syscall.WaitStatus
	_, _ = syscall.Wait4(p.PID, &status, syscall.WNOHANG, nil)
}

func (in *instance) pidPath(name string) string {
	return filepath.Join(in.cfg.Dir, "pids", name+".json")
}

// process returns what the pid file remembers; the zero process, which is never alive, when there is none of ours.
func (in *instance) process(s server) process {
	var p process
	content, err := os.ReadFile(in.pidPath(s.name()))
	if err != nil || json.Unmarshal(content, &p) != nil || p.Dir != in.cfg.Dir {
		return process{}
	}
	return p
}

// launch starts the server detached in its own session, with its output appended to its log, and remembers it.
func (in *instance) launch(s server) error {
	log, err := in.openLog(s.name())
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := s.command()
	if cmd.Dir == "" {
		cmd.Dir = in.serverDir(s.name())
	}
	cmd.Env = append(in.environment(s.name()), cmd.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in.id.apply(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	_ = cmd.Process.Release()
	token, err := startToken(pid)
	if err != nil {
		return fmt.Errorf("it ended at once; the end of its log says:\n%s", in.logTail(s.name(), 15))
	}
	return writeJSON(in.pidPath(s.name()), process{PID: pid, Started: token, Dir: in.cfg.Dir})
}

// run runs a helper program of a server to its end as the service user.
func (in *instance) run(ctx context.Context, s server, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = in.serverDir(s.name())
	cmd.Env = in.environment(s.name())
	in.id.apply(cmd)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w; it said:\n%s", filepath.Base(program), err, lastLines(string(said), 15))
	}
	return nil
}

// environment is all a server gets from the caller's environment: too much in it (JAVA_TOOL_OPTIONS, PGDATA, LC_ALL)
// would change how a server behaves from one machine to the next.
func (in *instance) environment(name string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + in.serverDir(name),
		"TMPDIR=" + in.tmpDir(name),
		"LC_ALL=C",
		"TZ=UTC",
	}
}

func (in *instance) stop(ctx context.Context, s server) error {
	p := in.process(s)
	if !p.alive() {
		return in.forget(s)
	}
	in.say("stopping %s", s.title())
	tree := descendants(p.PID)
	// A paused server would not see the signal.
	_ = signalTree(p.PID, syscall.SIGCONT)
	if err := syscall.Kill(p.PID, s.stopSignal()); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", s.title(), err)
	}
	if waitGone(ctx, p, tree, stopGrace) {
		return in.forget(s)
	}
	in.say("%s did not stop within %s and is killed", s.title(), stopGrace)
	return in.kill(ctx, s)
}

func (in *instance) kill(ctx context.Context, s server) error {
	p := in.process(s)
	if !p.alive() {
		return in.forget(s)
	}
	tree := descendants(p.PID)
	if err := signalTree(p.PID, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", s.title(), err)
	}
	if !waitGone(ctx, p, tree, stopGrace) {
		return fmt.Errorf("kill %s: process %d is still there after %s", s.title(), p.PID, stopGrace)
	}
	return in.forget(s)
}

// pause returns once the process has stopped: the kernel delivers the signal when it next runs the process.
func (in *instance) pause(ctx context.Context, s server) error {
	if err := in.signalRunning(s, syscall.SIGSTOP); err != nil {
		return err
	}
	p := in.process(s)
	for end := time.Now().Add(stopGrace); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		if isStopped(p.PID) {
			return nil
		}
	}
	return fmt.Errorf("pause %s: process %d still runs", s.title(), p.PID)
}

func (in *instance) resume(s server) error {
	return in.signalRunning(s, syscall.SIGCONT)
}

func (in *instance) signalRunning(s server, sig syscall.Signal) error {
	p := in.process(s)
	if !p.alive() {
		return fmt.Errorf("%s does not run", s.title())
	}
	return signalTree(p.PID, sig)
}

func (in *instance) forget(s server) error {
	if err := os.Remove(in.pidPath(s.name())); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// waitGone waits until the process and all it had started (its tree) are gone: a child of PostgreSQL that lingers keeps the
// shared memory, and the next start would fail.
func waitGone(ctx context.Context, p process, tree []int, limit time.Duration) bool {
	for end := time.Now().Add(limit); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if !p.alive() && !anyAlive(tree) {
			return true
		}
	}
	return false
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		if _, err := startToken(pid); err == nil {
			return true
		}
	}
	return false
}

// signalTree signals the process first, so that it cannot start new children, and then all it had started.
func signalTree(pid int, sig syscall.Signal) error {
	children := descendants(pid)
	err := syscall.Kill(pid, sig)
	for _, child := range children {
		_ = syscall.Kill(child, sig)
	}
	return err
}

// descendants lists the children of a process and theirs. PostgreSQL's children leave its process group, so signalling
// the group would miss them.
func descendants(pid int) []int {
	table, err := parents()
	if err != nil {
		return nil
	}
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		for child, parent := range table {
			if parent == found[i] {
				found = append(found, child)
			}
		}
	}
	return found[1:]
}
