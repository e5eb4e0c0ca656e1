package indexer

import (
	"context"
	"time"

	"vitrine/internal/panics"
	"vitrine/internal/retry"
)

// guardEvery is how often the guard looks when nobody calls it.
const guardEvery = 2 * time.Second

// ownTurns is how many looks at the shared index come with one at every tenant's own:
// there may be hundreds.
const ownTurns = 5

// indexGuard keeps the index in being while the indexer runs: it does, again and again,
// what a start does. An index that was deleted, replaced or closed, or an alias that
// points elsewhere, is noticed within guardEvery, or at once by a write that meets it.
// Any number of processes may run one.
type indexGuard struct {
	x          *Indexer
	triggered  chan struct{} // a write has found no index
	lastLogged string        // the last failure that was logged
	turn       int           // how often it has looked
}

func newIndexGuard(x *Indexer) *indexGuard {
	return &indexGuard{x: x, triggered: make(chan struct{}, 1)}
}

// trigger makes the guard look at once.
func (g *indexGuard) trigger() {
	select {
	case g.triggered <- struct{}{}:
	default:
	}
}

// run guards until ctx ends.
func (g *indexGuard) run(ctx context.Context) {
	wait := &retry.Backoff{First: guardEvery, Max: time.Minute}
	for ctx.Err() == nil {
		err := panics.Try(func() error { return g.ensure(ctx) })
		if err == nil {
			wait.Reset()
			g.lastLogged = ""
			g.idle(ctx, guardEvery)
			continue
		}
		if said := err.Error(); said != g.lastLogged && ctx.Err() == nil {
			g.lastLogged = said
			g.x.log.Warn("the index needs repair; retrying", "error", err)
		}
		g.idle(ctx, wait.Pause())
	}
}

func (g *indexGuard) idle(ctx context.Context, pause time.Duration) {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-g.triggered:
		g.turn = 0 // whichever index it was
	case <-t.C:
	}
}

// ensure repairs what can be repaired at once, then fills an index that is not
// what the library holds.
func (g *indexGuard) ensure(ctx context.Context) error {
	if wanted, err := g.x.beginWanted(ctx); err != nil {
		return err
	} else if wanted {
		g.turn = 0
	}
	each := g.x.eachIndex
	if g.turn++; g.turn%ownTurns != 1 {
		each = g.x.eachShared
	}
	return each(ctx, func(x *Indexer) error {
		ensured, err := x.EnsureIndex(ctx)
		if err != nil {
			return err
		}
		if ensured.Problem != "" {
			x.log.Warn("the index was repaired", "index", ensured.Index, "why", ensured.Problem)
		}
		if x.cfg.eventsOnly {
			return nil
		}
		return x.Complete(ctx, nil)
	})
}
