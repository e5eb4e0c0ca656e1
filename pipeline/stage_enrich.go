package pipeline

import (
	"fmt"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// enrich works out anew what is known of assets from their files.
type enrich struct {
	Operations []string `json:"operations" minItems:"1" maxItems:"5" enum:"phash,dominant_color,embedding,re_extract,caption" doc:"phash: by which near duplicates are found. dominant_color: for searches by color. embedding: for searches by meaning. re_extract: reads the generation data again. caption is a stub: this version has no model that describes pictures."`
}

var kindEnrich = newKind[enrich](Kind{Type: "enrich", Category: Transform, Doc: "Works out anew what is known of assets from their files, and waits until that is done. Undo does not take it back.", Args: []string{"operations"},
	Example: map[string]any{"operations": []any{"phash", "dominant_color"}}})

// enrichStub is the operation that does nothing yet.
const enrichStub = "caption"

func (s *enrich) check(*checking) []library.FieldError {
	slices.Sort(s.Operations)
	s.Operations = slices.Compact(s.Operations)
	return nil
}

// real are the operations that jobs do.
func (s *enrich) real() []string {
	return slices.DeleteFunc(slices.Clone(s.Operations), func(o string) bool { return o == enrichStub })
}

func (s *enrich) kinds() store.FactKinds { return store.FactKinds{} }

func (s *enrich) begin(x *exec) error {
	if slices.Contains(s.Operations, enrichStub) {
		x.warn("caption is a stub: this version has no model that describes pictures, so nothing was done for it")
	}
	x.trace().Result = s.result(x, nil)
	return nil
}

func (s *enrich) simulate(_ *exec, rows []*Row, t *tally) error {
	t.enriched(s.real(), int64(len(rows)))
	return nil
}

func (s *enrich) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	n, err := tx.PlanEnrichment(x.ctx, x.claim.ID, x.index, x.claim.Progress.Chunk, assets, s.real())
	t.enriched(s.real(), n)
	t.missing = int64(len(assets)) - n
	return err
}

// enriched counts assets that an operation is done on. What it finds may be what was known.
func (t *tally) enriched(operations []string, n int64) {
	for _, o := range operations {
		t.add("asset.enriched", o, n)
	}
}

// Jobs are asked how far they are after these times.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// wait waits until the jobs of the stage are done, and notes how far they are.
func (s *enrich) wait(x *exec) error {
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		done, waiting, err := x.engine.Store.Enrichments.Progress(x.ctx, x.actor().Tenant, x.claim.ID, x.index)
		if err != nil {
			return err
		}
		if waiting == 0 {
			return s.conclude(x, done)
		}
		err = x.save(func(*store.Tx) error { // who asked for the run to stop is heard here
			x.trace().Result, x.trace().Done = s.result(x, done), x.trace().Input-waiting
			return nil
		})
		if err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-x.ctx.Done():
			return x.ctx.Err()
		}
	}
}

// conclude notes what became of the assets. A failure ends the run unless on_error is skip.
func (s *enrich) conclude(x *exec, done map[string]store.Enriched) error {
	failed := ""
	for _, o := range s.real() {
		if e := done[o]; e.Failed > 0 {
			failed = fmt.Sprintf("%s of %d assets failed: %s", o, e.Failed, e.Reason)
			x.claim.Progress.Failed += e.Failed
			x.warn(failed)
		} else if e.Missing {
			x.warn(o + " was not done: this installation has no embedder")
		}
	}
	x.trace().Result, x.trace().Done = s.result(x, done), x.trace().Input
	if failed != "" && x.step.OnError != "skip" {
		return &errStop{library.RunFailed, library.NewError(library.KindUnprocessable, CodeStageFailed, "%s. What was worked out of others is kept. Set on_error: skip to go on without them.", failed)}
	}
	return nil
}

// result is what became of each operation. Its status is ok, stub, unavailable, simulated, or
// running.
func (s *enrich) result(x *exec, done map[string]store.Enriched) *library.StageResult {
	r := &library.StageResult{Columns: []string{"operation", "status", "changed", "unchanged", "failed"}, Rows: [][]any{}, Total: x.inputCount()}
	for _, o := range s.Operations {
		e, known := done[o]
		status := "running"
		switch {
		case o == enrichStub:
			status = "stub"
		case x.dry():
			status = "simulated"
		case e.Missing:
			status = "unavailable"
		case known:
			status = "ok"
		}
		r.Rows = append(r.Rows, []any{o, status, e.Changed, e.Same, e.Failed})
	}
	return r
}
