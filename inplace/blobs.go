package inplace

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/store"
)

// system is who records what became of originals.
var system = library.Actor{Kind: library.ActorSystem, ID: "service"}

// Blobs is the place of a library's files, with those that are referenced in place. What it
// removes, keeps and lists are the library's own files alone.
type Blobs struct {
	blob.Place
	originals *store.Originals
	files     *store.Files
	roots     *Roots
}

var _ blob.Place = (*Blobs)(nil)

// NewBlobs returns a place with the files that are referenced in place.
func NewBlobs(own blob.Place, st *store.Store, roots *Roots) *Blobs {
	return &Blobs{Place: own, originals: st.Originals, files: st.Files, roots: roots}
}

// Own returns the place of the library's own files.
func (b *Blobs) Own() blob.Place { return b.Place }

// Open implements blob.Store. A file that is referenced in place is opened only while it is
// what was imported.
func (b *Blobs) Open(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (blob.Object, error) {
	o, err := b.Place.Open(ctx, tenant, hash)
	if !isNotFound(err) {
		return o, err
	}
	return b.original(ctx, tenant, hash, err)
}

// Size implements blob.Store.
func (b *Blobs) Size(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (int64, error) {
	size, err := b.Place.Size(ctx, tenant, hash)
	if !isNotFound(err) {
		return size, err
	}
	o, err := b.original(ctx, tenant, hash, err)
	if err != nil {
		return 0, err
	}
	defer o.Close()
	return o.Size(), nil
}

func isNotFound(err error) bool {
	return err != nil && library.AsError(err).Kind == library.KindNotFound
}

// original opens the file of an asset that is referenced in place, from the first of its
// places that has it. Of other assets the error is notFound.
func (b *Blobs) original(ctx context.Context, tenant library.TenantID, hash library.AssetHash, notFound error) (blob.Object, error) {
	places, err := b.originals.Of(ctx, tenant, hash)
	if err != nil {
		return nil, err
	}
	err = notFound
	for _, at := range places {
		var o *Object
		if o, err = b.open(ctx, tenant, at); err == nil {
			return o, nil
		}
	}
	return nil, err
}

// open opens one place of an original, and records what became of it.
func (b *Blobs) open(ctx context.Context, tenant library.TenantID, at store.Original) (*Object, error) {
	r, allowed, err := b.roots.get(ctx, tenant, at.Root)
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, library.NewError(library.KindNotFound, library.CodeFileMissing,
			"The asset's file lies in the root %s, which the operator does not allow at present (VITRINE_IMPORT_ROOTS).", at.Root)
	}
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, info, err := openFile(root, at.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, b.gone(ctx, tenant, root, at)
	case err != nil:
		return nil, missing(at, err)
	}
	o := &Object{File: f, info: info, stamp: stampOf(info)}
	if at.State == library.OriginalIntact && at.Stamp.Same(o.stamp) {
		return o, nil
	}
	if err := b.compare(ctx, tenant, at, o); err != nil {
		_ = f.Close()
		return nil, err
	}
	return o, nil
}

// compare reads a file of which the file system says something else than before, and
// reports whether it still is what was imported.
func (b *Blobs) compare(ctx context.Context, tenant library.TenantID, at store.Original, o *Object) error {
	want, there, err := b.files.Get(ctx, tenant, at.Hash)
	if err != nil || !there {
		return errors.Join(err, library.NotFound("asset"))
	}
	actor := system
	actor.Tenant = tenant
	if o.stamp.Size == want.Size {
		one, two := sha1.New(), sha256.New()
		if _, err := io.Copy(io.MultiWriter(one, two), &untilDone{ctx, io.NewSectionReader(o, 0, o.Size())}); err != nil {
			return err
		}
		if hex.EncodeToString(one.Sum(nil)) == string(at.Hash) && hex.EncodeToString(two.Sum(nil)) == want.SHA256 {
			if stable(o.stamp) { // a write in the same moment would not show
				at.Stamp = o.stamp
				return b.originals.Restamp(ctx, actor, []store.Original{at})
			}
			return nil
		}
	}
	if _, err := b.originals.Mark(ctx, actor, []int64{at.ID}, library.OriginalChanged); err != nil {
		return err
	}
	return library.NewError(library.KindUnprocessable, library.CodeFileDamaged,
		"The original is not what was imported: another file is at %s in the root %s now. Put the original back, or import the folder again, which adds the new file as an asset of its own.", shown(at.Path), at.Root)
}

// gone records that an original is missing, unless its whole disk seems to be away.
func (b *Blobs) gone(ctx context.Context, tenant library.TenantID, root *os.Root, at store.Original) error {
	if at.State == library.OriginalMissing {
		return missing(at, nil)
	}
	others, err := b.originals.Sample(ctx, tenant, at.Root, 50)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.ID == at.ID || o.Stamp.Device != at.Stamp.Device {
			continue
		}
		if info, err := root.Stat(o.Path); err == nil && stampOf(info).Same(o.Stamp) {
			actor := system
			actor.Tenant = tenant
			if _, err := b.originals.Mark(ctx, actor, []int64{at.ID}, library.OriginalMissing); err != nil {
				return err
			}
			break
		}
	}
	return missing(at, nil)
}

func missing(at store.Original, cause error) error {
	return &library.Error{Kind: library.KindNotFound, Code: library.CodeFileMissing, Cause: cause,
		Detail: "The original is missing: there is no file at " + shown(at.Path) + " in the root " + at.Root + ". Mount its disk or put it back; an import of the folder finds it wherever it was moved to."}
}

// shown is a path for people.
func shown(path string) string { return library.VisibleText(path) }

// Object is an open file that is referenced in place. It ends with an error when the file
// is written to while it is read.
type Object struct {
	*os.File
	info  fs.FileInfo
	stamp store.FileStamp
}

// Size returns the size of the file.
func (o *Object) Size() int64 { return o.info.Size() }

// ModTime returns the time of the file's last change.
func (o *Object) ModTime() time.Time { return o.info.ModTime() }

// Local returns the file itself, for processes that open it by its descriptor.
func (o *Object) Local() *os.File { return o.File }

// ErrWritten reports a file that was written to while it was read.
var ErrWritten = errors.New("the file was written to while it was read")

// ReadAt implements io.ReaderAt. What it returns is what was imported.
func (o *Object) ReadAt(p []byte, off int64) (int, error) {
	n, err := o.File.ReadAt(p, off)
	if written := o.unchanged(); written != nil {
		return 0, written
	}
	return n, err
}

// unchanged looks at the file again.
func (o *Object) unchanged() error {
	info, err := o.Stat()
	if err != nil {
		return err
	}
	if !stampOf(info).Same(o.stamp) {
		slog.Warn("an original was written to while it was read", "file", o.Name())
		return ErrWritten
	}
	return nil
}

// quietTime is how old the last change of a file must be for its stamp to be relied on: the
// clock of file systems ticks some times a second.
const quietTime = 2 * time.Second

// stable reports whether a write after this stamp was taken would show in it.
func stable(s store.FileStamp) bool {
	return time.Since(time.Unix(0, max(s.Modified, s.Changed))) > quietTime
}

// untilDone reads until its context ends.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (u *untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}
