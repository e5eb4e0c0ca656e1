package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// startToken names the moment a process started, so that a process number used again is not taken for the old process.
// A zombie counts as gone once it has no other threads: until then it still holds its files and ports.
func startToken(pid int) (string, error) {
	stat, err := readStat(pid)
	if err != nil {
		return "", err
	}
	if stat.ended() {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + stat.started, nil
}

// parents maps every process to its parent.
func parents() (map[int]int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	table := make(map[int]int, len(dirs))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if stat, err := readStat(pid); err == nil && !stat.ended() {
			table[pid] = stat.parent
		}
	}
	return table, nil
}

// runsProgram reports whether a live process has that program name.
func runsProgram(pid int, program string) bool {
	if _, err := startToken(pid); err != nil {
		return false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.TrimSpace(string(name)) == program
}

func isStopped(pid int) bool {
	stat, err := readStat(pid)
	return err == nil && stat.state == "T"
}

// procStat is what we need of /proc/PID/stat, see proc_pid_stat(5).
type procStat struct {
	state   string // one letter
	parent  int
	threads int
	started string // clock ticks since boot
}

func (s procStat) ended() bool {
	return s.state == "X" || s.state == "Z" && s.threads <= 1
}

func readStat(pid int) (procStat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(content))
}

// parseStat takes the fields after the second, which is the program's name in parentheses and may itself hold spaces and
// parentheses.
func parseStat(line string) (procStat, error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return procStat{}, fmt.Errorf("not a process status line")
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return procStat{}, err
	}
	threads, err := strconv.Atoi(fields[17])
	return procStat{state: fields[0], parent: parent, threads: threads, started: fields[19]}, err
}
