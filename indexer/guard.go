package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vitrine/internal/panics"
	"vitrine/mappings"
	"vitrine/store"
)

// guardEvery is how often the guard looks when nobody calls it.
const guardEvery = 2 * time.Second

// ownTurns is how many looks at the shared index come with one at every tenant's own:
// there may be hundreds.
const ownTurns = 5

// guard keeps the index in being while the indexer runs: it does, again and again,
// what a start does. An index that was deleted, replaced or closed, or an alias that
// points elsewhere, is noticed within guardEvery, or at once by a write that meets it.
// Any number of processes may run one.
type guard struct {
	x      *Indexer
	called chan struct{} // a write has found no index
	told   string        // the last failure that was logged
	turn   int           // how often it has looked
}

func newGuard(x *Indexer) *guard { return &guard{x: x, called: make(chan struct{}, 1)} }

// call makes the guard look at once.
func (g *guard) call() {
	select {
	case g.called <- struct{}{}:
	default:
	}
}

// run guards until ctx ends.
func (g *guard) run(ctx context.Context) {
	wait := &backoff{first: guardEvery, most: time.Minute}
	for ctx.Err() == nil {
		err := panics.Try(func() error { return g.look(ctx) })
		if err == nil {
			wait.reset()
			g.told = ""
			g.idle(ctx, guardEvery)
			continue
		}
		if said := err.Error(); said != g.told && ctx.Err() == nil {
			g.told = said
			g.x.log.Warn("the index is not as it should be; trying again", "error", err)
		}
		g.idle(ctx, wait.pause())
	}
}

func (g *guard) idle(ctx context.Context, pause time.Duration) {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-g.called:
		g.turn = 0 // whichever index it was
	case <-t.C:
	}
}

// look puts right what can be put right at once, then fills an index that is not
// what the library holds.
func (g *guard) look(ctx context.Context) error {
	each := g.x.each
	if g.turn++; g.turn%ownTurns != 1 {
		each = func(_ context.Context, do func(*Indexer) error) error { return do(g.x.of("")) }
	}
	return each(ctx, func(x *Indexer) error {
		ensured, err := x.EnsureIndex(ctx)
		if err != nil {
			return err
		}
		if ensured.Was != "" {
			x.log.Warn("the index is put right", "index", ensured.Index, "why", ensured.Was)
		}
		return x.Complete(ctx, nil)
	})
}

// Complete brings a live index that says of itself that it is incomplete, or that is
// another one than was last compared, in line with the library, and then makes it say
// that it is complete. It returns at once where nothing is to be done, and where
// another process is at it. progress may be nil.
func (x *Indexer) Complete(ctx context.Context, progress func(Progress)) error {
	live, i, err := x.incomplete(ctx)
	if err != nil || live == "" {
		return err
	}
	err = x.store.LockReconcile(ctx, func() error {
		if live, i, err = x.incomplete(ctx); err != nil || live == "" { // another process was faster
			return err
		}
		return x.complete(ctx, live, i, progress)
	})
	if errors.Is(err, store.ErrReconcileBusy) {
		return nil
	}
	return err
}

// incomplete names the live index where it has to be compared with the library.
func (x *Indexer) incomplete(ctx context.Context) (string, surveyed, error) {
	generations, v, err := x.look(ctx)
	if err != nil {
		return "", surveyed{}, err
	}
	for _, g := range generations {
		i, present := v.indices[g.Name]
		switch {
		case g.State != store.GenerationLive || !present:
		case i.meta.Incomplete:
			return g.Name, i, nil
		case g.UUID == "": // made by an earlier release, or just now for an empty library
			return "", i, x.store.RecordIndexUUID(ctx, g.Name, i.uuid)
		case g.UUID != i.uuid: // somebody put it there, from a snapshot perhaps
			return g.Name, i, x.declare(ctx, g.Name, mappings.Meta{Incomplete: true})
		}
	}
	return "", surveyed{}, nil
}

// complete fills and compares an index. One that lacks much is filled first: a
// comparison looks at each missing document three times.
func (x *Indexer) complete(ctx context.Context, live string, i surveyed, progress func(Progress)) error {
	if progress == nil {
		progress = func(Progress) {}
	}
	x.log.Info("comparing the index with the library", "index", live)
	sparse, err := x.sparse(ctx, live)
	if err == nil && sparse {
		f := &backfill{x: x, index: live, report: func(done, total int64) { progress(Progress{PhaseBackfill, live, done, total}) }}
		err = f.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("filling the index %s: %w", live, err)
	}
	report, err := x.reconcile(ctx, live, func(done, total int64) { progress(Progress{PhaseCompare, live, done, total}) })
	if err != nil {
		return fmt.Errorf("comparing the index %s with the library: %w", live, err)
	}
	if err := x.acceptable(ctx, report); err != nil {
		return err
	}
	_, v, err := x.look(ctx)
	if err != nil {
		return err
	}
	if v.indices[live].uuid != i.uuid {
		return errIndexGone
	}
	if err := errors.Join(x.store.RecordIndexUUID(ctx, live, i.uuid), x.declare(ctx, live, mappings.Meta{})); err != nil {
		return err
	}
	if err := x.restoreIndexed(ctx); err != nil {
		return err
	}
	progress(Progress{PhaseDone, live, report.Count, report.Count})
	x.log.Info("the index is complete", "index", live, "documents", report.Count, "filled", sparse, "repaired", report.Repaired(), "took", report.Took)
	return nil
}

// acceptable fails where documents are missing that the index does not refuse.
func (x *Indexer) acceptable(ctx context.Context, report Reconciled) error {
	if report.Remaining == 0 {
		return nil
	}
	refused, _, err := x.store.CountIndexFailures(ctx)
	if err == nil && report.Remaining > refused {
		err = fmt.Errorf("the index still differs from the library in %d documents after repairs", report.Remaining)
	}
	return err
}

// sparse reports whether an index holds less than half of what the library has.
func (x *Indexer) sparse(ctx context.Context, index string) (bool, error) {
	tenants, err := x.countAssets(ctx)
	if err != nil {
		return false, err
	}
	var assets int64
	for _, t := range tenants {
		assets += t.Assets
	}
	have, err := x.countDocuments(ctx, index)
	return 2*have < assets, err
}
