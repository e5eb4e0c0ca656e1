package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A service in the background is known by two files below demoDir: its process
// id, and the address it listens on, which stays from run to run.
var (
	pidFile    = filepath.Join(demoDir, "serve.pid")
	listenFile = filepath.Join(demoDir, "serve.listen")
	logFile    = filepath.Join(demoDir, "serve.log")
)

// startService runs vitrine serve in the background, unless it runs already, with more
// variables in its environment, and
// gives its address once it is ready.
func startService(ctx context.Context, extra []string) (base string, err error) {
	if err := os.MkdirAll(demoDir, 0o700); err != nil {
		return "", err
	}
	listen, err := listenAddress()
	if err != nil {
		return "", err
	}
	base = "http://" + listen
	if _, alive := runningService(); alive && ready(ctx, base) == nil {
		return base, nil
	}
	if err := stopService(ctx); err != nil { // one that hangs, or of an older build
		return "", err
	}
	if err := launch(listen, extra); err != nil {
		return "", err
	}
	return base, awaitReady(ctx, base)
}

// listenAddress returns the address of the last time, the usual one when it is
// free, or else any that is.
func listenAddress() (string, error) {
	if kept, err := os.ReadFile(listenFile); err == nil {
		return strings.TrimSpace(string(kept)), nil
	}
	for _, address := range []string{defaultDemoListen, "127.0.0.1:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		address = l.Addr().String()
		if err := l.Close(); err != nil {
			return "", err
		}
		return address, os.WriteFile(listenFile, []byte(address+"\n"), 0o600)
	}
	return "", errors.New("no port of 127.0.0.1 is free")
}

func launch(listen string, extra []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(self, "serve", "--listen", listen)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), extra...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this command and its terminal
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// readyLimit is how long a service may take from its start to its first answer.
const readyLimit = 90 * time.Second

func awaitReady(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	for {
		err := ready(ctx, base)
		if err == nil {
			return nil
		}
		if _, alive := runningService(); !alive {
			return fmt.Errorf("the service failed to start; see %s", logFile)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the service is not ready after %s (%w); see %s", readyLimit, err, logFile)
		}
	}
}

// runningService finds the process of an earlier launch. A process of another
// program that got the same id is not it.
func runningService() (pid int, alive bool) {
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || syscall.Kill(pid, 0) != nil {
		return 0, false
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil { // no /proc on this system: believe the file
		return pid, true
	}
	return pid, strings.Contains(string(command), "serve")
}

// stopService asks the background service to finish, and ends it when it does not.
func stopService(ctx context.Context) error {
	pid, alive := runningService()
	if alive {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			return err
		}
	}
	for began := time.Now(); alive; _, alive = runningService() {
		if time.Since(began) > 15*time.Second {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
