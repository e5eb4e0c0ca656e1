package blob

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/internal/failpoint"
	"vitrine/internal/retry"
	"vitrine/internal/s3"
	"vitrine/library"
)

// Commit implements Store: the server copies the bytes to the name of their hash. An object
// appears there whole or not at all.
//
// Should the sweep be about to remove bytes of the same hash, one of both sees the other:
// this looks for the sweep's notice after the copy, and the sweep looks at the age of the
// bytes after it gave notice.
func (b *Bucket) Commit(ctx context.Context, tenant library.TenantID, id string, h library.AssetHash) error {
	from, err := stagingPath(tenant, id)
	if err != nil {
		return err
	}
	to, err := assetPath("assets", tenant, h)
	if err != nil {
		return err
	}
	notice, err := assetPath("lost", tenant, h)
	if err != nil {
		return err
	}
	if err := b.Available(ctx); err != nil {
		return err
	}
	if err := failpoint.Inject("blob.before_rename"); err != nil {
		return err
	}
	if err := b.copyStaged(ctx, from, to, notice); err != nil {
		return err
	}
	if err := failpoint.Inject("blob.committed"); err != nil {
		return err
	}
	_ = b.at.bucket.Remove(ctx, from) // the sweep takes what stays
	return nil
}

// copyStaged brings staged bytes to their place and returns when nobody is about to remove
// them there.
func (b *Bucket) copyStaged(ctx context.Context, from, to, notice string) error {
	etag := ""
	if s, ok := b.recent.Get(from); ok {
		etag = s.etag // what was hashed, and not what came in its place since
	}
	for try := time.Duration(0); ; try++ {
		err := b.at.bucket.Copy(ctx, from, to, etag)
		switch {
		case errors.Is(err, s3.ErrChanged):
			return library.NewError(library.KindConflict, library.CodeConflict, "The upload was replaced by another one meanwhile. Store it again.")
		case err != nil && !errors.Is(err, s3.ErrMissing):
			return b.explain(err)
		}
		if err := failpoint.Inject("blob.renamed"); err != nil {
			return err
		}
		_, noticed := b.at.bucket.Stat(ctx, notice)
		_, there := b.at.bucket.Stat(ctx, to)
		switch {
		case errors.Is(noticed, s3.ErrMissing) && there == nil:
			return nil
		case errors.Is(noticed, s3.ErrMissing) && errors.Is(there, s3.ErrMissing) && errors.Is(err, s3.ErrMissing):
			return b.missing(ctx, there, "upload")
		case noticed != nil && !errors.Is(noticed, s3.ErrMissing):
			return b.explain(noticed)
		case there != nil && !errors.Is(there, s3.ErrMissing):
			return b.explain(there)
		case try == noticeTries:
			return unavailable(errors.New("the sweep has not ended the removal of the same bytes"))
		}
		// The sweep is between its notice and its end.
		if err := retry.Sleep(ctx, try*100*time.Millisecond); err != nil {
			return err
		}
	}
}

const (
	// noticeTries is how often a commit looks whether the sweep has ended: for 12 s.
	noticeTries = 15
	// noticeFor is how long the sweep may take between its notice and the removal.
	noticeFor = 5 * time.Second
)

// RemoveLost implements Store. The notice stands while the bytes may be removed; one that
// a crash left is taken away with old staged bytes.
func (b *Bucket) RemoveLost(ctx context.Context, tenant library.TenantID, h library.AssetHash, before time.Time) (gone bool, err error) {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return false, err
	}
	notice, err := assetPath("lost", tenant, h)
	if err != nil {
		return false, err
	}
	if err := b.Available(ctx); err != nil {
		return false, err
	}
	if err := b.at.bucket.PutNew(ctx, notice, []byte("removed by the sweep\n")); err != nil {
		if errors.Is(err, s3.ErrChanged) { // another sweep is at it
			return false, nil
		}
		return false, b.explain(err)
	}
	defer func() {
		err = errors.Join(err, b.explain(b.at.bucket.Remove(context.WithoutCancel(ctx), notice)))
	}()
	brief, cancel := context.WithTimeout(ctx, noticeFor)
	defer cancel()
	info, err := b.at.bucket.Stat(brief, name)
	if errors.Is(err, s3.ErrMissing) {
		return false, nil
	}
	if err != nil || info.ModTime.After(before) {
		return false, b.explain(err)
	}
	if err := b.at.bucket.Remove(brief, name); err != nil {
		return false, b.explain(err)
	}
	return true, b.DropDerived(ctx, tenant, h)
}

// Remove implements Store.
func (b *Bucket) Remove(ctx context.Context, tenant library.TenantID, h library.AssetHash) error {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return nil //nolint:nilerr // no such file can exist
	}
	if err := b.Available(ctx); err != nil {
		return err
	}
	_ = b.DropDerived(ctx, tenant, h)
	return b.explain(b.at.bucket.Remove(ctx, name))
}

// Walk implements Store.
func (b *Bucket) Walk(ctx context.Context, fn func(Entry) error) error {
	var own error // of fn, which is not the server's
	err := b.at.bucket.Each(ctx, "assets", func(o s3.Info) error {
		if tenant, hash, ok := splitAsset(o.Name); ok {
			own = fn(Entry{Tenant: tenant, Hash: hash, Size: o.Size, ModTime: o.ModTime})
		}
		return own
	})
	if own != nil {
		return own
	}
	return b.explain(err)
}

// SweepStaged implements Store. Multipart uploads that never ended go too, and notices of
// sweeps that were killed.
func (b *Bucket) SweepStaged(ctx context.Context, age time.Duration) (files int, bytes int64, err error) {
	if err := b.Available(ctx); err != nil {
		return 0, 0, err
	}
	now := time.Now()
	files, bytes, err = b.at.bucket.AbortUploads(ctx, "staging", now.Add(-min(age, deadAfter)))
	if err != nil {
		return files, bytes, b.explain(err)
	}
	err = b.at.bucket.Each(ctx, "staging", func(o s3.Info) error {
		if o.ModTime.After(now.Add(-age)) || strings.Count(o.Name, "/") != 2 {
			return nil
		}
		if err := b.at.bucket.Remove(ctx, o.Name); err != nil {
			return err
		}
		files++
		bytes += o.Size
		return nil
	})
	if err == nil {
		err = b.at.bucket.Each(ctx, "lost", func(o s3.Info) error {
			if o.ModTime.After(now.Add(-deadAfter)) {
				return nil
			}
			return b.at.bucket.Remove(ctx, o.Name)
		})
	}
	return files, bytes, b.explain(err)
}
