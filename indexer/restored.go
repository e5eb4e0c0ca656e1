package indexer

import (
	"context"
	"slices"

	"vitrine/store/indexstate"
)

// An index may be ahead of a database that was restored from a backup: it holds what
// happened after the backup, under versions that the database will give again. So a
// restore forgets which index there was, a new one is made and filled from what was
// restored, and only then the old ones are deleted.

// restored reports whether the database was restored and has had no index since.
func (x *Indexer) restored(ctx context.Context, live string) (bool, error) {
	if live != "" {
		return false, nil
	}
	return x.store.IndexState.RestoreToIndex(ctx)
}

// restoreIndexed ends a restore once every index agrees with the database: those that the
// database does not know are deleted.
func (x *Indexer) restoreIndexed(ctx context.Context) error {
	waiting, err := x.store.IndexState.RestoreToIndex(ctx)
	if err != nil || !waiting {
		return err
	}
	if ready, err := x.allRestored(ctx); err != nil || !ready {
		return err
	}
	if err := x.eachIndex(ctx, func(x *Indexer) error { return x.deleteUnknown(ctx) }); err != nil {
		return err
	}
	x.log.Info("the indices agree with the restored database")
	return x.store.IndexState.RestoreIndexed(ctx)
}

// deleteUnknown deletes the indices of this one's names that the database does not know.
func (x *Indexer) deleteUnknown(ctx context.Context) error {
	return x.locked(ctx, func(func(context.Context) bool) error {
		generations, v, err := x.surveyIndices(ctx)
		if err != nil {
			return err
		}
		known := map[string]bool{v.searched(): true}
		for _, g := range generations {
			known[g.Name] = true
		}
		for name := range v.indices {
			if known[name] {
				continue
			}
			x.log.Info("deleting an index from before the restore", "index", name)
			if err := x.deleteIndex(ctx, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// allRestored reports whether every definition has an index that was filled after the
// restore: until then one without would take the index that it had before.
func (x *Indexer) allRestored(ctx context.Context) (bool, error) {
	generations, err := x.store.Generations.List(ctx)
	for _, d := range x.definitions {
		if !slices.ContainsFunc(generations, func(g indexstate.Generation) bool {
			return g.Index == d.name() && g.Scope == "" && g.State == indexstate.GenerationLive && g.UUID != ""
		}) {
			return false, err
		}
	}
	return true, err
}

// recordLiveUUID records which index the live generation is.
func (x *Indexer) recordLiveUUID(ctx context.Context, name string) error {
	v, err := x.survey(ctx)
	if err != nil {
		return err
	}
	return x.store.Generations.RecordUUID(ctx, name, v.indices[name].uuid)
}
