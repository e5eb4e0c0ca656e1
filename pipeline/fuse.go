package pipeline

import (
	"context"
	"fmt"
	"slices"

	"vitrine/library"
	"vitrine/query"
	"vitrine/store"
)

// fusion is a select stage with those behind it that one query of the index does too: conditions, an order,
// and a first limit.
type fusion struct {
	steps  int // how many stages, with the search; at least 2
	sort   []query.Sort
	offset int64
	limit  int64 // -1: none
}

// fuse returns what the index can do of a pipeline in one query, or nil. A pipeline begins with a search
// without a limit then; the first stage that rows are needed for ends it.
func (d *Definition) fuse() *fusion {
	s, ok := d.Steps[0].work.(*search)
	if !ok || s.Limit > 0 {
		return nil
	}
	f := &fusion{steps: 1, limit: -1}
	for _, step := range d.Steps[1:] {
		switch w := step.work.(type) {
		case *where:
			if w.Query == "" && w.pushed == nil {
				return f.orNil()
			}
		case *sorting:
			order := w.indexOrder()
			if order == nil {
				return f.orNil()
			}
			f.sort = order
		case *limit:
			f.steps++
			f.offset, f.limit = w.Offset, w.Count
			return f
		default:
			return f.orNil()
		}
		f.steps++
	}
	return f.orNil()
}

func (f *fusion) orNil() *fusion {
	if f.steps < 2 {
		return nil
	}
	return f
}

// indexOrder returns the order of the index that is the same; nil where there is none. Equal
// assets are ordered by their hashes.
func (s *sorting) indexOrder() []query.Sort {
	if len(s.Keys) > 3 {
		return nil
	}
	var list []query.Sort
	for _, k := range s.Keys {
		f := lookupField(k.By)
		if f == nil || f.sort == "" {
			return nil
		}
		list = append(list, query.Sort{By: f.sort, Desc: k.Order == "desc"})
	}
	return append(list, query.Sort{By: "asset_h"})
}

// runFused runs the fused stages, if there are any. It reports that the index is behind, having done
// nothing, where it was waited for and does not have every change of the library: rows are looked at
// then.
func (e *Engine) runFused(ctx context.Context, c *store.RunClaim, d *Definition) (behind bool, err error) {
	f := d.fuse()
	if f == nil || e.NoFusion || e.AwaitIndex == nil {
		return false, nil
	}
	if !e.AwaitIndex(ctx, c.Actor.Tenant) {
		return true, nil
	}
	last := f.steps - 1
	x := &exec{ctx: ctx, engine: e, claim: c, step: d.Steps[last], index: last, set: last, now: c.CreatedAt}
	x.begin()
	if err := x.save(func(t *store.Tx) error {
		for i := range f.steps {
			tr := &c.Progress.Stages[i]
			tr.State, tr.Input, tr.Done, tr.Output, tr.Sample = library.StageRunning, 0, 0, 0, []library.AssetHash{}
		}
		return t.ClearSet(ctx, c.ID, last)
	}); err != nil {
		return false, err
	}
	counts, err := x.scanFused(f, d)
	if err != nil {
		return false, err
	}
	return false, x.save(func(*store.Tx) error {
		sample, out := x.trace().Sample, x.trace().Output
		for i := range f.steps {
			y := *x
			y.index = i
			tr := y.trace()
			if tr.Output = out; i < last || f.limit < 0 {
				tr.Output = counts[i]
			}
			if i > 0 {
				tr.Input = c.Progress.Stages[i-1].Output
			}
			tr.Done, tr.Sample = tr.Input, slices.Clone(sample)
			y.end(library.StageOK, last)
		}
		return nil
	})
}

// scanFused passes on what the fused stages find, and returns how many assets each of them has behind it,
// the limit aside.
func (x *exec) scanFused(f *fusion, d *Definition) ([]int64, error) {
	s := *d.Steps[0].work.(*search) //nolint:forcetypeassert // fuse looked
	s.fused = f.sort
	found, err := x.engine.Compile(x.ctx, x.actor(), s.Query, s.request())
	if err != nil {
		return nil, err
	}
	counts := make([]int64, f.steps)
	for i := range f.steps {
		w, isWhere := d.Steps[i].work.(*where)
		if isWhere {
			if found, err = x.narrow(found, w); err != nil {
				return nil, err
			}
		}
		if counts[i] = counts[max(i-1, 0)]; i == 0 || isWhere {
			if counts[i], err = x.engine.Scan(x.ctx, x.actor().Tenant, found, 1, func([]library.AssetHash) error { return nil }); err != nil {
				return nil, err
			}
		}
	}
	if f.limit == 0 {
		return counts, nil
	}
	skip := f.offset
	_, err = x.engine.Scan(x.ctx, x.actor().Tenant, found, max(0, f.offset+f.limit), func(part []library.AssetHash) error {
		n := min(skip, int64(len(part)))
		skip -= n
		return x.emitExisting(part[n:])
	})
	if err == nil {
		err = x.flush()
	}
	if err == nil && f.limit < 0 && x.trace().Output != counts[f.steps-1] {
		err = library.NewError(library.KindUnavailable, library.CodeIndexUnavailable, "Assets changed while they were selected. The run begins anew.")
	}
	return counts, err
}

// narrow returns a search with the condition of a where stage.
func (x *exec) narrow(found *query.Search, w *where) (*query.Search, error) {
	if w.Query == "" {
		return found.Where(*w.pushed), nil
	}
	also, err := x.engine.Compile(x.ctx, x.actor(), w.Query, query.Request{Mode: query.Smart, Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("the query of a where stage: %w", err)
	}
	return found.And(also), nil
}
