//go:build !linux

package browser

import (
	"os/exec"
	"time"
)

// confine does nothing: namespaces are Linux's.
func confine(*exec.Cmd, bool) {}

// bound does nothing: a process can limit itself alone. The time of the clock is bounded everywhere.
func bound(int, time.Duration) error { return nil }

// end does nothing: the context of the command ends it.
func end(int) {}
