package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// smallDiskVar makes this test binary put a small disk in the place of a folder, which
// only it and its children see, and run another program there: folder, size in bytes
// and program, one a line. No user needs to be root for that.
const smallDiskVar = "VITRINE_TEST_SMALL_DISK"

func init() {
	want := os.Getenv(smallDiskVar)
	if want == "" {
		return
	}
	parts := strings.Split(want, "\n")
	dir, size, program := parts[0], parts[1], parts[2]
	err := syscall.Mount("vitrine-test", dir, "tmpfs", 0, "size="+size)
	if err == nil {
		err = syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "running on a small disk:", err)
	os.Exit(3)
}

// onSmallDisk makes a command run with a small disk in the place of a folder.
func onSmallDisk(cmd *exec.Cmd, dir string, size int) {
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%s\n%d\n%s", smallDiskVar, dir, size, cmd.Path))
	cmd.Path = "/proc/self/exe"
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
}

// smallDisksWork reports whether onSmallDisk does what it promises here: containers and
// hardened systems forbid it.
func smallDisksWork(dir string) bool {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return false
	}
	cmd := exec.Command(sh, "-c", `test -z "$(ls "$0")"`, dir)
	onSmallDisk(cmd, dir, 1<<20)
	return cmd.Run() == nil
}

// seenBy returns a folder as a process sees it.
func seenBy(pid int, dir string) string { return fmt.Sprintf("/proc/%d/root%s", pid, dir) }
