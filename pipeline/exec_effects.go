package pipeline

import (
	"fmt"
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// tally is what a part of an effect did.
type tally struct {
	effects []library.StageEffect
	changed []library.AssetHash // that it had an effect on
	gone    []library.AssetHash // that leave the set
	failed  int64
	reason  string // why the first of those failed
	missing int64  // that are not in the library any more
}

// add counts an effect.
func (t *tally) add(kind, field string, n int64) {
	if n == 0 {
		return
	}
	i := slices.IndexFunc(t.effects, func(e library.StageEffect) bool { return e.Kind == kind && e.Field == field })
	if i < 0 {
		t.effects = append(t.effects, library.StageEffect{Kind: kind, Field: field, Count: n})
		return
	}
	t.effects[i].Count += n
}

// runEffect runs a stage that changes assets, from the part where it was interrupted.
func (x *exec) runEffect(w effect) error {
	if x.trace().State == library.StagePending {
		if err := x.save(func(t *store.Tx) error {
			x.trace().State, x.trace().Input = library.StageRunning, x.inputCount()
			return t.ClearSet(x.ctx, x.claim.ID, x.index)
		}); err != nil {
			return err
		}
	}
	if err := w.begin(x); err != nil {
		return err
	}
	for {
		more, err := x.effectPart(w)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if s, ok := w.(waiter); ok && !x.dry() {
		if err := s.wait(x); err != nil {
			return err
		}
	}
	return x.save(func(t *store.Tx) error {
		if o, ok := w.(output); ok {
			if err := o.output(x, t); err != nil {
				return err
			}
		}
		state, set := library.StageOK, x.input()
		if x.dry() {
			state = library.StageSimulated
		}
		if x.shrinks() {
			set = x.index
		} else {
			x.trace().Output = x.trace().Input
		}
		x.end(state, set)
		return nil
	})
}

// waiter is an effect whose jobs must be done before the next stage begins.
type waiter interface {
	effect
	wait(x *exec) error
}

// shrinks reports whether the stage takes assets out of the set.
func (x *exec) shrinks() bool { return x.step.Type == "delete" }

// effectPart does the next part; more is false behind the last one.
func (x *exec) effectPart(w effect) (more bool, err error) {
	assets, err := x.runs().ReadSet(x.ctx, x.actor().Tenant, x.claim.ID, x.input(), x.claim.Progress.Chunk)
	if err != nil || len(assets) == 0 {
		return false, err
	}
	if x.dry() {
		return true, x.simulatePart(w, assets)
	}
	return true, x.save(func(t *store.Tx) error {
		did := &tally{}
		if err := w.apply(x, t, assets, did); err != nil {
			return err
		}
		return x.note(t, assets, did)
	})
}

func (x *exec) simulatePart(w effect, assets []library.AssetHash) error {
	rows, err := x.rows(assets, w.kinds())
	if err != nil {
		return err
	}
	did := &tally{missing: int64(len(assets) - len(rows))}
	if err := w.simulate(x, rows, did); err != nil {
		return err
	}
	states := map[library.AssetHash]any{}
	if !x.last {
		changed := map[library.AssetHash]bool{}
		for _, h := range did.changed {
			changed[h] = true
		}
		for _, r := range rows {
			if changed[r.Hash] {
				states[r.Hash] = r.state()
			}
		}
	}
	return x.save(func(t *store.Tx) error {
		if err := t.WriteSimulated(x.ctx, x.claim.ID, states); err != nil {
			return err
		}
		return x.note(t, assets, did)
	})
}

// skipsErrors reports whether the stage, or the action of a tee stage, leaves out assets that it cannot change.
func (x *exec) skipsErrors() bool {
	t, is := x.step.work.(*tee)
	return x.step.OnError == "skip" || is && t.inner.OnError == "skip"
}

// note adds what a part did to the trace, and writes what goes on to the next stage where
// that is less.
func (x *exec) note(t *store.Tx, assets []library.AssetHash, did *tally) error {
	if did.failed > 0 && !x.skipsErrors() {
		return library.NewError(library.KindUnprocessable, CodeStageFailed, "%d assets of this part cannot be changed: %s. Nothing of the part was changed. Set on_error: skip to leave such assets out.", did.failed, did.reason)
	}
	tr, p := x.trace(), &x.claim.Progress
	sum := tally{effects: tr.Effects}
	for _, e := range did.effects {
		sum.add(e.Kind, e.Field, e.Count)
		if e.Field == "" {
			p.Changed += e.Count
		}
	}
	tr.Effects = sum.effects
	tr.Done += int64(len(assets))
	p.Failed += did.failed
	p.Chunk++
	x.sample(did.changed)
	if did.failed > 0 {
		x.warn(fmt.Sprintf("assets were left out that cannot be changed: %s", did.reason))
	}
	if did.missing > 0 {
		x.warn("assets were left out that are not in the library any more")
	}
	if !x.shrinks() {
		return nil
	}
	gone := make(map[library.AssetHash]bool, len(did.gone))
	for _, h := range did.gone {
		gone[h] = true
	}
	stay := slices.DeleteFunc(slices.Clone(assets), func(h library.AssetHash) bool { return gone[h] })
	if len(stay) == 0 {
		return nil
	}
	tr.Output += int64(len(stay))
	p.Output++
	return t.WriteSet(x.ctx, x.claim.ID, x.index, p.Output-1, stay)
}
