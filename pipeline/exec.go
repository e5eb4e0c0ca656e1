package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/store"
)

func stageAt(at string, i int) string { return fmt.Sprintf("%s[%d].config", at, i) }

// exec is a stage that runs.
type exec struct {
	ctx    context.Context //nolint:containedctx // of one stage's run; every method uses it
	engine *Engine
	claim  *store.RunClaim
	step   Step
	index  int
	last   bool      // no stage comes behind
	behind bool      // the index was waited for in vain
	now    time.Time // the moment that relative times are from: when the run was created

	pending []library.AssetHash // emitted and not written yet
	written int                 // parts of the output
	set     int                 // where the output goes: the stage's own set, or one that it only works with
	began   time.Time
}

func (x *exec) runs() *store.PipelineRuns { return x.engine.Store.PipelineRuns }
func (x *exec) actor() library.Actor      { return x.claim.Actor }
func (x *exec) dry() bool                 { return x.claim.DryRun }
func (x *exec) trace() *library.StageTrace {
	return &x.claim.Progress.Stages[x.index]
}

// input is the stage whose output this one reads.
func (x *exec) input() int {
	if n := len(x.claim.Progress.Sets); n > 0 {
		return x.claim.Progress.Sets[n-1]
	}
	return -1
}

// inputCount is how many assets the stage is given.
func (x *exec) inputCount() int64 {
	if x.index == 0 {
		return 0
	}
	return x.claim.Progress.Stages[x.index-1].Output
}

// save makes a part of the stage; see store.PipelineRuns.Step.
func (x *exec) save(fn func(*store.Tx) error) error {
	if err := check(x.ctx, x.claim); err != nil {
		return err
	}
	return x.runs().Step(x.ctx, x.claim, func(t *store.Tx) error {
		x.trace().DurationMS += time.Since(x.began).Milliseconds()
		if err := fn(t); err != nil {
			return err
		}
		x.began = time.Now()
		return nil
	})
}

// begin notes that work on the stage begins.
func (x *exec) begin() { x.began = time.Now() }

// runStage runs the stage from its beginning, or from the part where it was interrupted.
func (x *exec) runStage() error {
	x.begin()
	if x.dry() && x.step.Kind.Category == Output {
		return x.skip()
	}
	switch w := x.step.work.(type) {
	case runner:
		return x.runRunner(w)
	case once:
		return x.runOnce(w)
	case editor:
		return x.runEffect(edits{w})
	case effect:
		return x.runEffect(w)
	}
	return fmt.Errorf("the stage %s cannot run", x.step.Type)
}

// output is a stage that tells somebody at its end, in the transaction that notes that it is
// through: so that happens once.
type output interface {
	output(x *exec, t *store.Tx) error
}

// once is an output that is done in one transaction.
type once interface {
	output
	once()
}

func (x *exec) runOnce(w once) error {
	return x.save(func(t *store.Tx) error {
		tr := x.trace()
		tr.Input, tr.Done, tr.Output = x.inputCount(), x.inputCount(), x.inputCount()
		if err := w.output(x, t); err != nil {
			return err
		}
		x.end(library.StageOK, x.input())
		return nil
	})
}

// skip passes over an output stage of a dry run.
func (x *exec) skip() error {
	return x.save(func(*store.Tx) error {
		x.trace().Input, x.trace().Output = x.inputCount(), x.inputCount()
		x.end(library.StageSkipped, x.input())
		return nil
	})
}

// end notes that the stage is through and which set the next one reads.
func (x *exec) end(state library.StageState, set int) {
	p := &x.claim.Progress
	x.trace().State = state
	p.Sets = append(p.Sets, set)
	p.Stage, p.Chunk, p.Output, p.State = x.index+1, 0, 0, nil
	p.Assets = x.trace().Output
}

// runRunner runs a stage that changes nothing: after an interruption it begins anew.
func (x *exec) runRunner(w runner) error {
	err := x.save(func(t *store.Tx) error {
		tr := x.trace()
		tr.State, tr.Input, tr.Done, tr.Output, tr.Sample, tr.Result = library.StageRunning, x.inputCount(), 0, 0, []library.AssetHash{}, nil
		x.claim.Progress.Chunk, x.claim.Progress.Output = 0, 0
		return t.ClearSet(x.ctx, x.claim.ID, x.index)
	})
	if err != nil {
		return err
	}
	x.pending, x.written, x.set = nil, 0, x.index
	if err := w.run(x); err != nil {
		return err
	}
	if err := x.flush(); err != nil {
		return err
	}
	return x.save(func(*store.Tx) error {
		set := x.index
		tr := x.trace()
		if x.step.Kind.Category == Summarize { // what they are given goes on
			set, tr.Output = x.input(), x.inputCount()
		}
		tr.Done = tr.Input
		x.end(library.StageOK, set)
		return nil
	})
}

