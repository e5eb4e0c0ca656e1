package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// startToken names the moment a process started, so that a process number used again is not taken for the old process.
// A zombie counts as gone.
func startToken(pid int) (string, error) {
	state, _, started, err := readStat(pid)
	if err != nil {
		return "", err
	}
	if state == "Z" || state == "X" {
		return "", fmt.Errorf("process %d has ended", pid)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + started, nil
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
		if state, parent, _, err := readStat(pid); err == nil && state != "Z" {
			table[pid] = parent
		}
	}
	return table, nil
}

func isStopped(pid int) bool {
	state, _, _, err := readStat(pid)
	return err == nil && state == "T"
}

// readStat reads state, parent and start time (clock ticks since boot) from /proc/PID/stat, see proc_pid_stat(5). The
// second field is the program's name in parentheses and may itself hold spaces and parentheses.
func readStat(pid int) (state string, parent int, started string, err error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, "", err
	}
	return parseStat(string(content))
}

func parseStat(line string) (state string, parent int, started string, err error) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return "", 0, "", fmt.Errorf("not a process status line")
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, fields[19], err
}
