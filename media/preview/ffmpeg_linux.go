package preview

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// confine has a command run in a network namespace of its own, which holds no network.
func confine(cmd *exec.Cmd, isolated bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if isolated {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
}

// limit bounds what a process that runs may take: memory, processor time, and no file may be written.
func limit(pid int) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_DATA: ffmpegMemory, unix.RLIMIT_CPU: uint64(ffmpegTime / time.Second), unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0} {
		err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
		if err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
			return err
		}
	}
	return nil
}
