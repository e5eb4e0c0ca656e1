package inplace

import (
	"io/fs"
	"syscall"

	"vitrine/store"
)

// nonblock keeps the opening of a pipe from waiting for somebody who writes to it.
const nonblock = syscall.O_NONBLOCK

// stampOf returns what the file system says of a file.
func stampOf(info fs.FileInfo) store.FileStamp {
	s := store.FileStamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Changed, s.Inode, s.Device = sys.Ctim.Nano(), int64(sys.Ino), int64(sys.Dev)
	}
	return s
}
