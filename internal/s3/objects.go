package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// Info describes an object.
type Info struct {
	Name    string // below the bucket's prefix
	Size    int64
	ETag    string
	ModTime time.Time
}

func (b *Bucket) info(o minio.ObjectInfo) Info {
	return Info{Name: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size, ETag: strings.Trim(o.ETag, `"`), ModTime: o.LastModified}
}

// Sizes of uploads. What fits into one request is sent by one; of the rest a part is held
// in memory at a time. 10,000 parts are allowed, so an object may have 160 GB.
const (
	singleRequest = 8 << 20
	partSize      = 16 << 20
)

// Put keeps what r holds to its end, in the place of what was there. It returns when the
// server has promised to keep it. When r or the server fails nothing is kept, and what was
// there stays. The upload ends with r's error, not with ctx, so that it can still be taken back.
func (b *Bucket) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	ctx = context.WithoutCancel(ctx)
	var head bytes.Buffer
	_, err := io.CopyN(&head, r, singleRequest)
	opt := minio.PutObjectOptions{ContentType: "application/octet-stream", SendContentMd5: true, PartSize: partSize, NumThreads: 1}
	var up minio.UploadInfo
	switch {
	case errors.Is(err, io.EOF):
		size := int64(head.Len())
		err = again(ctx, func() (err error) {
			up, err = b.core.Client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(head.Bytes()), size, opt)
			return err
		})
		if err == nil && up.Size != size {
			err = fmt.Errorf("%d of %d bytes were stored", up.Size, size)
		}
	case err == nil:
		up, err = b.core.Client.PutObject(ctx, b.name, b.prefix+name, io.MultiReader(&head, r), -1, opt)
		err = translate(err)
	}
	if err != nil {
		return Info{}, err
	}
	return Info{Name: name, Size: up.Size, ETag: strings.Trim(up.ETag, `"`)}, nil
}

// PutNew keeps data unless there is an object of the name; then it is ErrChanged.
func (b *Bucket) PutNew(ctx context.Context, name string, data []byte) error {
	opt := minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8", SendContentMd5: true}
	opt.SetMatchETagExcept("*")
	_, err := b.core.Client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), opt)
	return translate(err)
}

// Replace keeps data in the place of the object with an etag and returns the new one's; it is
// ErrChanged when there is another object, and ErrChanged or ErrMissing when there is none.
func (b *Bucket) Replace(ctx context.Context, name string, data []byte, etag string) (string, error) {
	opt := minio.PutObjectOptions{ContentType: "text/plain; charset=utf-8", SendContentMd5: true}
	opt.SetMatchETag(etag)
	up, err := b.core.Client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), opt)
	return strings.Trim(up.ETag, `"`), translate(err)
}

// Get opens an object from an offset to its end. With an etag it is ErrChanged when the
// object is another one now. The bytes must be read to their end, or the reader closed.
func (b *Bucket) Get(ctx context.Context, name string, offset int64, etag string) (io.ReadCloser, Info, error) {
	var opt minio.GetObjectOptions
	if offset > 0 {
		if err := opt.SetRange(offset, 0); err != nil {
			return nil, Info{}, err
		}
	}
	if etag != "" {
		if err := opt.SetMatchETag(etag); err != nil {
			return nil, Info{}, err
		}
	}
	body, o, _, err := b.core.GetObject(ctx, b.name, b.prefix+name, opt)
	if err != nil {
		return nil, Info{}, translate(err)
	}
	o.Key = b.prefix + name
	return body, b.info(o), nil
}

