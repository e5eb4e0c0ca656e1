package indexer

import (
	"context"
	"time"

	"vitrine/internal/panics"
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
	if wanted, err := g.x.beginWanted(ctx); err != nil {
		return err
	} else if wanted {
		g.turn = 0
	}
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
		if x.cfg.eventsOnly {
			return nil
		}
		return x.Complete(ctx, nil)
	})
}
