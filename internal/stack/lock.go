package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// fileLock is an advisory lock on a file, held by one process at a time and released by the kernel when that dies.
type fileLock struct{ file *os.File }

// acquire waits for the lock; waiting is called once when another process holds it.
func acquire(ctx context.Context, path string, waiting func()) (*fileLock, error) {
	for told := false; ; {
		lock, err := tryLock(path)
		if lock != nil || err != nil {
			return lock, err
		}
		if !told && waiting != nil {
			waiting()
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// tryLock returns nil, nil when another process holds the lock. Reset deletes the lock file together with its
// directory, so a lock only counts while the path still leads to the locked file.
func tryLock(path string) (*fileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of the lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, file.Close()
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	held, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if current, err := os.Stat(path); err != nil || !os.SameFile(held, current) {
		return nil, file.Close()
	}
	return &fileLock{file}, nil
}

func (l *fileLock) release() { l.file.Close() }
