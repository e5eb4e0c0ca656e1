package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/internal/failpoint"
	"vitrine/library"
)

// Disk keeps bytes in one folder of the local disk:
//
//	vitrine-blobs                       the mark that this is a blob folder
//	assets/<tenant>/<h[:2]>/<h>         committed bytes
//	staging/<tenant>/<id>               staged bytes
//	derived/<tenant>/<h[:2]>/<h>/<name> previews
//	lost/<tenant>/<h[:2]>/<h>           bytes on their way out, see RemoveLost
//
// All names are made here out of checked parts, and all access goes through
// os.Root, so no name can lead out of the folder.
type Disk struct {
	dir string
	mu  sync.Mutex // guards opening the folder anew
	// folder is the open folder. It is opened anew when the path leads to another
	// mount of it.
	folder atomic.Pointer[os.Root]
	// want is the id that the folder must have.
	want atomic.Pointer[string]
	// recent spares hashing bytes again that this process staged a moment ago.
	recent *lru.Cache[string, Staged]
}

var _ Place = (*Disk)(nil)

// folderRetry is when a client may ask again while the folder is not there.
const folderRetry = 15 * time.Second

// CreateDisk opens a blob folder and makes it where it is missing or empty.
func CreateDisk(dir string) (*Disk, error) {
	id, err := MarkFolder(dir)
	if err != nil {
		return nil, err
	}
	return OpenDisk(dir, id)
}

// OpenDisk opens the blob folder with an id. Any other folder is a *FolderError, and
// nothing is changed.
func OpenDisk(dir, id string) (*Disk, error) {
	recent, err := lru.New[string, Staged](4096)
	if err != nil {
		return nil, err
	}
	d := &Disk{dir: dir, recent: recent}
	d.want.Store(&id)
	if err := d.reopen(); err != nil {
		return nil, err
	}
	if err := d.restoreLost(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Disk) root() *os.Root { return d.folder.Load() }

// ID implements Place.
func (d *Disk) ID() string { return *d.want.Load() }

// Expect implements Place.
func (d *Disk) Expect(id string) { d.want.Store(&id) }

// Close releases the folder.
func (d *Disk) Close() error { return d.root().Close() }

// Check reports whether the path still leads to the folder that was opened and
// whether that has the id expected; if not, the error is a *FolderError. A folder
// that is mounted again is opened again.
func (d *Disk) Check(context.Context) error {
	open, err := d.root().Stat(".")
	there, pathErr := os.Stat(d.dir)
	if err == nil && pathErr == nil && os.SameFile(open, there) {
		if id, err := readMark(filepath.Join(d.dir, markName)); err == nil && id == d.ID() {
			return nil
		}
	}
	return d.reopen()
}

// reopen opens what is at the path now, if it is the right folder. What is under way
// in the one before ends there, so that one is not closed.
func (d *Disk) reopen() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := Inspect(d.dir)
	if err != nil {
		return err
	}
	if want := d.ID(); found.ID == "" || found.ID != want {
		return &FolderError{Folder: found, Want: want}
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return fmt.Errorf("opening the blob folder: %w", err)
	}
	d.folder.Store(root)
	return nil
}

// Available implements Store. It comes before bytes are written, kept or removed: in the
// wrong place they would be lost.
func (d *Disk) Available(ctx context.Context) error {
	if err := d.Check(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

var stagedID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func stagingPath(tenant library.TenantID, id string) (string, error) {
	if !tenant.Valid() || !stagedID.MatchString(id) {
		return "", library.NotFound("upload")
	}
	return path.Join("staging", string(tenant), id), nil
}

func assetPath(kind string, tenant library.TenantID, h library.AssetHash) (string, error) {
	if !tenant.Valid() || !h.Valid() {
		return "", library.NotFound("asset")
	}
	return path.Join(kind, string(tenant), string(h[:2]), string(h)), nil
}

// Stage implements Store.
func (d *Disk) Stage(ctx context.Context, tenant library.TenantID, id string, r io.Reader, limit int64) (Staged, error) {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return Staged{}, err
	}
	if err := d.Available(ctx); err != nil {
		return Staged{}, err
	}
	if err := d.makeDir(path.Dir(name)); err != nil {
		return Staged{}, full(err)
	}
	digest := NewDigest()
	err = d.writeFile(name, func(w io.Writer) error {
		n, err := io.Copy(io.MultiWriter(w, digest), io.LimitReader(&cancelled{ctx, r}, limit+1))
		switch {
		case err != nil:
			return err
		case n > limit:
			return library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than the %d bytes allowed for it.", limit)
		case n == 0:
			return library.NewError(library.KindInvalid, library.CodeEmptyFile, "The file is empty; nothing was stored. Check the source and send its bytes.")
		}
		return failpoint.Inject("blob.written")
	})
	if err != nil {
		return Staged{}, full(err)
	}
	s := digest.Sum()
	s.ID = id
	d.recent.Add(name, s)
	return s, nil
}

// halfWritten stands in the names of files that are being written.
const halfWritten = "~"

// writeFile puts a file durably in its place, or changes nothing. A failed fsync
// is final: the kernel may have dropped the dirty pages, so the file goes away.
func (d *Disk) writeFile(name string, fill func(io.Writer) error) error {
	temp := name + halfWritten + NewStagingID()
	f, err := d.root().OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = errors.Join(f.Sync(), failpoint.Inject("blob.synced"))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.root().Rename(temp, name)
	}
	if err != nil {
		_ = d.root().Remove(temp)
		return err
	}
	return errors.Join(d.syncDir(path.Dir(name)), failpoint.Inject("blob.staged"))
}

