package service

import (
	"context"
	"fmt"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
)

// SweepResult is what a sweep removed.
type SweepResult struct {
	StagedFiles int // uploads that nobody stored
	StagedBytes int64
	OrphanFiles int // committed bytes that no row speaks of
	OrphanBytes int64
	Referenced  int64 // committed files that rows speak of
}

// Limits of a sweep. Bytes without a row come from crashes, so they are few; very
// many mean that this is the wrong database or the wrong folder.
const (
	maxOrphanFiles = 100
	maxOrphanShare = 0.01
)

// orphanAge is when committed bytes without a row are orphans: a row follows its bytes
// within a minute, or never.
const orphanAge = 30 * time.Minute

// SweepOptions say what a sweep removes.
type SweepOptions struct {
	// Age of an upload that nobody stored. Orphans and half written files go after half
	// an hour, or after this when it is less.
	Age time.Duration
	// NoLimit removes orphans however many there are.
	NoLimit bool
}

// TooManyOrphansError reports that a sweep found more orphans than it removes by itself.
type TooManyOrphansError struct {
	Orphans, Files int64 // of so many committed files
	Bytes          int64 // of the orphans
}

// Error reports what an operator can do.
func (e *TooManyOrphansError) Error() string {
	return fmt.Sprintf("%d of %d files (%d bytes) have no asset in the database; nothing was removed, because this is probably the wrong database or the wrong folder. "+
		"Check VITRINE_POSTGRES_URL, VITRINE_DATA_DIR and VITRINE_BLOBS. If these files are to be removed, run: vitrine sweep --no-limit", e.Orphans, e.Files, e.Bytes)
}

// Sweep removes what crashes left behind: staged uploads, and bytes whose row was
// never written. Young files are spared, since an upload under way has bytes before it
// has a row. It never removes a row. Unless told otherwise it refuses, with a
// *TooManyOrphansError, when it would remove more than 100 files and more than a
// hundredth of all.
func (s *Service) Sweep(ctx context.Context, opt SweepOptions) (SweepResult, error) {
	var out SweepResult
	var err error
	if err = s.Blobs.Check(ctx); err != nil {
		return out, err
	}
	if out.StagedFiles, out.StagedBytes, err = s.Blobs.SweepStaged(ctx, opt.Age); err != nil {
		return out, err
	}
	before := time.Now().Add(-min(opt.Age, orphanAge))
	orphans, err := s.findOrphans(ctx, before, &out)
	if err != nil {
		return out, err
	}
	if n := len(orphans); !opt.NoLimit && n > maxOrphanFiles && float64(n) > maxOrphanShare*float64(out.Referenced) {
		many := &TooManyOrphansError{Orphans: int64(n), Files: int64(n) + out.Referenced}
		for _, e := range orphans {
			many.Bytes += e.Size
		}
		return out, many
	}
	for _, e := range orphans {
		if err := s.removeOrphan(ctx, e, before, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// findOrphans lists old committed files without a row.
func (s *Service) findOrphans(ctx context.Context, before time.Time, out *SweepResult) ([]blob.Entry, error) {
	var orphans, batch []blob.Entry
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		have, err := s.Store.Assets.ExistingOrTrashed(ctx, batch[0].Tenant, hashesOf(batch))
		if err != nil {
			return err
		}
		for _, e := range batch {
			if have[e.Hash] {
				out.Referenced++
			} else {
				orphans = append(orphans, e)
			}
		}
		batch = batch[:0]
		return nil
	}
	err := s.Blobs.Walk(ctx, func(e blob.Entry) error {
		if e.ModTime.After(before) {
			out.Referenced++
			return nil
		}
		if len(batch) == 500 || len(batch) > 0 && batch[0].Tenant != e.Tenant {
			if err := flush(); err != nil {
				return err
			}
		}
		batch = append(batch, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return orphans, flush()
}

// removeOrphan looks once more: an upload of the same bytes may have come meanwhile.
func (s *Service) removeOrphan(ctx context.Context, e blob.Entry, before time.Time, out *SweepResult) error {
	have, err := s.Store.Assets.ExistingOrTrashed(ctx, e.Tenant, []library.AssetHash{e.Hash})
	if err != nil || have[e.Hash] {
		return err
	}
	if gone, err := s.Blobs.RemoveLost(ctx, e.Tenant, e.Hash, before); err != nil || !gone {
		return err
	}
	out.OrphanFiles++
	out.OrphanBytes += e.Size
	return nil
}

func hashesOf(list []blob.Entry) []library.AssetHash {
	out := make([]library.AssetHash, len(list))
	for i, e := range list {
		out[i] = e.Hash
	}
	return out
}
