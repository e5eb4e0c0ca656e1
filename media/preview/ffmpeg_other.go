//go:build !linux

package preview

import "os/exec"

// confine does nothing: namespaces are Linux's.
func confine(*exec.Cmd, bool) {}

// limit does nothing: a process can limit itself alone. The time of the clock is bounded everywhere.
func limit(int) error { return nil }
