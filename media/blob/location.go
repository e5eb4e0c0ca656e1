package blob

import (
	"context"
	"strings"

	"vitrine/internal/s3"
	"vitrine/library"
)

// Place is a Store that has an id, by which a library knows its own from another.
type Place interface {
	Store
	// ID returns the id that the place must have.
	ID() string
	// Expect makes another id the one that the place must have, after the library was
	// moved to another one.
	Expect(id string)
	// Check asks the place for its id now. Another or none is a *FolderError.
	Check(ctx context.Context) error
	Close() error
}

// Location is where a place is, or will be.
type Location interface {
	// String returns the folder, or the URL of the bucket.
	String() string
	// Inspect looks at what is there and changes nothing.
	Inspect(ctx context.Context) (Folder, error)
	// Mark makes a place of an empty location, or of a copy that lacks its mark, and returns
	// its id: the one that is there, or a new one.
	Mark(ctx context.Context) (id string, err error)
	// Open opens the place with an id. Any other is a *FolderError.
	Open(ctx context.Context, id string) (Place, error)
	// HasFile reports whether the location, of any id, has an asset's bytes at their size.
	HasFile(ctx context.Context, tenant library.TenantID, h library.AssetHash, size int64) bool
}

// At returns the location that a setting names: a folder, or s3://bucket/prefix.
func At(place string, access s3.Access) (Location, error) {
	if !s3.IsURL(place) {
		return DiskLocation(place), nil
	}
	bucket, err := s3.Open(place, access)
	if err != nil {
		return nil, err
	}
	return BucketLocation{bucket}, nil
}

// DiskLocation is a folder of the local disk.
type DiskLocation string

var _ Location = DiskLocation("")

// String implements Location.
func (l DiskLocation) String() string { return string(l) }

// Inspect implements Location.
func (l DiskLocation) Inspect(context.Context) (Folder, error) { return Inspect(string(l)) }

// Mark implements Location.
func (l DiskLocation) Mark(context.Context) (string, error) { return MarkFolder(string(l)) }

// Open implements Location.
func (l DiskLocation) Open(_ context.Context, id string) (Place, error) {
	return OpenDisk(string(l), id)
}

// HasFile implements Location.
func (l DiskLocation) HasFile(_ context.Context, tenant library.TenantID, h library.AssetHash, size int64) bool {
	return HasFile(string(l), tenant, h, size)
}

// remedy ends the sentence on a wrong place.
func (f Folder) remedy() string {
	if strings.HasPrefix(f.Path, s3.Scheme) {
		return "Name the right bucket and prefix by VITRINE_BLOBS, and its server by VITRINE_S3_ENDPOINT."
	}
	return "Mount the volume that holds it, or name its folder by VITRINE_DATA_DIR or VITRINE_BLOBS."
}

// noun is what a place is called.
func (f Folder) noun() string {
	if strings.HasPrefix(f.Path, s3.Scheme) {
		return "bucket"
	}
	return "blob folder"
}
