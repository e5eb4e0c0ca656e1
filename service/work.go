package service

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/automation"
	"vitrine/events"
	"vitrine/internal/panics"
	"vitrine/library"
	"vitrine/op/assets"
	"vitrine/store"
)

// work is the role of what can wait: background jobs, sweeping up after crashes, checking
// files, and comparing the index with the database.
func (s *Service) work(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Jobs.Run(ctx) })
	g.Go(func() error {
		return events.Run(ctx, s.Store, events.Config{Prefix: s.cfg.Prefix, Brokers: s.cfg.Brokers, Partitions: s.cfg.Partitions, Security: s.cfg.KafkaSecurity, Log: s.log}, s.figures,
			events.Subscriber{Name: automation.RuleSubscriber, FromStart: true, Handle: s.Rules.Handle},
			events.Subscriber{Name: automation.WebhookSubscriber, FromStart: true, Handle: s.Deliverer.Handle})
	})
	g.Go(func() error { return s.Rules.Run(ctx) })
	g.Go(func() error { return s.imports(ctx) })
	g.Go(func() error { return s.Deliverer.Run(ctx) })
	g.Go(func() error { return s.every(ctx, s.cfg.SweepEvery, s.sweep) })
	if s.cfg.ScrubRate > 0 {
		g.Go(func() error { return s.every(ctx, scrubTick, s.scrub) })
	}
	g.Go(func() error { return s.every(ctx, s.cfg.ReconcileEvery, s.reconcile) })
	g.Go(func() error { return s.every(ctx, s.cfg.SweepEvery, s.expire) })
	g.Go(func() error { return s.every(ctx, s.cfg.SweepEvery, s.purge) })
	if s.cfg.Backups.To != "" {
		g.Go(func() error { return s.every(ctx, backupTick, s.backUp) })
	}
	g.Go(func() error { return s.every(ctx, fingerprintEvery, s.BackfillPreviews) })
	g.Go(func() error { return s.every(ctx, reindexTick, s.reindexCollections) })
	g.Go(func() error {
		s.resumeRuns(ctx) // those of a process that is started again need not wait for the first tick
		return s.every(ctx, stalledTick, s.resumeRuns)
	})
	g.Go(func() error {
		s.resumeExports(ctx)
		return s.every(ctx, stalledTick, s.resumeExports)
	})
	g.Go(func() error { return s.every(ctx, reindexTick, s.checkDuplicates) })
	return g.Wait()
}

// every does something again and again until ctx ends.
func (s *Service) every(ctx context.Context, every time.Duration, do func(context.Context)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := panics.Try(func() error { do(ctx); return nil }); err != nil {
				s.log.Error("a periodic task failed; it runs again at its next interval", "error", err)
			}
		}
	}
}

// sweep takes away what crashes have left.
func (s *Service) sweep(ctx context.Context) {
	got, err := s.Sweep(ctx, SweepOptions{Age: s.cfg.SweepAge})
	switch {
	case err != nil:
		s.log.Warn("the sweep failed", "error", err)
	case got.StagedFiles+got.OrphanFiles > 0:
		s.log.Info("sweep removed files", "staged", got.StagedFiles, "staged_bytes", got.StagedBytes, "orphans", got.OrphanFiles, "orphan_bytes", got.OrphanBytes)
	}
	if n, err := s.transfers.SweepUploads(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("expired uploads could not be dropped", "dropped", n, "error", err)
	}
	if _, err := s.Indexer.PurgeTombstones(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("old tombstones could not be purged", "error", err)
	}
}

// forgetPage is how many old webhook deliveries are deleted at once.
const forgetPage = 5000

// expire deletes operations that can no longer be undone, old responses, and what the audit
// trail need not keep.
func (s *Service) expire(ctx context.Context) {
	s.forgetRules(ctx)
	s.forgetDeliveries(ctx)
	got, err := s.Store.Expire(ctx, s.cfg.Retention)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn("old operations or months of the audit trail could not be deleted", "error", err)
	case got != (store.Expired{}):
		s.log.Info("old operations were deleted", "operations", got.Operations, "collections", got.Collections, "responses", got.Responses, "audit_rows", got.AuditRows, "audit_months", got.Months)
	}
}

// forgetDeliveries deletes old deliveries of webhooks from their log.
func (s *Service) forgetDeliveries(ctx context.Context) {
	for {
		n, err := s.Store.Webhooks.Forget(ctx, forgetPage)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("old webhook deliveries could not be deleted", "error", err)
		}
		if err != nil || n < forgetPage {
			return
		}
	}
}

// purger is who purges what has been in the trash for long enough.
var purger = library.Actor{Kind: library.ActorSystem, ID: "service"}

// purgePage is how many assets of the trash are looked at at once.
const purgePage = 1000

// purge deletes what has been in the trash for long enough. What a snapshot holds stays.
func (s *Service) purge(ctx context.Context) {
	if s.cfg.TrashFor <= 0 {
		return
	}
	n, bytes, err := s.PurgeDue(ctx, time.Now().Add(-s.cfg.TrashFor))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn("the trash could not be purged; it is tried again", "purged", n, "error", err)
	case n > 0:
		s.log.Info("assets were purged from the trash", "assets", n, "bytes", bytes)
	}
}

// PurgeDue purges, in all tenants, assets that were moved to the trash before a time and
// that nothing refers to. It returns how many, and the size of their files.
func (s *Service) PurgeDue(ctx context.Context, before time.Time) (n, bytes int64, err error) {
	var after library.AssetKey
	for {
		due, err := s.Store.Trash.Due(ctx, before, after, purgePage)
		if err != nil || len(due) == 0 {
			return n, bytes, err
		}
		after = due[len(due)-1]
		for len(due) > 0 {
			tenant := due[0].Tenant
			var hashes []library.AssetHash
			for len(due) > 0 && due[0].Tenant == tenant {
				hashes, due = append(hashes, due[0].Hash), due[1:]
			}
			actor := purger
			actor.Tenant = tenant
			done, err := assets.Purge(ctx, s.Store, s.Blobs, actor, hashes, store.PurgeOptions{Before: before})
			for _, f := range done.Purged {
				n++
				bytes += f.Size
			}
			if err != nil {
				return n, bytes, err
			}
		}
	}
}

// reindexTick is how often the worker looks for collections that were moved with many
// assets.
const reindexTick = time.Second

// reindexCollections lets the index follow changes of collections with many assets.
func (s *Service) reindexCollections(ctx context.Context) {
	n, err := s.Store.Collections.ReindexQueued(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn("collections wait for the index; it is tried again", "error", err)
	case n > 0:
		s.log.Info("collections were handed to the index", "items", n)
	}
}

// reconcile mends whatever kept the index from following the database: an index
// restored from a copy, a topic that somebody deleted. There should be nothing.
func (s *Service) reconcile(ctx context.Context) {
	got, err := s.Indexer.Reconcile(ctx, nil)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.Warn("reconciling the index failed", "error", err)
	case got.Repaired()+got.Remaining > 0:
		s.log.Warn("reconciliation found differences between index and database", "missing", got.Missing, "stale", got.Stale, "orphans", got.Orphans, "ahead", got.Ahead, "remaining", got.Remaining)
	default:
		s.log.Info("reconciliation found no differences", "documents", got.Count, "took", got.Took)
	}
}
