//go:build !linux

package stack

import (
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"
)

// startToken names the moment a process started, so that a process number used again is not taken for the old process.
// A zombie counts as gone.
func startToken(pid int) (string, error) {
	said, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", err
	}
	state, started, ok := strings.Cut(strings.TrimSpace(string(said)), " ")
	if !ok || strings.HasPrefix(state, "Z") {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	return strings.TrimSpace(started), nil
}

// parents maps every process to its parent.
func parents() (map[int]int, error) {
	said, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes with ps: %w", err)
	}
	table := map[int]int{}
	for line := range strings.Lines(string(said)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err == nil {
			table[pid] = parent
		}
	}
	return table, nil
}

// runsProgram reports whether a live process has that program name.
func runsProgram(pid int, program string) bool {
	if _, err := startToken(pid); err != nil {
		return false
	}
	said, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && path.Base(strings.TrimSpace(string(said))) == program
}

func isStopped(pid int) bool {
	said, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(said)), "T")
}
