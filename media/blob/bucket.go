package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/internal/failpoint"
	"vitrine/internal/s3"
	"vitrine/library"
)

// Bucket keeps bytes in a bucket of S3, under the names that Disk has in its folder, save
// that bytes on their way out stay in their place, with a notice beside them (see
// RemoveLost). The server promises that what it has acknowledged is durable and that
// everybody sees it at once.
type Bucket struct {
	at   BucketLocation
	want atomic.Pointer[string]
	// seen is when the mark was last read and right, in Unix nanoseconds.
	seen atomic.Int64
	// recent spares hashing bytes again that this process staged a moment ago.
	recent *lru.Cache[string, stagedObject]
}

// stagedObject is what was staged, and by which version of the object.
type stagedObject struct {
	Staged
	etag string
}

var _ Place = (*Bucket)(nil)

func openBucket(ctx context.Context, at BucketLocation, id string) (*Bucket, error) {
	recent, err := lru.New[string, stagedObject](4096)
	if err != nil {
		return nil, err
	}
	b := &Bucket{at: at, recent: recent}
	b.want.Store(&id)
	return b, b.Check(ctx)
}

// ID implements Place.
func (b *Bucket) ID() string { return *b.want.Load() }

// Expect implements Place.
func (b *Bucket) Expect(id string) {
	b.want.Store(&id)
	b.seen.Store(0)
}

// Close implements Place.
func (b *Bucket) Close() error { return nil }

// checkTimeout bounds the question for the mark: requests wait for the answer.
const checkTimeout = 10 * time.Second

// Check implements Place.
func (b *Bucket) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	want := b.ID()
	found, err := b.at.Inspect(ctx)
	if err == nil && (found.ID == "" || found.ID != want) {
		err = &FolderError{Folder: found, Want: want}
	}
	if err != nil {
		b.seen.Store(0)
		return err
	}
	b.seen.Store(time.Now().UnixNano())
	return nil
}

// markFor is how long a mark that was read is believed before something is written.
const markFor = 10 * time.Second

// Available implements Store. An answer that is seconds old counts as well.
func (b *Bucket) Available(ctx context.Context) error {
	if time.Since(time.Unix(0, b.seen.Load())) < markFor {
		return nil
	}
	if err := b.Check(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// Stage implements Store.
func (b *Bucket) Stage(ctx context.Context, tenant library.TenantID, id string, r io.Reader, limit int64) (Staged, error) {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return Staged{}, err
	}
	if err := b.Available(ctx); err != nil {
		return Staged{}, err
	}
	in := &bounded{r: &cancelled{ctx, r}, limit: limit, digest: NewDigest()}
	o, err := b.at.bucket.Put(ctx, name, in)
	if in.err != nil { // the upload's own fault, whatever the server made of it
		return Staged{}, in.err
	}
	if err != nil {
		return Staged{}, b.explain(err)
	}
	s := in.digest.Sum()
	if o.Size != s.Size {
		return Staged{}, fmt.Errorf("%d bytes were sent and %d stored", s.Size, o.Size)
	}
	s.ID = id
	b.recent.Add(name, stagedObject{s, o.ETag})
	return s, failpoint.Inject("blob.staged")
}

// bounded hashes what is read, and fails where the contract of Stage does: nothing at all,
// and more than the limit.
type bounded struct {
	r      io.Reader
	limit  int64
	digest *Digest
	err    error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.r.Read(p)
	_, _ = b.digest.Write(p[:n]) // hashes do not fail
	switch {
	case b.digest.size > b.limit:
		b.err = library.NewError(library.KindTooLarge, library.CodePayloadTooLarge, "The file is larger than the %d bytes allowed for it.", b.limit)
	case errors.Is(err, io.EOF) && b.digest.size == 0:
		b.err = library.NewError(library.KindInvalid, library.CodeEmptyFile, "The file is empty; nothing was stored. Check the source and send its bytes.")
	case errors.Is(err, io.EOF):
		if b.err = failpoint.Inject("blob.written"); b.err == nil {
			return n, err
		}
	default:
		b.err = err
	}
	if b.err != nil {
		return 0, b.err
	}
	return n, nil
}

// explain turns what the server answered into what clients are told.
func (b *Bucket) explain(err error) error {
	var known *library.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, s3.ErrFull):
		return storageFull(err)
	}
	return unavailable(err)
}

