package stack

import (
	"context"
	"io"
)

// CacheDir returns the cache that all checkouts share, made when it is not there.
func CacheDir(cfg Config) (string, error) {
	in, err := openCache(cfg, io.Discard)
	if err != nil {
		return "", err
	}
	return in.cfg.CacheDir, nil
}

// Lock takes an advisory lock on a file, which one process holds at a time and the kernel releases when it dies. waiting
// is called once when another process holds it; it may be nil.
func Lock(ctx context.Context, path string, waiting func()) (release func(), err error) {
	lock, err := acquire(ctx, path, waiting)
	if err != nil {
		return nil, err
	}
	return lock.release, nil
}
