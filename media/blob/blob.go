// Package blob keeps the bytes of assets, content-addressed and apart for each
// tenant.
//
// Bytes come in twice checked: Stage writes them to a temporary place while
// hashing and makes them durable; Commit moves them to the place their hash
// names. Nothing is acknowledged before the file and its folder are on disk.
// The package also keeps derived files (previews), which can be lost without
// harm, and signs the short-lived URLs under which bytes travel. It knows
// nothing of what the bytes mean.
package blob

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"vitrine/library"
)

// Store keeps bytes: Disk in a local folder, Bucket on a server that speaks S3. Package
// blobtest is the contract that both hold.
//
// Every method is safe for concurrent use. A missing object is a not-found
// error; a full disk is a storage-full error and leaves nothing behind.
type Store interface {
	// Available reports whether bytes can be written, kept and removed now; the error is
	// for clients.
	Available(ctx context.Context) error
	// Stage reads r to its end, at most limit bytes, and keeps them durably
	// under a staging id of the tenant, made by NewStagingID. More bytes than
	// limit, or none at all, is an error and nothing is kept. Staging under an id
	// again, as a client does that lost the first reply, replaces the bytes.
	Stage(ctx context.Context, tenant library.TenantID, id string, r io.Reader, limit int64) (Staged, error)
	// OpenStaged returns staged bytes for reading, with their size and hashes.
	OpenStaged(ctx context.Context, tenant library.TenantID, id string) (Object, Staged, error)
	// Commit makes staged bytes the tenant's asset with this hash, durably. It
	// may be repeated: once committed, a further call succeeds whether or not
	// the staged bytes are still there.
	Commit(ctx context.Context, tenant library.TenantID, id string, hash library.AssetHash) error
	// Discard drops staged bytes; dropping what is not there is no error.
	Discard(ctx context.Context, tenant library.TenantID, id string) error
	// Open returns an asset's bytes for reading.
	Open(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (Object, error)
	// Size returns the size of an asset's bytes.
	Size(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (int64, error)
	// Remove deletes an asset's bytes; deleting what is not there is no error.
	Remove(ctx context.Context, tenant library.TenantID, hash library.AssetHash) error
	// RemoveLost deletes an asset's bytes unless they came after the given time,
	// and reports whether it did. It is safe beside an upload of the same bytes.
	RemoveLost(ctx context.Context, tenant library.TenantID, hash library.AssetHash, before time.Time) (bool, error)
	// Walk lists every tenant's committed assets, in no order.
	Walk(ctx context.Context, fn func(Entry) error) error
	// SweepStaged drops staged bytes older than age and counts them.
	SweepStaged(ctx context.Context, age time.Duration) (files int, bytes int64, err error)

	// PutDerived keeps a derived file of an asset under a name such as
	// "512.jpg", replacing what was there.
	PutDerived(ctx context.Context, tenant library.TenantID, hash library.AssetHash, name string, data []byte) error
	// DropDerived deletes all derived files of an asset; there may be none.
	DropDerived(ctx context.Context, tenant library.TenantID, hash library.AssetHash) error
	// GetDerived returns a derived file, or a not-found error.
	GetDerived(ctx context.Context, tenant library.TenantID, hash library.AssetHash, name string) ([]byte, error)
}

// NewStagingID makes an id that cannot be guessed and sorts by time.
func NewStagingID() string { return uuid.Must(uuid.NewV7()).String() }

// Staged is what Stage kept.
type Staged struct {
	ID     string
	Size   int64
	SHA1   library.AssetHash
	SHA256 string
	BLAKE3 string
}

// Entry is one committed asset, as Walk lists it.
type Entry struct {
	Tenant  library.TenantID
	Hash    library.AssetHash
	Size    int64
	ModTime time.Time
}

// Object is stored bytes open for reading at any offset.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
	ModTime() time.Time
}