// missing is the error of an object that is not there: not found, or not to be seen.
func (b *Bucket) missing(ctx context.Context, err error, what string) error {
	if !errors.Is(err, s3.ErrMissing) {
		return b.explain(err)
	}
	if err := b.Check(ctx); err != nil {
		return unavailable(err)
	}
	return library.NotFound(what)
}

// OpenStaged implements Store.
func (b *Bucket) OpenStaged(ctx context.Context, tenant library.TenantID, id string) (Object, Staged, error) {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return nil, Staged{}, err
	}
	o, err := b.open(ctx, name, "upload")
	if err != nil {
		return nil, Staged{}, err
	}
	if s, ok := b.recent.Get(name); ok && s.Size == o.Size() && s.etag == o.info.ETag {
		return o, s.Staged, nil
	}
	digest := NewDigest()
	if _, err := io.Copy(digest, &cancelled{ctx, io.NewSectionReader(o, 0, o.Size())}); err != nil {
		return nil, Staged{}, errors.Join(err, o.Close())
	}
	s := digest.Sum()
	s.ID = id
	b.recent.Add(name, stagedObject{s, o.info.ETag})
	return o, s, nil
}

// Discard implements Store.
func (b *Bucket) Discard(ctx context.Context, tenant library.TenantID, id string) error {
	name, err := stagingPath(tenant, id)
	if err != nil {
		return nil //nolint:nilerr // no such id can exist
	}
	return b.explain(b.at.bucket.Remove(ctx, name))
}

// Open implements Store.
func (b *Bucket) Open(ctx context.Context, tenant library.TenantID, h library.AssetHash) (Object, error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return nil, err
	}
	o, err := b.open(ctx, name, "file")
	if err != nil {
		return nil, err // not o: a nil pointer in an interface is no nil
	}
	return o, nil
}

func (b *Bucket) open(ctx context.Context, name, what string) (*bucketObject, error) {
	info, err := b.at.bucket.Stat(ctx, name)
	if err != nil {
		return nil, b.missing(ctx, err, what)
	}
	return &bucketObject{ctx: ctx, bucket: b.at.bucket, info: info}, nil
}

// Size implements Store.
func (b *Bucket) Size(ctx context.Context, tenant library.TenantID, h library.AssetHash) (int64, error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return 0, err
	}
	info, err := b.at.bucket.Stat(ctx, name)
	if err != nil {
		return 0, b.missing(ctx, err, "file")
	}
	return info.Size, nil
}

// PutDerived implements Store.
func (b *Bucket) PutDerived(ctx context.Context, tenant library.TenantID, h library.AssetHash, name string, data []byte) error {
	dir, err := assetPath("derived", tenant, h)
	if err != nil || !derivedName.MatchString(name) {
		return errors.Join(err, errors.New("not a name for a derived file"))
	}
	if err := b.Available(ctx); err != nil {
		return err
	}
	_, err = b.at.bucket.Put(ctx, dir+"/"+name, bytes.NewReader(data))
	return b.explain(err)
}

// DropDerived implements Store.
func (b *Bucket) DropDerived(ctx context.Context, tenant library.TenantID, h library.AssetHash) error {
	dir, err := assetPath("derived", tenant, h)
	if err != nil {
		return err
	}
	return b.explain(b.at.bucket.RemoveBelow(ctx, dir))
}

// GetDerived implements Store.
func (b *Bucket) GetDerived(ctx context.Context, tenant library.TenantID, h library.AssetHash, name string) ([]byte, error) {
	dir, err := assetPath("derived", tenant, h)
	if err != nil || !derivedName.MatchString(name) {
		return nil, library.NotFound("preview")
	}
	data, err := b.at.bucket.Read(ctx, dir+"/"+name)
	if errors.Is(err, s3.ErrMissing) {
		return nil, library.NotFound("preview")
	}
	return data, b.explain(err)
}

// MaxLink is how long a link to the bucket itself may be valid.
const MaxLink = 5 * time.Minute

// Link returns a link to an asset's bytes in the bucket, which nobody can revoke before it
// expires. A browser is told to save the bytes under the file's name.
func (b *Bucket) Link(ctx context.Context, tenant library.TenantID, h library.AssetHash, valid time.Duration, mimeType, disposition string) (string, error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return "", err
	}
	link, err := b.at.bucket.Presign(ctx, name, min(valid, MaxLink), url.Values{
		"response-content-type": {mimeType}, "response-content-disposition": {disposition}, "response-cache-control": {"private, max-age=300"}})
	return link, b.explain(err)
}