// emit passes assets on to the next stage.
func (x *exec) emit(assets ...library.AssetHash) error {
	x.pending = append(x.pending, assets...)
	for len(x.pending) >= store.SetPart {
		if err := x.write(x.pending[:store.SetPart]); err != nil {
			return err
		}
		x.pending = slices.Clone(x.pending[store.SetPart:])
	}
	return nil
}

func (x *exec) flush() error {
	if len(x.pending) == 0 {
		return nil
	}
	part := x.pending
	x.pending = nil
	return x.write(part)
}

func (x *exec) write(part []library.AssetHash) error {
	err := x.save(func(t *store.Tx) error {
		if err := t.WriteSet(x.ctx, x.claim.ID, x.set, x.written, part); err != nil {
			return err
		}
		if x.set == x.index {
			x.passOn(part)
		}
		return nil
	})
	if err == nil {
		x.written++
	}
	return err
}

// passOn counts assets of the output.
func (x *exec) passOn(part []library.AssetHash) {
	tr := x.trace()
	tr.Output += int64(len(part))
	x.sample(part)
}

// sampleSize is how many assets a trace shows of a stage.
const sampleSize = 5

func (x *exec) sample(part []library.AssetHash) {
	tr := x.trace()
	for _, h := range part {
		if len(tr.Sample) < sampleSize && !slices.Contains(tr.Sample, h) {
			tr.Sample = append(tr.Sample, h)
		}
	}
}

// parts calls each with every part of the input, in order.
func (x *exec) parts(each func([]library.AssetHash) error) error {
	for part := 0; ; part++ {
		if err := check(x.ctx, x.claim); err != nil {
			return err
		}
		assets, err := x.runs().ReadSet(x.ctx, x.actor().Tenant, x.claim.ID, x.input(), part)
		if err != nil || len(assets) == 0 {
			return err
		}
		if err := each(assets); err != nil {
			return err
		}
	}
}

// rows reads assets as the stage sees them, in order; those that went away are left out.
func (x *exec) rows(assets []library.AssetHash, kinds store.FactKinds) ([]*Row, error) {
	list, facts, err := x.runs().Rows(x.ctx, x.actor(), assets, kinds)
	if err != nil {
		return nil, err
	}
	rows := make([]*Row, len(list))
	for i, a := range list {
		rows[i] = &Row{a, facts[a.Hash]}
	}
	if !x.dry() || !x.simulates() {
		return rows, nil
	}
	states, err := x.runs().ReadSimulated(x.ctx, x.actor().Tenant, x.claim.ID, assets)
	for _, r := range rows {
		if raw, ok := states[r.Hash]; ok && err == nil {
			err = r.simulate(raw)
		}
	}
	return rows, err
}

// simulates reports whether a stage before this one has effects.
func (x *exec) simulates() bool {
	return slices.ContainsFunc(x.claim.Progress.Stages[:x.index], func(t library.StageTrace) bool {
		return t.Category == string(Transform) || t.Category == string(Action)
	})
}

// eachRow calls each with every row of the input, in order.
func (x *exec) eachRow(kinds store.FactKinds, each func(*Row) error) error {
	return x.parts(func(assets []library.AssetHash) error {
		rows, err := x.rows(assets, kinds)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxWarnings is how many different warnings a stage keeps.
const maxWarnings = 20

// warn adds a warning to the trace, once.
func (x *exec) warn(text string) {
	if tr := x.trace(); len(tr.Warnings) < maxWarnings && !slices.Contains(tr.Warnings, text) {
		tr.Warnings = append(tr.Warnings, text)
	}
}

// CodeStageFailed is the code of the error of a stage that cannot change an asset.
const CodeStageFailed = "STAGE_FAILED"

// asAssetError returns why one asset cannot be changed, or the error itself.
func asAssetError(err error) (*errAsset, error) {
	var one *errAsset
	if errors.As(err, &one) {
		return one, nil
	}
	return nil, err
}