// OpenStaged implements Store.
func (d *Disk) OpenStaged(ctx context.Context, tenant library.TenantID, id string) (Object, Staged, error) {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return nil, Staged{}, err
	}
	o, err := d.open(ctx, name, "upload")
	if err != nil {
		return nil, Staged{}, err
	}
	if s, ok := d.recent.Get(name); ok && s.Size == o.Size() {
		return o, s, nil
	}
	digest := NewDigest()
	if _, err := io.Copy(digest, &cancelled{ctx, io.NewSectionReader(o, 0, o.Size())}); err != nil {
		o.Close()
		return nil, Staged{}, err
	}
	s := digest.Sum()
	s.ID = id
	return o, s, nil
}

// Commit implements Store. A rename replaces the target in one step; bytes of the
// same hash are the same bytes, so replacing them also heals a damaged file.
func (d *Disk) Commit(ctx context.Context, tenant library.TenantID, id string, h library.AssetHash) error {
	from, err := stagingPath(tenant, id)
	if err != nil {
		return err
	}
	to, err := assetPath("assets", tenant, h)
	if err != nil {
		return err
	}
	if err := d.Available(ctx); err != nil {
		return err
	}
	if err := d.makeDir(path.Dir(to)); err != nil {
		return full(err)
	}
	// The sweep spares young files; the clock starts when the bytes get their name.
	now := time.Now()
	if err := d.root().Chtimes(from, now, now); err == nil {
		if err := failpoint.Inject("blob.before_rename"); err != nil {
			return err
		}
		err = d.root().Rename(from, to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return full(err)
		}
		if err := failpoint.Inject("blob.renamed"); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := d.root().Stat(to); err != nil {
		return library.NotFound("upload")
	}
	return errors.Join(d.syncDir(path.Dir(to)), failpoint.Inject("blob.committed"))
}

// Discard implements Store.
func (d *Disk) Discard(_ context.Context, tenant library.TenantID, id string) error {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return nil //nolint:nilerr // no such id can exist
	}
	return ignoreMissing(d.root().Remove(name))
}

// Open implements Store.
func (d *Disk) Open(ctx context.Context, tenant library.TenantID, h library.AssetHash) (Object, error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return nil, err
	}
	return d.open(ctx, name, "file")
}

// Size implements Store. What stands in a file's place and is none is no file.
func (d *Disk) Size(ctx context.Context, tenant library.TenantID, h library.AssetHash) (int64, error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return 0, err
	}
	info, err := d.root().Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		if err := d.Available(ctx); err != nil { // it is not gone, it cannot be seen
			return 0, err
		}
		return 0, library.NotFound("file")
	case err != nil:
		return 0, err
	}
	return info.Size(), nil
}

// Remove implements Store.
func (d *Disk) Remove(ctx context.Context, tenant library.TenantID, h library.AssetHash) error {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return nil //nolint:nilerr // no such file can exist
	}
	if err := d.Available(ctx); err != nil {
		return err
	}
	if derived, err := assetPath("derived", tenant, h); err == nil {
		_ = d.root().RemoveAll(derived)
	}
	return ignoreMissing(d.root().Remove(name))
}

func (d *Disk) open(ctx context.Context, name, what string) (Object, error) {
	f, err := d.root().Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.Available(ctx); err != nil { // it is not gone, it cannot be seen
			return nil, err
		}
		return nil, library.NotFound(what)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return diskObject{f, info}, nil
}

type diskObject struct {
	*os.File
	info fs.FileInfo
}

func (o diskObject) Size() int64        { return o.info.Size() }
func (o diskObject) ModTime() time.Time { return o.info.ModTime() }

// Local returns the file itself, for processes that open it by its descriptor.
func (o diskObject) Local() *os.File { return o.File }

// makeDir makes a folder and those above it, and makes the names of new ones durable.
func (d *Disk) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := d.root().Stat(dir); err == nil {
		return nil
	}
	if err := d.makeDir(path.Dir(dir)); err != nil {
		return err
	}
	if err := d.root().Mkdir(dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.syncDir(path.Dir(dir))
}

// syncDir makes the names in a folder durable; an fsync of a file alone does not
// promise that its name survives.
func (d *Disk) syncDir(dir string) error {
	f, err := d.root().Open(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// full turns a full disk into the error that says so.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return storageFull(err)
	}
	return err
}

func storageFull(err error) error {
	return &library.Error{Kind: library.KindStorageFull, Code: library.CodeStorageFull, RetryAfter: 30 * time.Second,
		Detail: "The disk for files is full. Nothing was stored; free space and repeat the upload.", Cause: err}
}

// cancelled stops reading when the request is gone.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// splitAsset reads a walked path back into its parts.
func splitAsset(name string) (library.TenantID, library.AssetHash, bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 {
		return "", "", false
	}
	t, h := library.TenantID(parts[1]), library.AssetHash(parts[3])
	return t, h, t.Valid() && h.Valid()
}
