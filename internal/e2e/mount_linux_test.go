package e2e

import (
	"fmt"
	"syscall"
)

func mountSmall(dir string, size int) error {
	return syscall.Mount("vitrine-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size))
}

func unmountSmall(dir string) error { return syscall.Unmount(dir, syscall.MNT_DETACH) }
