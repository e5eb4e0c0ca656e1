package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/store"
)

// blobLocation is where the files are: a bucket or folder that was named, or the folder
// blobs of DataDir.
func (c Config) blobLocation() (blob.Location, error) {
	at, err := blob.At(cmp.Or(c.Blobs, filepath.Join(c.DataDir, "blobs")), c.S3)
	if err != nil {
		err = fmt.Errorf("VITRINE_BLOBS: %w", err)
	}
	return at, err
}

// unreached is the error of a server of files that does not answer, which may come up later.
func unreached(err error) error {
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeFilesUnavailable, RetryAfter: watchEvery, Cause: err,
		Detail: "The storage for files cannot be reached. Is its server running, and are VITRINE_BLOBS and the settings VITRINE_S3_… right?"}
}

// starter is who records the blob folder of a library at its first start.
var starter = library.Actor{Kind: library.ActorSystem, ID: "service"}

// OpenBlobs opens the blob folder, or the bucket, that the database knows the library's files to be
// in. It makes a new one for a library without assets only: everywhere else a folder
// that is missing, empty or another one means that a volume is not mounted, or that
// VITRINE_DATA_DIR or VITRINE_BLOBS names the wrong place.
func OpenBlobs(ctx context.Context, st *store.Store, cfg Config) (blob.Place, error) {
	at, err := cfg.blobLocation()
	if err != nil {
		return nil, err
	}
	want, err := st.Files.BlobStore(ctx)
	if err != nil {
		return nil, err
	}
	found, err := at.Inspect(ctx)
	if err != nil {
		return nil, unreached(err)
	}
	if found.ID == "" || want != "" && want != found.ID {
		has, err := st.Assets.Any(ctx)
		if err != nil {
			return nil, err
		}
		if has || found.ID != "" {
			return nil, &blob.FolderError{Folder: found, Want: want}
		}
	}
	id, err := at.Mark(ctx)
	if err != nil {
		return nil, err
	}
	if id != want {
		if want, err = st.Files.SetBlobStore(ctx, starter, want, id); err != nil {
			return nil, err
		}
	}
	return at.Open(ctx, want)
}

// OpenLibraryBlobs is OpenBlobs where nothing else of the product is open.
func OpenLibraryBlobs(ctx context.Context, cfg Config) (blob.Place, error) {
	st, err := store.Open(ctx, cfg.Database())
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return OpenBlobs(ctx, st, cfg)
}

// CreateBlobs opens the blob folder of a configuration, of whatever id, or makes it. It
// is for a restore, after which the database takes the folder as it is.
func CreateBlobs(ctx context.Context, cfg Config) (blob.Place, error) {
	at, err := cfg.blobLocation()
	if err != nil {
		return nil, err
	}
	id, err := at.Mark(ctx)
	if err != nil {
		return nil, err
	}
	return at.Open(ctx, id)
}

// checkBlobs reports whether the files are where the database knows them to be, now.
// Its error is a library error around a *blob.FolderError.
func (s *Service) checkBlobs(ctx context.Context) error {
	want, err := s.Store.Files.BlobStore(ctx)
	if err != nil {
		return err
	}
	if want != "" && want != s.Blobs.ID() {
		s.log.Warn("the library's files are in another blob folder now", "store_id", want, "before", s.Blobs.ID())
		s.Blobs.Expect(want)
	}
	return s.Blobs.Available(ctx)
}

// watchEvery is how often the blob folder is looked at while nothing is written.
const watchEvery = 5 * time.Second

// watchBlobs logs when the blob folder goes away and comes back, and learns when the
// library was moved to another one.
func (s *Service) watchBlobs(ctx context.Context) error {
	there := true
	at, err := s.cfg.blobLocation()
	if err != nil {
		return err
	}
	return s.every(ctx, watchEvery, func(ctx context.Context) {
		err := s.checkBlobs(ctx)
		var folder *blob.FolderError
		switch away := errors.As(err, &folder) || isCode(err, library.CodeFilesUnavailable); {
		case away && there:
			there = false
			s.log.Error("no files can be read or stored", "error", err)
		case err == nil && !there:
			there = true
			s.log.Info("the blob folder is there again", "path", at.String())
		}
	})
}

func isCode(err error, code string) bool { return err != nil && library.AsError(err).Code == code }

// BlobStatus is where a library's files are, and where they are expected.
type BlobStatus struct {
	blob.Folder
	Want    string `json:"expected_store_id"` // empty while none is recorded
	Assets  int64  `json:"assets"`
	Sampled int    `json:"sampled"` // assets whose file was looked for
	Missing int    `json:"missing"` // of those, without a file of the right size in the folder
	Damaged int64  `json:"damaged"` // files that earlier checks found missing or damaged
}

// OK reports whether the folder is the library's.
func (b BlobStatus) OK() bool { return b.ID != "" && b.ID == b.Want }

// sampleSize is how many assets' files InspectBlobs looks for.
const sampleSize = 200

// InspectBlobs looks at the blob folder of a configuration and changes nothing.
func InspectBlobs(ctx context.Context, st *store.Store, cfg Config) (out BlobStatus, err error) {
	if out.Want, err = st.Files.BlobStore(ctx); err != nil {
		return out, err
	}
	at, err := cfg.blobLocation()
	if err != nil {
		return out, err
	}
	if out.Folder, err = at.Inspect(ctx); err != nil {
		return out, unreached(err)
	}
	if out.Assets, _, err = st.Files.Count(ctx, library.AssetKey{}); err != nil {
		return out, err
	}
	damaged, err := st.Files.CountDamaged(ctx)
	if err != nil {
		return out, err
	}
	for _, n := range damaged {
		out.Damaged += n
	}
	sample, err := st.Files.Sample(ctx, sampleSize)
	if err != nil {
		return out, err
	}
	out.Sampled = len(sample)
	for _, a := range sample {
		if !at.HasFile(ctx, a.Tenant, a.Hash, a.Size) {
			out.Missing++
		}
	}
	return out, nil
}

// AdoptBlobs makes the folder of a configuration the one that holds the library's
// files, for a change that is intended: a mark is written where there is none, and its
// id recorded. It refuses a folder that lacks files of the library, unless their loss
// is accepted. Running services take the folder up within seconds where their path
// leads to it, and refuse to write to any other.
func AdoptBlobs(ctx context.Context, st *store.Store, cfg Config, actor library.Actor, acceptMissing bool) (BlobStatus, error) {
	status, err := InspectBlobs(ctx, st, cfg)
	if err != nil || status.OK() {
		return status, err
	}
	if status.Missing > 0 && !acceptMissing {
		return status, fmt.Errorf("%s lacks the files of %d of %d assets that were looked for, of %d in the library; nothing was changed. "+
			"Name the folder or bucket that has them by VITRINE_DATA_DIR or VITRINE_BLOBS. If they are lost or come later, repeat with --accept-missing; vitrine verify then lists them",
			status.Path, status.Missing, status.Sampled, status.Assets)
	}
	at, err := cfg.blobLocation()
	if err != nil {
		return status, err
	}
	id, err := at.Mark(ctx)
	if err != nil {
		return status, err
	}
	now, err := st.Files.SetBlobStore(ctx, actor, status.Want, id)
	if err != nil {
		return status, err
	}
	if now != id {
		return status, errors.New("another process has recorded another blob folder meanwhile; look at vitrine blobs status and repeat")
	}
	return InspectBlobs(ctx, st, cfg)
}
