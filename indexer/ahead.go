package indexer

import (
	"context"

	"vitrine/internal/retry"
	"vitrine/store/indexstate"
)

// A document that is newer than its asset is proof that the database went back in
// time, whatever else was not noticed of it: documents are made of committed rows. Then
// versions say nothing any more. A row that was changed since has a version that the
// index knows of another past, and a change of it would be taken for an old one.

// noteAhead looks at documents that the index refused because it has newer ones. Most
// of them somebody else has just written.
func (x *Indexer) noteAhead(ctx context.Context, b *batch) error {
	newest := map[indexstate.DocumentKey]int64{}
	var keys []indexstate.DocumentKey
	for i := range b.items {
		if it := &b.items[i]; it.newest > it.version {
			newest[it.row.DocumentKey] = it.newest
			keys = append(keys, it.row.DocumentKey)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return retry.UntilDone(ctx, func(ctx context.Context) error {
		rows, _, err := b.def.Read(ctx, keys)
		if err != nil {
			return err
		}
		for i := range rows {
			if v := rows[i].Version; v > 0 && v < newest[rows[i].DocumentKey] {
				return x.setBack(ctx)
			}
		}
		return nil
	}, func(err error) {
		x.log.Warn("rows that are older than their documents could not be read; trying again", "error", err)
	})
}

// setBack begins a new epoch of the database because the index knows what the database
// does not, unless that is known already. The guard then builds the index anew.
func (x *Indexer) setBack(ctx context.Context) error {
	e, err := x.store.IndexState.Epoch(ctx)
	if err != nil {
		return err
	}
	known := false
	err = x.eachIndex(ctx, func(x *Indexer) error {
		generations, v, err := x.surveyIndices(ctx)
		known = known || v.indices[nameOf(generations, indexstate.GenerationLive)].isBefore(e)
		return err
	})
	if err != nil || known {
		return err
	}
	x.log.Error("the index has newer documents than the database has assets: the database was set back to an earlier time; the index is built anew")
	if err := x.store.IndexState.BeginEpoch(ctx, e.ID, "the index had newer documents than the database had assets"); err != nil {
		return err
	}
	x.guard.trigger()
	return nil
}
