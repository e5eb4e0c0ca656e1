package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// Phases of a rebuild, in order.
const (
	PhaseBackfill = "backfill" // documents of all assets are written into the new index
	PhaseCompare  = "compare"  // library and new index are compared, differences repaired
	PhaseEmbed    = "embed"    // vectors that the new index still lacks are made
	PhaseSwap     = "swap"     // searches are moved over
	PhaseDone     = "done"
)

// Progress is how far a rebuild is.
type Progress struct {
	Phase string
	Index string // the index being built
	Done  int64  // documents written, or compared
	Total int64  // assets when the phase began; writes go on meanwhile
}

// RebuildResult is what a rebuild ended with.
type RebuildResult struct {
	Index    string // searched now
	Replaced string // kept, to go back to
	Documents
	Repaired int64 // differences the comparison found and mended
	Took     time.Duration
}

// Documents sums up what library and index agree on.
type Documents struct {
	Count    int64  `json:"documents"`
	Checksum uint64 `json:"-"` // over tenant, asset and version of each document, in any order
}

// refreshInterval is what the mapping sets for an index that is searched.
const refreshInterval = "1s"

// keepRetired is how many retired indices are kept to go back to.
const keepRetired = 1

// Rebuild builds every index anew from PostgreSQL while searches and writes go on,
// moves each alias over in one step and keeps the old index to go back to. An
// interrupted rebuild is taken up where it stopped. progress may be nil.
//
// No write can be missed: the row that announces the new index is committed
// before the backfill reads anything, and every batch of every consumer reads
// that row in the same snapshot as its assets. A batch that does not see the row
// has read nothing that the backfill will not read later; one that sees it
// writes both indices. The versions decide which of two writes stays.
//
// Tenants that have outgrown the shared index get their own on the way; each index is
// moved over as soon as it is ready.
func (x *Indexer) Rebuild(ctx context.Context, progress func(Progress)) (RebuildResult, error) {
	var all RebuildResult
	for _, d := range slices.Backward(x.definitions) { // assets last: what is reported is their index
		var report func(Progress)
		if progress != nil {
			report = func(p Progress) {
				if p.Phase != PhaseDone || d == x.definitions[0] {
					progress(p)
				}
			}
		}
		one, err := x.of(d).rebuildAll(ctx, report)
		all = all.plus(one)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// plus sums up what rebuilds of two indices ended with; the index is the second's.
func (r RebuildResult) plus(o RebuildResult) RebuildResult {
	o.Count, o.Checksum, o.Repaired, o.Took = r.Count+o.Count, r.Checksum+o.Checksum, r.Repaired+o.Repaired, r.Took+o.Took
	return o
}

// rebuild builds the index of the scope anew.
func (x *Indexer) rebuild(ctx context.Context, progress func(Progress)) (RebuildResult, error) {
	return x.reindex(ctx, progress, true, func(generations []indexstate.Generation, present map[string]bool) (string, error) {
		return x.nextName(generations, present), nil
	})
}

// Rollback goes back to the index that the last rebuild replaced. It brings that
// index up to date first, as a rebuild does, and fails with a conflict when
// there is none. Other indices, and tenants' own, go back to
// their own earlier ones, where there are some.
func (x *Indexer) Rollback(ctx context.Context, progress func(Progress)) (RebuildResult, error) {
	all, err := x.scoped("").rollback(ctx, progress)
	if err != nil {
		return all, err
	}
	err = x.eachIndex(ctx, func(other *Indexer) error {
		if other.def == x.def && other.scope == "" {
			return nil
		}
		one, err := other.rollback(ctx, progress)
		if err == nil {
			one.Index, one.Replaced = all.Index, all.Replaced
			all = all.plus(one)
		} else if library.AsError(err).Code == library.CodeConflict {
			return nil
		}
		return err
	})
	return all, err
}

func (x *Indexer) rollback(ctx context.Context, progress func(Progress)) (RebuildResult, error) {
	return x.reindex(ctx, progress, false, func(generations []indexstate.Generation, present map[string]bool) (string, error) {
		for i := len(generations) - 1; i >= 0; i-- {
			_, there := present[generations[i].Name]
			if there && generations[i].State == indexstate.GenerationRetired {
				return generations[i].Name, nil
			}
		}
		return "", library.NewError(library.KindConflict, library.CodeConflict, "There is no earlier index to roll back to. Rebuild instead.")
	})
}

// AbortRebuild gives up the index being built. A rebuild that is running in
// another process must be stopped first.
func (x *Indexer) AbortRebuild(ctx context.Context) error {
	return x.eachShared(ctx, func(x *Indexer) error {
		return busy(x.store.Generations.Lock(ctx, x.def.name(), func(func(context.Context) bool) error { return x.abortAll(ctx) }))
	})
}

// abortAll gives up the indices of the definition that are being built.
func (x *Indexer) abortAll(ctx context.Context) error {
	list, err := x.store.Generations.List(ctx)
	if err != nil {
		return err
	}
	for _, g := range list {
		if g.Index == x.def.name() && g.State == indexstate.GenerationBuilding {
			err = errors.Join(err, x.scoped(g.Scope).abort(ctx))
		}
	}
	return err
}

// abort gives up the index that is being built for the scope.
func (x *Indexer) abort(ctx context.Context) error {
	generations, err := x.generations(ctx)
	if err != nil {
		return err
	}
	v, err := x.survey(ctx)
	if err != nil {
		return err
	}
	present := v.aliased()
	for _, g := range generations {
		if g.State != indexstate.GenerationBuilding {
			continue
		}
		if present[g.Name] {
			return library.NewError(library.KindConflict, library.CodeConflict,
				"Searches use the new index already. Run the rebuild again to complete it, or roll back.")
		}
		if err := x.discard(ctx, g.Name); err != nil {
			return err
		}
	}
	return nil
}

// busy words the error of a second changer of generations.
func busy(err error) error {
	if errors.Is(err, indexstate.ErrGenerationsBusy) {
		return &library.Error{Kind: library.KindConflict, Code: library.CodeConflict, Cause: err,
			Detail: "Another process is rebuilding the index. Wait for it, or stop it first."}
	}
	return err
}

// discard forgets a generation before its index goes, so that no writer looks
// for an index that is not there.
func (x *Indexer) discard(ctx context.Context, name string) error {
	if err := x.store.Generations.Drop(ctx, name); err != nil {
		return err
	}
	return x.deleteIndex(ctx, name)
}

// reindex makes another index the live one: one being built if there is one, else
// the one that choose names. A fresh one must have the vectors configured now.
func (x *Indexer) reindex(ctx context.Context, progress func(Progress), fresh bool,
	choose func([]indexstate.Generation, map[string]bool) (string, error)) (RebuildResult, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	var out RebuildResult
	began := time.Now()
	err := x.store.Generations.Lock(ctx, x.def.name(), func(held func(context.Context) bool) error {
		c := &reindex{x: x, held: held, progress: progress, fresh: fresh}
		if err := c.begin(ctx, choose); err != nil {
			return err
		}
		var err error
		out, err = c.run(ctx)
		return err
	})
	out.Took = time.Since(began)
	return out, busy(err)
}

// reindex is one move to another index.
type reindex struct {
	x        *Indexer
	held     func(context.Context) bool
	progress func(Progress)

	live, next string
	resumed    bool              // the index has documents already
	fresh      bool              // it must have the vectors that are configured now
	meta       mappings.Meta     // what it says of itself once it is complete
	wanted     indexstate.Wanted // what was asked for when it was begun

	mu sync.Mutex // one progress report at a time
}

// begin announces the index that is to be written beside the live one.
func (c *reindex) begin(ctx context.Context, choose func([]indexstate.Generation, map[string]bool) (string, error)) error {
	generations, err := c.x.generations(ctx)
	if err != nil {
		return err
	}
	v, err := c.x.survey(ctx)
	if err != nil {
		return err
	}
	epoch, err := c.x.store.IndexState.Epoch(ctx)
	if err != nil {
		return err
	}
	c.meta = mappings.Meta{Epoch: epoch.ID, WAL: epoch.WAL}
	if c.wanted, err = c.x.store.IndexState.WantedComparison(ctx); err != nil {
		return err
	}
	present := v.aliased()
	for _, g := range generations {
		switch g.State {
		case indexstate.GenerationLive:
			c.live = g.Name
		case indexstate.GenerationBuilding:
			otherVectors := c.fresh && g.Embedding != c.x.vectors.configuration()
			if (otherVectors || v.indices[g.Name].isBefore(epoch)) && !present[g.Name] {
				if err := c.x.discard(ctx, g.Name); err != nil { // begun under other settings, or of what never happened
					return err
				}
				continue
			}
			c.next, c.resumed = g.Name, true
		}
	}
	if c.next == "" {
		if c.next, err = choose(generations, present); err != nil {
			return err
		}
		_, c.resumed = present[c.next]
		if v.indices[c.next].isBefore(epoch) {
			return library.NewError(library.KindConflict, library.CodeConflict, "The earlier index is of a time before the database was restored. Rebuild instead.")
		}
	} else if i := v.indices[c.next]; i.isBefore(epoch) {
		c.meta = i.meta // it is searched already; once it is the live one, another takes its place
	}
	begun := c.meta
	begun.Incomplete = true
	if err := c.x.createIndex(ctx, c.next, begun); err != nil {
		return err
	}
	return c.x.store.Generations.Set(ctx, c.x.def.name(), c.x.scope, c.next, indexstate.GenerationBuilding, c.x.vectors.configuration())
}

func (c *reindex) run(ctx context.Context) (RebuildResult, error) {
	if !c.resumed {
		if err := c.backfill(ctx); err != nil {
			return RebuildResult{}, fmt.Errorf("filling the index %s: %w", c.next, err)
		}
	}
	// Also of an index whose filling was interrupted: it would never show a change.
	if err := c.x.setIndex(ctx, c.next, map[string]any{"refresh_interval": refreshInterval}); err != nil {
		return RebuildResult{}, err
	}
	report, err := c.x.reconcile(ctx, c.next, func(done, total int64) {
		c.report(Progress{PhaseCompare, c.next, done, total})
	})
	if err != nil {
		return RebuildResult{}, fmt.Errorf("comparing the index %s with the library: %w", c.next, err)
	}
	if report.Remaining > 0 {
		return RebuildResult{}, library.NewError(library.KindInternal, library.CodeInternal,
			"The new index still differs from the library in %d documents after repairs; searches stay on the old one. Run the rebuild again.", report.Remaining)
	}
	if err := c.embedMissing(ctx); err != nil {
		return RebuildResult{}, fmt.Errorf("embedding what the index %s holds: %w", c.next, err)
	}
	if err := c.merged(ctx); err != nil {
		return RebuildResult{}, err
	}
	c.report(Progress{PhaseSwap, c.next, report.Count, report.Count})
	if err := c.swap(ctx); err != nil {
		return RebuildResult{}, err
	}
	c.report(Progress{PhaseDone, c.next, report.Count, report.Count})
	return RebuildResult{Index: c.next, Replaced: c.live, Documents: report.Documents, Repaired: report.Repaired()}, nil
}

// backfill writes the documents of all assets. The index is not searched yet, so
// it is not refreshed meanwhile.
func (c *reindex) backfill(ctx context.Context) error {
	if err := c.x.setIndex(ctx, c.next, map[string]any{"refresh_interval": "-1"}); err != nil {
		return err
	}
	f := &backfill{x: c.x, index: c.next, embed: true, report: func(done, total int64) { c.report(Progress{PhaseBackfill, c.next, done, total}) }}
	return f.run(ctx)
}

// report passes the progress on, one at a time.
func (c *reindex) report(p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress(p)
}

// swap moves searches to the new index, then records it. Stopped in between, the
// library goes on with both indices written and the new one searched; a repeated
// rebuild completes the record.
func (c *reindex) swap(ctx context.Context) error {
	if !c.held(ctx) {
		return cmp.Or(ctx.Err(), busy(indexstate.ErrGenerationsBusy))
	}
	generations, v, err := c.x.surveyIndices(ctx)
	if err != nil {
		return err
	}
	// Events may have been lost that would have come to this index too.
	if c.meta.Incomplete, err = c.x.wantedSince(ctx, c.wanted); err != nil {
		return err
	}
	if err := c.x.setMeta(ctx, c.next, c.meta); err != nil {
		return err
	}
	if err := c.x.pointAlias(ctx, c.next, generations, v); err != nil {
		return err
	}
	if err := c.x.store.Generations.RecordUUID(ctx, c.next, v.indices[c.next].uuid); err != nil {
		return err
	}
	if err := c.x.store.Generations.Promote(ctx, c.next); err != nil {
		return err
	}
	if c.x.scope != "" {
		owners, _, err := c.x.owners(ctx)
		if err == nil {
			_, err = c.x.announceOwners(ctx, owners)
		}
		if err != nil {
			return err
		}
	}
	return c.x.dropRetired(ctx)
}

// dropRetired deletes all but the newest retired indices.
func (x *Indexer) dropRetired(ctx context.Context) error {
	generations, err := x.generations(ctx)
	if err != nil {
		return err
	}
	var retired []indexstate.Generation
	for _, g := range generations {
		if g.State == indexstate.GenerationRetired {
			retired = append(retired, g)
		}
	}
	slices.SortFunc(retired, func(a, b indexstate.Generation) int { return b.ChangedAt.Compare(a.ChangedAt) })
	for _, g := range retired[min(keepRetired, len(retired)):] {
		if err := x.discard(ctx, g.Name); err != nil {
			return err
		}
	}
	return nil
}
