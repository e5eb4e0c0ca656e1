package indexer

import (
	"context"
	"errors"
	"fmt"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// need is what has to be done to the live index as a whole.
type need struct {
	live  string // "" where nothing is to be done
	index surveyedIndex
	why   string
	// renew: the index is of another epoch. What it holds may never have happened, and
	// its versions say nothing, so another one takes its place.
	renew  bool
	wanted indexstate.Wanted // the comparison that was asked for last: a later one is not seen to
	epoch  indexstate.Epoch  // the present one
}

// Complete brings the live index in line with the library where that is needed, and
// then makes it say that it is complete: an index that was just made is filled, one
// that may have missed events is compared, and one of another epoch of the database
// is built anew behind the alias. It returns at once where nothing is to be done, and
// where another process is at it. progress may be nil.
func (x *Indexer) Complete(ctx context.Context, progress func(Progress)) error {
	n, err := x.needs(ctx)
	if err != nil || n.live == "" {
		return err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	err = x.store.IndexState.LockReconcile(ctx, x.def.name(), func() error {
		if n, err = x.needs(ctx); err != nil || n.live == "" { // another process was faster
			return err
		}
		x.log.Warn("reconciling the index with the database; searches are marked incomplete until it is done", "index", n.live, "why", n.why)
		if !n.index.meta.Incomplete {
			n.index.meta.Incomplete = true
			if err := x.setMeta(ctx, n.live, n.index.meta); err != nil {
				return err
			}
		}
		if n.renew {
			return x.renew(ctx, progress)
		}
		return x.complete(ctx, n, progress)
	})
	if errors.Is(err, indexstate.ErrReconcileBusy) {
		return nil
	}
	return err
}

// needs finds out whether the live index as a whole is as it should be.
func (x *Indexer) needs(ctx context.Context) (need, error) {
	generations, v, err := x.surveyIndices(ctx)
	if err != nil {
		return need{}, err
	}
	n := need{live: nameOf(generations, indexstate.GenerationLive)}
	var present bool
	if n.index, present = v.indices[n.live]; !present || n.index.closed {
		return need{}, nil
	}
	if n.epoch, err = x.epoch(ctx, n.index.meta); err != nil {
		return need{}, err
	}
	if n.wanted, err = x.store.IndexState.WantedComparison(ctx); err != nil {
		return need{}, err
	}
	known := ""
	for _, g := range generations {
		if g.Name == n.live {
			known = g.UUID
		}
	}
	meta := n.index.meta
	switch {
	case n.index.isBefore(n.epoch):
		n.why, n.renew = "it is of an earlier time of the database: "+n.epoch.Reason, true
	case meta.Incomplete:
		n.why = "it was made anew, or what it holds is not certain"
	case known != "" && known != n.index.uuid:
		n.why = "somebody else put it there"
	default:
		return need{}, x.mark(ctx, n, known)
	}
	return n, nil
}

// beginWanted sees to a comparison that was asked for: every index says of itself that
// it is incomplete until it was compared. It reports whether there was one.
func (x *Indexer) beginWanted(ctx context.Context) (bool, error) {
	if x.cfg.eventsOnly {
		return false, nil
	}
	w, err := x.store.IndexState.WantedComparison(ctx)
	if err != nil || w.Reason == "" {
		return false, err
	}
	x.log.Warn("the index is to be compared with the library", "why", w.Reason)
	err = x.eachIndex(ctx, func(x *Indexer) error {
		generations, v, err := x.surveyIndices(ctx)
		if err != nil {
			return err
		}
		live := nameOf(generations, indexstate.GenerationLive)
		i, present := v.indices[live]
		if !present {
			return nil // another will be made, and filled
		}
		i.meta.Incomplete = true
		return x.setMeta(ctx, live, i.meta)
	})
	if err != nil {
		return false, err
	}
	return true, x.store.IndexState.ComparisonBegun(ctx, w)
}

// wantedSince reports whether a comparison was asked for after w.
func (x *Indexer) wantedSince(ctx context.Context, w indexstate.Wanted) (bool, error) {
	now, err := x.store.IndexState.WantedComparison(ctx)
	return !now.Since.Equal(w.Since), err
}

// epoch returns the present epoch of the database. A server that has written less than
// the index knows of was set back, and begins another.
func (x *Indexer) epoch(ctx context.Context, meta mappings.Meta) (indexstate.Epoch, error) {
	e, err := x.store.IndexState.Epoch(ctx)
	if err != nil || meta.Epoch != e.ID || meta.WAL <= e.WAL {
		return e, err
	}
	if err := x.store.IndexState.BeginEpoch(ctx, e.ID, "the database server was set back to an earlier time"); err != nil {
		return e, err
	}
	return x.store.IndexState.Epoch(ctx)
}

// markEvery is how much the database server writes between two notes of it in the
// index.
const markEvery = 4 << 20

// mark keeps in the index and in the database what they need to know each other by.
func (x *Indexer) mark(ctx context.Context, n need, known string) error {
	if known == "" { // made by an earlier release, or just now for an empty library
		if err := x.store.Generations.RecordUUID(ctx, n.live, n.index.uuid); err != nil {
			return err
		}
	}
	if n.index.meta.Epoch == n.epoch.ID && n.epoch.WAL-n.index.meta.WAL < markEvery {
		return nil
	}
	return x.setMeta(ctx, n.live, mappings.Meta{Epoch: n.epoch.ID, WAL: n.epoch.WAL})
}

// renew builds the index anew behind the alias.
func (x *Indexer) renew(ctx context.Context, progress func(Progress)) error {
	built, err := x.rebuild(ctx, progress)
	if err != nil && library.AsError(err).Code == library.CodeConflict {
		return nil // another process is building one
	}
	if err != nil {
		return fmt.Errorf("building the index anew: %w", err)
	}
	x.log.Info("another index has taken the place of the one of an earlier time", "index", built.Index, "documents", built.Count, "took", built.Took)
	return errors.Join(x.store.IndexState.Compared(ctx), x.restoreIndexed(ctx))
}

// complete fills and compares an index. One that lacks much is filled first: a
// comparison looks at each missing document three times.
func (x *Indexer) complete(ctx context.Context, n need, progress func(Progress)) error {
	sparse, err := x.sparse(ctx, n.live)
	if err == nil && sparse {
		f := &backfill{x: x, index: n.live, report: func(done, total int64) { progress(Progress{PhaseBackfill, n.live, done, total}) }}
		err = f.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("filling the index %s: %w", n.live, err)
	}
	report, err := x.reconcile(ctx, n.live, func(done, total int64) { progress(Progress{PhaseCompare, n.live, done, total}) })
	if err != nil {
		return fmt.Errorf("comparing the index %s with the library: %w", n.live, err)
	}
	if report.Ahead > 0 {
		return x.setBack(ctx) // the next look builds the index anew
	}
	if err := x.acceptable(ctx, report); err != nil {
		return err
	}
	_, v, err := x.surveyIndices(ctx)
	if err != nil {
		return err
	}
	if v.indices[n.live].uuid != n.index.uuid {
		return errIndexGone
	}
	if again, err := x.wantedSince(ctx, n.wanted); err != nil || again {
		return err // the next look compares once more
	}
	if err := errors.Join(x.store.Generations.RecordUUID(ctx, n.live, n.index.uuid), x.store.IndexState.Compared(ctx),
		x.setMeta(ctx, n.live, mappings.Meta{Epoch: n.epoch.ID, WAL: n.epoch.WAL})); err != nil {
		return err
	}
	if err := x.restoreIndexed(ctx); err != nil {
		return err
	}
	progress(Progress{PhaseDone, n.live, report.Count, report.Count})
	x.log.Info("the index is complete", "index", n.live, "documents", report.Count, "filled", sparse, "repaired", report.Repaired(), "took", report.Took)
	return nil
}

// acceptable fails where documents are missing that the index does not refuse.
func (x *Indexer) acceptable(ctx context.Context, report ReconcileReport) error {
	if report.Remaining == 0 {
		return nil
	}
	refused, _, err := x.store.IndexFailures.Count(ctx, x.def.name())
	if err == nil && report.Remaining > refused {
		err = fmt.Errorf("the index still differs from the library in %d documents after repairs", report.Remaining)
	}
	return err
}

// sparse reports whether an index holds less than half of what the library has.
func (x *Indexer) sparse(ctx context.Context, index string) (bool, error) {
	tenants, err := x.countRows(ctx)
	if err != nil {
		return false, err
	}
	var rows int64
	for _, t := range tenants {
		rows += t.Documents
	}
	have, err := x.countDocuments(ctx, index)
	return 2*have < rows, err
}
