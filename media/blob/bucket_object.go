package blob

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"vitrine/internal/s3"
	"vitrine/library"
)

// bucketObject reads an object at any offset. What is read in order comes out of one
// request; a jump begins another one, unless it goes back to the head, which is kept, or a
// little forward. It is safe for concurrent use, one read at a time.
type bucketObject struct {
	ctx    context.Context //nolint:containedctx // io.ReaderAt has none, and the bytes belong to one request
	bucket *s3.Bucket
	info   s3.Info

	mu   sync.Mutex
	body io.ReadCloser
	pos  int64
	head []byte
}

// Sizes of what is kept of a head, and of a gap that is read over rather than jumped.
const (
	headSize = 64 << 10
	gapSize  = 256 << 10
)

// readAttempts is how often a connection that broke in the middle is taken up again.
const readAttempts = 3

func (o *bucketObject) Size() int64        { return o.info.Size }
func (o *bucketObject) ModTime() time.Time { return o.info.ModTime }

// Close ends the request that is open.
func (o *bucketObject) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop()
	return nil
}

func (o *bucketObject) drop() {
	if o.body != nil {
		_ = o.body.Close() // nothing was written
		o.body = nil
	}
}

// ReadAt implements io.ReaderAt.
func (o *bucketObject) ReadAt(p []byte, off int64) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if off < 0 {
		return 0, errors.New("a negative offset")
	}
	for failed := 0; n < len(p); {
		at := off + int64(n)
		if at >= o.info.Size {
			return n, io.EOF
		}
		if at < int64(len(o.head)) {
			n += copy(p[n:], o.head[at:])
			continue
		}
		if err := o.seek(at); err != nil {
			return n, o.explain(err)
		}
		m, err := o.read(p[n:min(int64(len(p)), o.info.Size-off)])
		n += m
		if m > 0 || err == nil {
			continue
		}
		o.drop()
		if failed++; failed == readAttempts || o.ctx.Err() != nil {
			return n, o.explain(err)
		}
	}
	return n, nil
}

// explain tells bytes that are gone from a server that does not answer: only the former is
// a fault of the file.
func (o *bucketObject) explain(err error) error {
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	if errors.Is(err, s3.ErrMissing) || errors.Is(err, s3.ErrChanged) {
		return library.NotFound("file")
	}
	return unavailable(err)
}

// seek brings the open request to an offset.
func (o *bucketObject) seek(at int64) error {
	if gap := at - o.pos; o.body != nil && gap > 0 && gap <= gapSize {
		for buf := make([]byte, 32<<10); o.pos < at; {
			if _, err := o.read(buf[:min(int64(len(buf)), at-o.pos)]); err != nil {
				o.drop()
				break
			}
		}
	}
	if o.body != nil && o.pos == at {
		return nil
	}
	o.drop()
	body, _, err := o.bucket.Get(o.ctx, o.info.Name, at, o.info.ETag)
	if err != nil {
		return err
	}
	o.body, o.pos = body, at
	return nil
}

// read reads on, and keeps the head of the object.
func (o *bucketObject) read(p []byte) (int, error) {
	n, err := o.body.Read(p)
	if have := int64(len(o.head)); o.pos == have && have < headSize {
		o.head = append(o.head, p[:min(int64(n), headSize-have)]...)
	}
	o.pos += int64(n)
	if errors.Is(err, io.EOF) && o.pos < o.info.Size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
