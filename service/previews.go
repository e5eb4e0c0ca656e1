package service

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"vitrine/jobs"
	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/gltf"
	"vitrine/media/memory"
	"vitrine/media/phash"
	"vitrine/media/preview"
	"vitrine/store"
)

// previewsLater is when a preview is tried again that had no memory to be decoded in.
const previewsLater = 10 * time.Second

// importPatience is how long the job of a preview waits for an import that reads files. Some
// previews are made even while a very large folder is imported.
const importPatience = 4 * time.Second

// previewJob makes the preview of an asset that was stored. It leaves the processors to an
// import that is under way: what is imported can be searched sooner, and a preview that
// somebody looks for is made when it is asked for.
func (s *Service) previewJob(ctx context.Context, j store.PreviewJob) error {
	s.Imports.AwaitRead(ctx, importPatience)
	return s.makePreview(ctx, j)
}

// makePreview makes the thumbnail of an asset that was stored. Files of which none can be
// made are marked, and not tried again; most kinds of file have none and need no mark. A
// request makes what was not made here.
func (s *Service) makePreview(ctx context.Context, j store.PreviewJob) error {
	thumbnail, err := s.Previews.Thumbnail(ctx, j.Tenant, j.Asset)
	var large *preview.TooLargeError
	switch {
	case err == nil:
		var alike *uint64 // nothing without contrast
		if hash, ok := phash.Of(thumbnail); ok {
			alike = (*uint64)(&hash)
		}
		return s.keepPreview(ctx, j, preview.Placeholder(thumbnail), alike)
	case errors.Is(err, preview.ErrNoFFmpeg), errors.Is(err, preview.ErrNoVips):
		return nil
	case errors.Is(err, preview.ErrUnsupported):
		return s.keepPreview(ctx, j, nil, nil)
	case errors.Is(err, gltf.ErrNothing):
		s.log.Info("no picture can be drawn of a 3D model", "asset", j.Asset, "error", err)
		return errors.Join(s.Store.PreviewFailures.Record(ctx, j.Tenant, j.Asset, store.PreviewFailure{Code: store.PreviewNoRenderer, Reason: library.AsError(err).Detail}), s.describeModel(ctx, j))
	case isCode(err, library.CodeFileMissing), isCode(err, library.CodeFileDamaged):
		return nil // of a file that is referenced in place: it is marked, and a request makes the preview when it is back
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

// keepPreview keeps what was learned of an asset's thumbnail; of a video also what its file
// says of it.
func (s *Service) keepPreview(ctx context.Context, j store.PreviewJob, placeholder []byte, alike *uint64) error {
	mime, stored, err := s.Store.Previews.Set(ctx, j.Tenant, j.Asset, placeholder, alike)
	switch {
	case err != nil:
		return err
	case !stored: // it was purged while the thumbnail was made
		return s.Blobs.DropDerived(ctx, j.Tenant, j.Asset)
	case strings.HasPrefix(mime, "video/"):
		return errors.Join(s.describeVideo(ctx, j), s.dropOrphan(ctx, j))
	case strings.HasPrefix(mime, "model/"):
		return errors.Join(s.describeModel(ctx, j), s.dropOrphan(ctx, j))
	}
	return nil
}

// dropOrphan removes the pictures of an asset that was purged while they were made.
func (s *Service) dropOrphan(ctx context.Context, j store.PreviewJob) error {
	_, stored, err := s.Store.Files.Get(ctx, j.Tenant, j.Asset)
	if err != nil || stored {
		return err
	}
	return s.Blobs.DropDerived(ctx, j.Tenant, j.Asset)
}

// describeModel keeps what the file of a 3D model says of it.
func (s *Service) describeModel(ctx context.Context, j store.PreviewJob) error {
	facts, err := s.Previews.ModelFacts(ctx, j.Tenant, j.Asset)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, memory.ErrBusy):
		return jobs.Later(previewsLater)
	}
	// A file that cannot be read is not read again: it says nothing.
	if err != nil || facts == nil {
		facts = &gltf.Facts{}
	}
	return s.Store.Previews.SetModel(ctx, j.Tenant, j.Asset, *facts)
}

// describeVideo keeps how a video is coded, and its storyboard.
func (s *Service) describeVideo(ctx context.Context, j store.PreviewJob) error {
	object, err := s.Blobs.Open(ctx, j.Tenant, j.Asset)
	if err != nil {
		return err
	}
	defer object.Close()
	said, err := container.Read(object, object.Size())
	if err != nil || !strings.HasPrefix(said.MIME, "video/") {
		return err
	}
	facts := store.VideoFacts{FPS: math.Round(said.FPS*1000) / 1000, Frames: said.Frames, Codec: said.Codec, AudioCodec: said.AudioCodec}
	if _, _, err := s.Previews.Storyboard(ctx, j.Tenant, j.Asset, time.Duration(said.DurationMS)*time.Millisecond); err == nil {
		facts.Storyboard = true
	} else if ctx.Err() != nil {
		return ctx.Err()
	}
	return s.Store.Previews.SetVideo(ctx, j.Tenant, j.Asset, facts)
}

// Assets that were stored by versions which made no perceptual hashes or placeholders get
// theirs in pages.
const (
	fingerprintEvery = 10 * time.Minute
	fingerprintPage  = 200
)

// BackfillPreviews makes the thumbnails, placeholders and perceptual hashes that are missing.
func (s *Service) BackfillPreviews(ctx context.Context) {
	kinds, except := []string{"image/%", "model/gltf-binary"}, []string{}
	if s.Previews.Vips() == nil {
		except = preview.VipsTypes
	}
	if s.Previews.FFmpeg() != nil {
		kinds = append(kinds, "video/%")
	}
	var after library.AssetKey
	for made := 0; ; {
		list, err := s.Store.Fingerprints.Missing(ctx, kinds, except, after, fingerprintPage)
		if err != nil || len(list) == 0 {
			if made > 0 {
				s.log.Info("previews of older assets were made", "assets", made)
			}
			return
		}
		for _, k := range list {
			err := s.makePreview(ctx, store.PreviewJob{Tenant: k.Tenant, Asset: k.Hash})
			if ctx.Err() != nil || jobs.IsLater(err) {
				return
			}
			if err != nil { // such as a file that is missing: it is not to hold up the others
				s.log.Warn("a preview of an older asset could not be made; it is tried again", "asset", k.Hash, "error", err)
				continue
			}
			made++
		}
		after = list[len(list)-1]
	}
}

// checkDuplicates keeps up with which assets look alike. In a large library a check reads
// many hashes, so it rests for some times as long as it took.
func (s *Service) checkDuplicates(ctx context.Context) {
	began := time.Now()
	n, err := s.Store.Duplicates.CheckQueued(ctx)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("duplicates could not be found; it is tried again", "error", err)
	}
	if n == 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Since(began)):
	}
}
