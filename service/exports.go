package service

import (
	"context"
	"sync"
	"time"

	"vitrine/export"
	"vitrine/jobs"
	"vitrine/media/browser"
	"vitrine/media/memory"
	"vitrine/media/strip"
	"vitrine/publish"
	"vitrine/store"
)

// exportLimit is how long the job of one export may run.
const exportLimit = 6 * time.Hour

// addExports adds the job that writes zips and decks.
func (s *Service) addExports(budget *memory.Budget) {
	s.exports = &export.Builder{Store: s.Store, Blobs: s.Blobs, Memory: budget, Preview: s.Previews.Picture}
	s.site = publish.New(s.Store, s.Blobs, s.exports, s.Previews, publish.Config{Base: s.cfg.PublicURL, Key: s.cfg.SigningKey, TrustProxy: s.cfg.TrustHost})
	able := sync.OnceValue(func() bool { return s.Previews.FFmpeg().CanEncodeWebP(context.Background()) })
	s.exports.WebP = func() strip.WebPEncoder {
		if f := s.Previews.FFmpeg(); f != nil && able() {
			return f.WebP
		}
		return nil
	}
	s.exports.Browser = sync.OnceValues(func() (*browser.Browser, error) { return browser.Find(context.Background(), s.cfg.Chromium) }) // few decks need it, and finding it runs it
	jobs.HandleFor(s.Jobs, exportLimit, func(ctx context.Context, j store.ExportJob) error { return s.exports.Build(ctx, j.Tenant, j.Export) })
}

// resumeExports enqueues the exports that nobody works on: of processes that were killed.
func (s *Service) resumeExports(ctx context.Context) {
	list, err := s.Store.Exports.Stalled(ctx, stalledAfter, 100)
	for _, j := range list {
		if err == nil {
			err = s.Store.Exports.Resume(ctx, j)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("exports that stalled could not be resumed; it is tried again", "error", err)
	}
}
