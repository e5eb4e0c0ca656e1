package indexer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"

	"vitrine/embed"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/store/indexstate"
)

// ensureModel makes every index one of this release's mapping and of the configured embedder,
// once: where a live index has an earlier mapping, or vectors of another
// configuration, or none, it is rebuilt behind the alias. It looks only at its start, so that of two processes with different
// settings the one that started last decides, and they do not take turns.
func (x *Indexer) ensureModel(ctx context.Context) {
	_ = retry.UntilDone(ctx, func(ctx context.Context) error {
		if err := x.eachShared(ctx, func(x *Indexer) error { return x.ensureModelOf(ctx) }); err != nil {
			return err
		}
		return x.deleteUnusedEmbeddings(ctx)
	}, func(err error) {
		level := slog.LevelWarn
		if library.AsError(err).Code == library.CodeConflict { // another process is rebuilding, for hours perhaps
			level = slog.LevelDebug
		}
		x.log.Log(ctx, level, "the index is not rebuilt for this release's mapping and embedding configuration yet; trying again", "error", err)
	})
}

// ensureModelOf is ensureModel for the indices of the definition.
func (x *Indexer) ensureModelOf(ctx context.Context) error {
	if done, err := x.hasModelVectors(ctx); err != nil || done {
		return err
	}
	x.log.Info("rebuilding the index for another mapping or embedding configuration; searches go on", "index", x.def.name(), "version", x.def.Index.Version, "embedding", x.vectors.configuration())
	rebuilt, err := x.rebuildAll(ctx, nil)
	if err != nil {
		return err
	}
	if ours, err := x.hasModelVectors(ctx); !ours { // it completed a rebuild that was begun under other settings
		return cmp.Or(err, errOtherModel)
	}
	x.log.Info("the index has this release's mapping and vectors of the embedding configuration", "index", rebuilt.Index, "documents", rebuilt.Count, "took", rebuilt.Took)
	return nil
}

var errOtherModel = errors.New("the index has another mapping, or vectors of another embedding configuration")

// hasModelVectors reports whether the live indices of the definition have this release's mapping, and vectors of
// the configured embedder where there is one.
func (x *Indexer) hasModelVectors(ctx context.Context) (bool, error) {
	generations, err := x.store.Generations.List(ctx)
	any := false
	for _, g := range generations {
		if g.Index != x.def.name() || g.State != indexstate.GenerationLive {
			continue
		}
		version, _, _ := x.scoped(g.Scope).names.Parse(g.Name)
		if version != x.def.Index.Version || x.vectors != nil && g.Embedding != x.vectors.configuration() {
			return false, err
		}
		any = true
	}
	return any, err
}

// deleteUnusedEmbeddings drops what is kept of configurations that no index uses.
func (x *Indexer) deleteUnusedEmbeddings(ctx context.Context) error {
	if x.vectors == nil {
		return nil
	}
	n, err := x.store.Embeddings.DeleteUnused(ctx, x.vectors.configuration())
	if n > 0 {
		x.log.Info("deleted the vectors of unused embedding configurations", "texts", n)
	}
	return err
}

// embedMissing makes the vectors that the index being built still lacks. When the
// embedder is away it leaves the rest to the backfill: searches by words should not
// wait for it.
func (c *reindex) embedMissing(ctx context.Context) error {
	if c.x.vectors == nil {
		return nil
	}
	if configuration, err := c.x.vectors.configurationOf(ctx, c.next); err != nil || configuration != c.x.vectors.configuration() {
		return err // going back to an index of another configuration
	}
	if err := c.x.refresh(ctx, c.next); err != nil {
		return err
	}
	err := c.x.embeddingBackfill.backfillIndex(ctx, c.x.def, c.next, func(done, total int64) { c.report(Progress{PhaseEmbed, c.next, done, total}) })
	if err != nil && library.AsError(err).Code == embed.CodeUnavailable {
		c.x.log.Warn("the embedding backend is unavailable; the new index is used without some vectors, which are backfilled later", "error", err)
		return nil
	}
	return err
}
