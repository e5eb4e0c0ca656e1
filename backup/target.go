package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"
)

// Target is a place that keeps backups under names such as "files/ab/abcd".
type Target interface {
	// Put keeps what r holds to its end, durably, in the place of what was there. When r
	// gives an error nothing is kept.
	Put(ctx context.Context, name string, r io.Reader) (size int64, err error)
	// Get opens what is kept under a name, or returns ErrMissing.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Size returns how many bytes are kept under a name, or ErrMissing.
	Size(ctx context.Context, name string) (int64, error)
	// List returns the last parts of the names directly below one, in no order.
	List(ctx context.Context, below string) ([]string, error)
	// Remove removes a name and all below it. What is not there is no error.
	Remove(ctx context.Context, name string) error
	// Lock keeps others from writing until unlock is called, or fails at once. The context that
	// it returns ends when the lock is lost.
	Lock(ctx context.Context) (held context.Context, unlock func(), err error)
	Close() error
}

// ErrBusy is returned by Lock while another holds it.
var ErrBusy = errors.New("another backup writes to it")

// ErrMissing is returned for a name under which nothing is kept.
var ErrMissing = errors.New("it is not in the backup")

// Dir keeps backups in a folder, readable by its owner only: they hold everything.
type Dir struct {
	root *os.Root
	path string
}

var _ Target = (*Dir)(nil)

// dirMark is the file that tells a folder of backups from any other folder.
const dirMark = "vitrine-backups"

const markText = "Backups of Vitrine, see vitrine backup --help\n"

// CreateDir opens a folder for backups and makes it if it is missing or empty. A folder that
// holds other things is refused.
func CreateDir(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for backups: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, dirMark)); errors.Is(err, fs.ErrNotExist) {
		for _, e := range entries {
			if e.Name() != "lost+found" {
				return nil, fmt.Errorf("%s holds files but no %s: it is no folder of backups; name another folder, or mount the right volume", dir, dirMark)
			}
		}
		d, err := openDir(dir)
		if err != nil {
			return nil, err
		}
		return d, d.write(dirMark, func(f *os.File) error {
			_, err := f.WriteString(markText)
			return err
		})
	}
	return openDir(dir)
}

// OpenDir opens a folder that holds backups.
func OpenDir(dir string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(dir, dirMark)); err != nil {
		return nil, fmt.Errorf("%s is no folder of backups: it has no %s", dir, dirMark)
	}
	return openDir(dir)
}

func openDir(dir string) (*Dir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root: root, path: dir}, nil
}

// Close implements Target.
func (d *Dir) Close() error { return d.root.Close() }

// Put implements Target: a temporary file, fsync, rename, fsync of the folder.
func (d *Dir) Put(ctx context.Context, name string, r io.Reader) (size int64, err error) {
	if err := d.makeDir(path.Dir(name)); err != nil {
		return 0, err
	}
	err = d.write(name, func(f *os.File) error {
		size, err = io.Copy(f, &interruptible{ctx, r})
		return err
	})
	return size, err
}

func (d *Dir) write(name string, fill func(*os.File) error) error {
	temp := name + "~" + uuid.NewString()
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		_ = d.root.Remove(temp)
		return err
	}
	return d.syncDir(path.Dir(name))
}

// Get implements Target.
func (d *Dir) Get(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, missing(err)
	}
	return f, nil
}

// Size implements Target.
func (d *Dir) Size(_ context.Context, name string) (int64, error) {
	info, err := d.root.Stat(name)
	if err != nil {
		return 0, missing(err)
	}
	return info.Size(), nil
}

// List implements Target.
func (d *Dir) List(_ context.Context, below string) ([]string, error) {
	entries, err := fs.ReadDir(d.root.FS(), below)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Remove implements Target.
func (d *Dir) Remove(_ context.Context, name string) error { return d.root.RemoveAll(name) }

// Lock implements Target. The kernel lets go of the lock when the process dies.
func (d *Dir) Lock(ctx context.Context) (context.Context, func(), error) {
	f, err := d.root.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", d.path, ErrBusy)
	}
	return ctx, func() { f.Close() }, nil
}

// makeDir makes a folder and those above it, and makes the names of new ones durable.
func (d *Dir) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := d.root.Stat(dir); err == nil {
		return nil
	}
	if err := d.makeDir(path.Dir(dir)); err != nil {
		return err
	}
	if err := d.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncDir(path.Dir(dir))
}

func (d *Dir) syncDir(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return err
}

// interruptible stops reading when the context ends.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
