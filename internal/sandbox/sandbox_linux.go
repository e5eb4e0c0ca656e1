package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Confine has a command that has not started run in a process group of its own, which ends as a whole with
// the context of the command, and, if isolated, in a network namespace that holds no network. A kernel that
// forbids namespaces fails the start of an isolated command.
func Confine(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if isolated {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// Bound bounds what a running process may take. What it has allocated before counts too, so that
// nothing is missed by the limits coming a moment after its start. A process that has ended is no error.
func Bound(pid int, most Limits) error {
	for resource, value := range map[int]uint64{
		unix.RLIMIT_DATA: most.Memory, unix.RLIMIT_CPU: uint64(most.CPU / time.Second), unix.RLIMIT_FSIZE: most.FileSize, unix.RLIMIT_CORE: 0,
	} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// End ends all processes of the group of a confined command, also those that it has left behind.
func End(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