// Read returns a small object whole.
func (b *Bucket) Read(ctx context.Context, name string) ([]byte, error) {
	body, info, err := b.Get(ctx, name, 0, "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err == nil && int64(len(data)) != info.Size {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// Stat describes an object.
func (b *Bucket) Stat(ctx context.Context, name string) (Info, error) {
	o, err := b.core.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if err != nil {
		return Info{}, translate(err)
	}
	o.Key = b.prefix + name
	return b.info(o), nil
}

// Copy copies an object within the bucket, on the server. With an etag it is ErrChanged when
// the source is another one now.
func (b *Bucket) Copy(ctx context.Context, from, to, etag string) error {
	return again(ctx, func() error {
		_, err := b.core.ComposeObject(ctx, minio.CopyDestOptions{Bucket: b.name, Object: b.prefix + to},
			minio.CopySrcOptions{Bucket: b.name, Object: b.prefix + from, MatchETag: etag})
		return err
	})
}

// again repeats a request that the server refused because another one was under way at the
// same place (409), which passes: servers over folders do so while they make or remove one.
func again(ctx context.Context, request func() error) error {
	for try := 1; ; try++ {
		err := request()
		if err == nil || minio.ToErrorResponse(err).StatusCode != http.StatusConflict || try == conflicts {
			return translate(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * 20 * time.Millisecond):
		}
	}
}

// conflicts is how often a request is sent that meets another one: for about a second.
const conflicts = 10

// Remove removes an object; there may be none.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	err := translate(b.core.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrMissing) {
		return nil
	}
	return err
}

// RemoveBelow removes all objects whose names begin with below and a slash.
func (b *Bucket) RemoveBelow(ctx context.Context, below string) error {
	return b.Each(ctx, below, func(o Info) error { return b.Remove(ctx, o.Name) })
}

// Each calls fn for all objects whose names begin with below and a slash, in the order of
// their names, until fn fails. An empty below means all.
func (b *Bucket) Each(ctx context.Context, below string, fn func(Info) error) error {
	for o := range b.core.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + folder(below), Recursive: true}) {
		if o.Err != nil {
			return translate(o.Err)
		}
		if err := fn(b.info(o)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Names returns the last parts of the names directly below one.
func (b *Bucket) Names(ctx context.Context, below string) ([]string, error) {
	var names []string
	prefix := b.prefix + folder(below)
	for o := range b.core.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix}) {
		if o.Err != nil {
			return nil, translate(o.Err)
		}
		if name := strings.TrimSuffix(strings.TrimPrefix(o.Key, prefix), "/"); name != "" {
			names = append(names, name)
		}
	}
	return names, ctx.Err()
}

func folder(below string) string {
	if below == "" {
		return ""
	}
	return below + "/"
}

// AbortUploads aborts the multipart uploads below a name that began before a time and never
// ended, as those of a process that was killed. It returns how many they were and the size of
// their parts, which no listing of objects shows and which are paid for.
func (b *Bucket) AbortUploads(ctx context.Context, below string, before time.Time) (n int, size int64, err error) {
	key, id := "", ""
	for {
		page, err := b.core.ListMultipartUploads(ctx, b.name, b.prefix+folder(below), key, id, "", 1000)
		if err != nil {
			return n, size, translate(err)
		}
		for _, u := range page.Uploads {
			if u.Initiated.After(before) || !strings.HasPrefix(u.Key, b.prefix+folder(below)) {
				continue
			}
			held := b.held(ctx, u)
			if err := translate(b.core.AbortMultipartUpload(ctx, b.name, u.Key, u.UploadID)); err != nil && !errors.Is(err, ErrMissing) {
				return n, size, err
			}
			n++
			size += held
		}
		if !page.IsTruncated || page.NextKeyMarker == key && page.NextUploadIDMarker == id {
			return n, size, nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// held returns how many bytes of an upload the server has, for the report alone.
func (b *Bucket) held(ctx context.Context, u minio.ObjectMultipartInfo) (size int64) {
	parts, err := b.core.ListObjectParts(ctx, b.name, u.Key, u.UploadID, 0, 1000)
	if err != nil {
		return 0
	}
	for _, p := range parts.ObjectParts {
		size += p.Size
	}
	return size
}
