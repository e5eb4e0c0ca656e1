package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/preview"
	"vitrine/store"
)

// MoveOptions tune MoveBlobs.
type MoveOptions struct {
	// AcceptMissing moves the library although files of it are missing or damaged where they
	// are now; these are not copied.
	AcceptMissing bool
	// Stopped is promised by who knows that no service runs: none is waited for.
	Stopped bool
	// Progress is told often how many bytes of how many have been looked at.
	Progress func(what string, done, total int64)
}

// Moved is what MoveBlobs did.
type Moved struct {
	From    string `json:"from"`
	To      string `json:"to"`
	StoreID string `json:"store_id"` // of the new place
	Files   int64  `json:"files"`    // of the library
	Copied  int64  `json:"copied"`   // by this run; the others were there already
	Bytes   int64  `json:"bytes"`    // of those copied
	Missing int64  `json:"missing"`  // files that are missing or damaged where they were
}

// noticed is when every service that runs has learned that the library was moved.
const noticed = 2*watchEvery + time.Second

// MoveBlobs copies the files of a library to another place and makes that the library's.
// The place where they were keeps what it has.
//
// Each file is hashed while it is copied, and is at the new place whole or not at all. A
// run that was interrupted is repeated: it copies what is not there yet. Services may run
// meanwhile; once the new place is the library's they refuse to read and store files
// until they are started with its name, and what they stored until then follows.
func MoveBlobs(ctx context.Context, st *store.Store, cfg Config, to blob.Location, actor library.Actor, opt MoveOptions) (Moved, error) {
	m := &move{st: st, opt: opt}
	if err := m.open(ctx, cfg, to); err != nil {
		return m.out, err
	}
	defer m.from.Close()
	defer m.to.Close()
	want, err := st.Files.BlobStore(ctx)
	if err != nil {
		return m.out, err
	}
	if want != m.to.ID() { // else a run was interrupted after it recorded the new place
		if err := m.pass(ctx, "copying"); err != nil {
			return m.out, err
		}
		if m.out.Missing > 0 && !opt.AcceptMissing {
			return m.out, fmt.Errorf("%d files are missing or damaged at %s, and the library was not moved; import the originals again, or repeat with --accept-missing. vitrine verify --hash full lists them",
				m.out.Missing, m.out.From)
		}
		now, err := st.Files.SetBlobStore(ctx, actor, want, m.to.ID())
		if err != nil {
			return m.out, err
		}
		if now != m.to.ID() {
			return m.out, errors.New("another process has recorded another place for the files meanwhile; look at vitrine blobs status and repeat")
		}
	}
	if opt.Stopped {
		return m.out, nil
	}
	if opt.Progress != nil {
		opt.Progress("waiting for services to notice", 0, 0)
	}
	if err := retry.Sleep(ctx, noticed); err != nil {
		return m.out, err
	}
	return m.out, m.pass(ctx, "copying what came last")
}

// move is one run of MoveBlobs.
type move struct {
	st       *store.Store
	from, to blob.Place
	opt      MoveOptions

	mu   sync.Mutex
	out  Moved
	seen int64 // bytes looked at in this pass
}

// open opens both places. The one before is that of the configuration, of the id that it
// has: after an interrupted run it is not the library's any more.
func (m *move) open(ctx context.Context, cfg Config, to blob.Location) error {
	at, err := cfg.blobLocation()
	if err != nil {
		return err
	}
	want, err := m.st.Files.BlobStore(ctx)
	if err != nil {
		return err
	}
	source, err := at.Inspect(ctx)
	if err != nil {
		return unreached(err)
	}
	target, err := to.Inspect(ctx)
	if err != nil {
		return unreached(err)
	}
	switch {
	case source.ID == "" || want != source.ID && (want == "" || want != target.ID):
		return &blob.FolderError{Folder: source, Want: want}
	case source.ID == target.ID:
		return fmt.Errorf("%s and %s are the same place, or one is a copy of the other with its mark; there is nothing to move", at, to)
	}
	id, err := to.Mark(ctx)
	if err != nil {
		return err
	}
	m.out.From, m.out.To, m.out.StoreID = at.String(), to.String(), id
	if m.from, err = at.Open(ctx, source.ID); err != nil {
		return err
	}
	if m.to, err = to.Open(ctx, id); err != nil {
		return errors.Join(err, m.from.Close())
	}
	return nil
}

// Numbers of a pass: files asked of the database at once, and copied at once.
const (
	moveBatch    = 500
	moveParallel = 8
)

// pass copies every file of the library that the new place lacks.
func (m *move) pass(ctx context.Context, what string) error {
	files, total, err := m.st.Files.Count(ctx, library.AssetKey{})
	if err != nil {
		return err
	}
	m.out.Files, m.out.Missing, m.seen = files, 0, 0
	for last := (library.AssetKey{}); ; {
		batch, err := m.st.Files.List(ctx, last, moveBatch)
		if err != nil || len(batch) == 0 {
			return err
		}
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(moveParallel)
		for _, f := range batch {
			if f.InPlace { // it stays where it lies
				continue
			}
			g.Go(func() error {
				if err := m.file(gctx, f); err != nil {
					return fmt.Errorf("asset %s of tenant %s: %w", f.Hash, f.Tenant, err)
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				if m.seen += f.Size; m.opt.Progress != nil {
					m.opt.Progress(what, m.seen, total)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		last = batch[len(batch)-1].AssetKey
	}
}

// file copies one file unless the new place has it at its size: there it was hashed before
// it got its name. The poster of a 3D model comes first, since a file that is there is not
// looked at again.
func (m *move) file(ctx context.Context, f store.StoredBytes) error {
	if size, err := m.to.Size(ctx, f.Tenant, f.Hash); err == nil && size == f.Size {
		return nil
	} else if err != nil && library.AsError(err).Kind != library.KindNotFound {
		return err
	}
	from, err := m.from.Open(ctx, f.Tenant, f.Hash)
	if err != nil && library.AsError(err).Kind == library.KindNotFound {
		m.lacks()
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	if err := m.poster(ctx, f); err != nil {
		return err
	}
	return m.copy(ctx, f, from)
}

func (m *move) copy(ctx context.Context, f store.StoredBytes, from blob.Object) error {
	id := blob.NewStagingID()
	got, err := m.to.Stage(ctx, f.Tenant, id, io.NewSectionReader(from, 0, from.Size()), math.MaxInt64-1)
	if isCode(err, library.CodeEmptyFile) {
		m.lacks()
		return nil
	}
	if err != nil {
		return err
	}
	if got.SHA1 != f.Hash || got.SHA256 != f.SHA256 {
		m.lacks()
		return m.to.Discard(ctx, f.Tenant, id)
	}
	if err := m.to.Commit(ctx, f.Tenant, id, f.Hash); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out.Copied++
	m.out.Bytes += got.Size
	return nil
}

func (m *move) lacks() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out.Missing++
}

// poster copies the poster that somebody sent for a 3D model; previews are made again.
func (m *move) poster(ctx context.Context, f store.StoredBytes) error {
	data, err := m.from.GetDerived(ctx, f.Tenant, f.Hash, preview.PosterName)
	if err != nil {
		if library.AsError(err).Kind == library.KindNotFound {
			return nil
		}
		return err
	}
	return m.to.PutDerived(ctx, f.Tenant, f.Hash, preview.PosterName, data)
}
