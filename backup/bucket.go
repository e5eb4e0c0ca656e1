package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"vitrine/internal/s3"
)

// Bucket keeps backups in a bucket of S3, or below a prefix of one, under the names that
// Dir has in its folder.
type Bucket struct{ bucket *s3.Bucket }

var _ Target = (*Bucket)(nil)

// CreateAt opens the place for backups that a setting names, a folder or s3://bucket/prefix, and
// makes it where there is nothing yet. A place that holds other things is refused.
func CreateAt(ctx context.Context, place string, access s3.Access) (Target, error) {
	if !s3.IsURL(place) {
		return CreateDir(place)
	}
	b, err := bucketAt(place, access)
	if err != nil {
		return nil, err
	}
	if err = b.marked(ctx); err == nil || !errors.Is(err, s3.ErrMissing) {
		return b, err
	}
	names, err := b.bucket.Names(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("%s holds objects but no %s: it is no place of backups; name an empty bucket, or a prefix of its own such as s3://bucket/backups", place, dirMark)
	}
	_, err = b.bucket.Put(ctx, dirMark, strings.NewReader(markText))
	return b, err
}

// OpenAt opens a place that holds backups.
func OpenAt(ctx context.Context, place string, access s3.Access) (Target, error) {
	if !s3.IsURL(place) {
		return OpenDir(place)
	}
	b, err := bucketAt(place, access)
	if err != nil {
		return nil, err
	}
	err = b.marked(ctx)
	if errors.Is(err, s3.ErrMissing) {
		return nil, fmt.Errorf("%s is no place of backups: it has no %s", place, dirMark)
	}
	return b, err
}

func bucketAt(place string, access s3.Access) (*Bucket, error) {
	bucket, err := s3.Open(place, access)
	if err != nil {
		return nil, err
	}
	return &Bucket{bucket}, nil
}

func (b *Bucket) marked(ctx context.Context) error {
	_, err := b.bucket.Read(ctx, dirMark)
	if err != nil && !errors.Is(err, s3.ErrMissing) {
		err = fmt.Errorf("the place for backups %s cannot be used: %w", b.bucket, err)
	}
	return err
}

// Close implements Target.
func (b *Bucket) Close() error { return nil }

// Put implements Target: an object is whole or not there.
func (b *Bucket) Put(ctx context.Context, name string, r io.Reader) (int64, error) {
	o, err := b.bucket.Put(ctx, name, &interruptible{ctx, r})
	return o.Size, err
}

// Get implements Target.
func (b *Bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, o, err := b.bucket.Get(ctx, name, 0, "")
	if err != nil {
		return nil, noObject(err)
	}
	return &whole{ReadCloser: r, left: o.Size}, nil
}

// whole fails when a connection breaks before the object's end, however it ends.
type whole struct {
	io.ReadCloser
	left int64
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if w.left -= int64(n); errors.Is(err, io.EOF) && w.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Size implements Target.
func (b *Bucket) Size(ctx context.Context, name string) (int64, error) {
	o, err := b.bucket.Stat(ctx, name)
	return o.Size, noObject(err)
}

// List implements Target.
func (b *Bucket) List(ctx context.Context, below string) ([]string, error) {
	return b.bucket.Names(ctx, below)
}

// Remove implements Target.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := b.bucket.Remove(ctx, name); err != nil {
		return err
	}
	return b.bucket.RemoveBelow(ctx, name)
}

func noObject(err error) error {
	if errors.Is(err, s3.ErrMissing) {
		return ErrMissing
	}
	return err
}

// A lock of a bucket is an object that its holder writes again and again. One that was
// not written for long belonged to a process that died.
const (
	lockName  = "lock"
	lockRenew = 20 * time.Second
	lockDead  = 3 * time.Minute
)

// Lock implements Target. It also aborts the multipart uploads that a killed process left.
func (b *Bucket) Lock(ctx context.Context) (context.Context, func(), error) {
	host, _ := os.Hostname() // for people who look at the object
	mine := []byte(fmt.Sprintf("%s process %d %s\n", host, os.Getpid(), uuid.NewString()))
	if err := b.take(ctx, mine); err != nil {
		return nil, nil, err
	}
	o, err := b.bucket.Stat(ctx, lockName)
	if err != nil {
		return nil, nil, err
	}
	held, lose := context.WithCancelCause(ctx)
	stop, renewing := make(chan struct{}), sync.WaitGroup{}
	renewing.Go(func() { b.renew(stop, o.ETag, mine, lose) })
	unlock := sync.OnceFunc(func() {
		close(stop)
		renewing.Wait()
		if held.Err() == nil || ctx.Err() != nil { // else it is somebody else's
			_ = b.bucket.Remove(context.WithoutCancel(ctx), lockName) // it is taken for dead soon
		}
		lose(nil)
	})
	if _, _, err := b.bucket.AbortUploads(ctx, "", time.Now()); err != nil {
		unlock()
		return nil, nil, err
	}
	return held, unlock, nil
}

// take writes the lock if there is none, or if its holder died.
func (b *Bucket) take(ctx context.Context, mine []byte) error {
	err := b.bucket.PutNew(ctx, lockName, mine)
	if !errors.Is(err, s3.ErrChanged) {
		return err
	}
	o, err := b.bucket.Stat(ctx, lockName)
	if err == nil && time.Since(o.ModTime) > lockDead {
		_, err = b.bucket.Replace(ctx, lockName, mine, o.ETag)
	} else if err == nil {
		err = s3.ErrChanged
	}
	if errors.Is(err, s3.ErrChanged) || errors.Is(err, s3.ErrMissing) {
		return fmt.Errorf("%s: %w", b.bucket, ErrBusy)
	}
	return err
}

// renew keeps the lock until stop is closed, and ends the holder's work when it cannot.
func (b *Bucket) renew(stop chan struct{}, etag string, mine []byte, lose context.CancelCauseFunc) {
	tick := time.NewTicker(lockRenew)
	defer tick.Stop()
	for renewed := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), lockRenew)
		now, err := b.bucket.Replace(ctx, lockName, mine, etag)
		cancel()
		switch {
		case err == nil:
			etag, renewed = now, time.Now()
		case errors.Is(err, s3.ErrChanged), errors.Is(err, s3.ErrMissing), time.Since(renewed) > lockDead/2:
			lose(fmt.Errorf("the lock of %s was lost: %w", b.bucket, err))
			return
		}
	}
}
