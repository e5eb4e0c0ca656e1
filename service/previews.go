package service

import (
	"context"
	"errors"
	"time"

	"vitrine/jobs"
	"vitrine/library"
	"vitrine/media/memory"
	"vitrine/media/preview"
	"vitrine/store"
)

// previewsLater is when a preview is tried again that had no memory to be decoded in.
const previewsLater = 10 * time.Second

// makePreview makes the thumbnail of an asset that was stored. Files of which none can be
// made are marked, and not tried again; most kinds of file have none and need no mark. A
// request makes what was not made here.
func (s *Service) makePreview(ctx context.Context, j store.PreviewJob) error {
	placeholder, err := s.Previews.Placeholder(ctx, j.Tenant, j.Asset)
	var large *preview.TooLargeError
	switch {
	case err == nil:
		if err := s.Store.Previews.SetPlaceholder(ctx, j.Tenant, j.Asset, placeholder); err != nil {
			return err
		}
		return s.dropOrphan(ctx, j)
	case errors.Is(err, preview.ErrUnsupported), errors.Is(err, preview.ErrNoFFmpeg):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, memory.ErrBusy):
		return jobs.Later(previewsLater)
	case errors.Is(err, preview.ErrDamaged), errors.As(err, &large):
		s.log.Warn("no preview can be made of a file", "asset", j.Asset, "error", err)
		f := store.PreviewFailure{Code: store.PreviewDamaged, Reason: library.AsError(err).Detail}
		if large != nil {
			f.Code = store.PreviewTooLarge
		}
		return s.Store.PreviewFailures.Record(ctx, j.Tenant, j.Asset, f)
	}
	if _, stored, failed := s.Store.Files.Get(ctx, j.Tenant, j.Asset); failed == nil && !stored {
		return nil // it was removed meanwhile
	}
	return err
}

// dropOrphan removes the preview of an asset that was purged while it was made.
func (s *Service) dropOrphan(ctx context.Context, j store.PreviewJob) error {
	_, stored, err := s.Store.Files.Get(ctx, j.Tenant, j.Asset)
	if err != nil || stored {
		return err
	}
	return s.Blobs.DropDerived(ctx, j.Tenant, j.Asset)
}
