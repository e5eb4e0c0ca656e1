package blob

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"vitrine/internal/s3"
	"vitrine/library"
)

// BucketLocation is a bucket of S3, or a prefix of one.
type BucketLocation struct{ bucket *s3.Bucket }

var _ Location = BucketLocation{}

// String implements Location.
func (l BucketLocation) String() string { return l.bucket.String() }

// Inspect implements Location. A bucket that does not exist is missing; a server that
// does not answer is an error.
func (l BucketLocation) Inspect(ctx context.Context) (Folder, error) {
	f := Folder{Path: l.String(), State: FolderEmpty}
	raw, err := l.bucket.Read(ctx, markName)
	switch {
	case err == nil:
		f.State = FolderMarked
		if id := strings.TrimSpace(string(raw)); uuid.Validate(id) == nil {
			f.ID = id
		}
	case errors.Is(err, s3.ErrNoBucket):
		f.State = FolderMissing
		return f, nil
	case !errors.Is(err, s3.ErrMissing):
		return f, fmt.Errorf("reading %s: %w", l, err)
	}
	names, err := l.bucket.Names(ctx, "")
	if errors.Is(err, s3.ErrNoBucket) { // some servers tell a missing bucket from a missing object only here
		f.State = FolderMissing
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("listing %s: %w", l, err)
	}
	for _, name := range names {
		f.HasAssets = f.HasAssets || name == "assets"
		if f.State == FolderEmpty {
			f.State = FolderForeign
		}
	}
	return f, nil
}

// Mark implements Location. Of two processes that start together one wins, and both read
// the same id. The bucket itself must exist.
func (l BucketLocation) Mark(ctx context.Context) (string, error) {
	f, err := l.Inspect(ctx)
	switch {
	case err != nil:
		return "", err
	case f.ID != "":
		return f.ID, nil
	case f.State == FolderMissing:
		return "", fmt.Errorf("there is no bucket at %s; create it first, or name another one by VITRINE_BLOBS", l)
	case f.State == FolderForeign && !f.HasAssets:
		return "", fmt.Errorf("%s holds objects but no %s: it is no store of Vitrine's files; name an empty bucket, or a prefix of its own such as s3://bucket/vitrine", l, markName)
	case f.State == FolderMarked: // a mark that cannot be read as one
		if err := l.bucket.Remove(ctx, markName); err != nil {
			return "", err
		}
	}
	if err := l.bucket.PutNew(ctx, markName, []byte(uuid.NewString()+"\n")); err != nil && !errors.Is(err, s3.ErrChanged) {
		return "", fmt.Errorf("marking %s: %w", l, err)
	}
	f, err = l.Inspect(ctx)
	if err == nil && f.ID == "" {
		err = fmt.Errorf("%s could not be marked", l)
	}
	return f.ID, err
}

// Open implements Location.
func (l BucketLocation) Open(ctx context.Context, id string) (Place, error) {
	return openBucket(ctx, l, id)
}

// HasFile implements Location.
func (l BucketLocation) HasFile(ctx context.Context, tenant library.TenantID, h library.AssetHash, size int64) bool {
	name, err := assetPath("assets", tenant, h)
	if err != nil {
		return false
	}
	o, err := l.bucket.Stat(ctx, name)
	return err == nil && o.Size == size
}
