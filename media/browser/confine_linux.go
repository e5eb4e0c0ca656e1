package browser

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// confine has a command run in a process group and a network namespace of its own, which holds no network.
func confine(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if isolated {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// bound bounds what a process and those that it starts may take, each.
func bound(pid int, limit time.Duration) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: memoryLimit, unix.RLIMIT_CPU: uint64(limit/time.Second) + 1, unix.RLIMIT_FSIZE: outputLimit, unix.RLIMIT_CORE: 0} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			return err
		}
	}
	return nil
}

// end ends all processes of a group.
func end(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
