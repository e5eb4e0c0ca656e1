package pipeline

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/query"
	"vitrine/store"
)

// Engine starts runs and works on them. It is safe for concurrent use.
type Engine struct {
	Store *store.Store
	// Compile reads and compiles a search for what an actor sees, in its tenant's index.
	Compile func(ctx context.Context, actor library.Actor, text string, req query.Request) (*query.Search, error)
	// Scan calls each with the assets that a search finds, page by page in its order, and
	// stops after limit of them; 0 means all. It returns how many the search finds.
	Scan func(ctx context.Context, tenant library.TenantID, search *query.Search, limit int64, each func([]library.AssetHash) error) (int64, error)
	// AwaitIndex waits until searches see what was committed before, at most for a moment, and reports
	// whether they do. Nil: it is not waited for, and no stages are fused.
	AwaitIndex func(ctx context.Context, tenant library.TenantID) bool
	// WebP reports whether exports can write lossy WebP; nil: they cannot.
	WebP func() bool
	// NoFusion has every stage run by itself.
	NoFusion bool
	Log      *slog.Logger

	slots chan struct{} // of runs that are worked on by who started them
}

// inlineRuns is how many runs a process works on for the callers that started them, beside
// those of its jobs.
const inlineRuns = 4

// New returns an engine on a store. Its other fields are set by the caller.
func New(s *store.Store) *Engine {
	return &Engine{Store: s, Log: slog.New(slog.DiscardHandler), slots: make(chan struct{}, inlineRuns)}
}

// Request is a run to be started.
type Request struct {
	Stages   []library.PipelineStage        // as they were saved or sent, with variables
	At       string                         // where they stand in the request; empty: stages
	Vars     map[string]any                 // values of variables
	Declared map[string]library.PipelineVar // nil: variables need no declaration
	DryRun   bool
	Pipeline library.PipelineHash // that they were saved as; empty: they were not
	Version  int
	Name     string
	Tool     string // the operation that starts it; empty: that of the call
	Trigger  library.RunTrigger
	Depth    int // of causation: one more than that of the run that caused it
}

// Start checks a pipeline and keeps a run of it, which a job works on from then on. Nothing was
// done when it returns an error.
func (e *Engine) Start(ctx context.Context, actor library.Actor, q Request) (library.PipelineRun, error) {
	r, err := e.Prepare(ctx, actor, q)
	if err != nil {
		return library.PipelineRun{}, err
	}
	return r, e.Store.PipelineRuns.Create(ctx, &r)
}

// Prepare checks a pipeline and returns a run of it, for who keeps it in a transaction of its own.
func (e *Engine) Prepare(ctx context.Context, actor library.Actor, q Request) (library.PipelineRun, error) {
	if q.Depth > library.MaxCausationDepth {
		return library.PipelineRun{}, library.NewError(library.KindUnprocessable, CodeLoop, "This run would be caused by %d others, one by one; at most %d may. A rule probably starts itself.", q.Depth, library.MaxCausationDepth)
	}
	at := cmp.Or(q.At, "stages")
	stages, err := Fill("vars", q.Stages, q.Declared, q.Vars, false)
	if err != nil {
		return library.PipelineRun{}, err
	}
	d, err := Parse(stages, Options{At: at, Actor: actor})
	if err != nil {
		return library.PipelineRun{}, err
	}
	if !q.DryRun {
		if err := d.Unconfirmed(at); err != nil {
			return library.PipelineRun{}, err
		}
	}
	if err := e.checkActor(ctx, actor, d, at); err != nil {
		return library.PipelineRun{}, err
	}
	call := library.CallFrom(ctx)
	r := library.PipelineRun{Pipeline: q.Pipeline, Version: q.Version, Name: q.Name, Stages: d.Stages(), DryRun: q.DryRun, Tool: cmp.Or(q.Tool, call.Tool),
		Trigger: q.Trigger, Depth: q.Depth, RequestID: call.RequestID, Actor: actor}
	for i, s := range d.Steps {
		r.Progress.Stages = append(r.Progress.Stages, library.StageTrace{Index: i, Type: s.Type, Category: string(s.Kind.Category), ID: s.ID, Name: s.Name,
			State: library.StagePending, Effects: []library.StageEffect{}, Sample: []library.AssetHash{}, Warnings: []string{}})
	}
	return r, nil
}

// CodeLoop is the code of the error of a run that caused itself.
const CodeLoop = "CAUSATION_LOOP"

// checkActor checks what depends on who runs the pipeline: searches that the query language
// refuses.
func (e *Engine) checkActor(ctx context.Context, actor library.Actor, d *Definition, at string) error {
	for i, s := range d.Steps {
		c, ok := s.work.(interface {
			compile(ctx context.Context, e *Engine, actor library.Actor, at string) error
		})
		if !ok {
			continue
		}
		if err := c.compile(ctx, e, actor, stageAt(at, i)); err != nil {
			return err
		}
	}
	return nil
}

// Await works on a run for at most limit and returns it as it is then. Where all slots are
// taken, or another process works on it, it waits. A run that has not ended goes on by its job.
func (e *Engine) Await(ctx context.Context, actor library.Actor, id string, limit time.Duration) (library.PipelineRun, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	after := context.WithoutCancel(ctx)
	if e.slots != nil {
		select {
		case e.slots <- struct{}{}:
			err := e.Work(ctx, actor.Tenant, id)
			<-e.slots
			if err != nil && !errors.Is(err, store.ErrClaimed) && ctx.Err() == nil {
				e.Log.Warn("a run goes on by its job", "run", id, "error", err)
			}
		case <-ctx.Done():
		}
	}
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		r, err := e.Store.PipelineRuns.Get(after, actor.Tenant, id)
		if err != nil || r.State.Ended() || ctx.Err() != nil {
			return r, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// Work works on a run until it ends or ctx does. It returns store.ErrClaimed while another
// process works on it, and an error where it should be tried again later; why a run failed
// stands in the run.
func (e *Engine) Work(ctx context.Context, tenant library.TenantID, id string) error {
	c, err := e.Store.PipelineRuns.Claim(ctx, tenant, id)
	if err != nil || c.State.Ended() {
		return err
	}
	held, stop := e.hold(ctx, &c)
	err = e.work(held, &c)
	stop()
	if err != nil && !errors.Is(err, store.ErrClaimed) {
		_ = e.Store.PipelineRuns.Release(context.WithoutCancel(ctx), &c) // else it runs out
	}
	return err
}

// renewEvery is how often the claim of a run is renewed during a part that takes long.
const renewEvery = 10 * time.Second

// hold renews the claim of a run until it is stopped. The context ends when the claim is lost,
// or when somebody asked for the run to stop.
func (e *Engine) hold(ctx context.Context, c *store.RunClaim) (held context.Context, stop func()) {
	held, cancel := context.WithCancelCause(ctx)
	claim := *c
	end := retry.Every(held, renewEvery, func(ctx context.Context) {
		if goOn, err := e.Store.PipelineRuns.Renew(ctx, &claim); err == nil && !goOn {
			cancel(errAsked)
		}
	})
	return held, func() { cancel(nil); end() }
}

// errAsked ends the context of a run that must look at what became of it.
var errAsked = errors.New("the run was cancelled, or another process claimed it")

// errStop is why a run ends before its last stage.
type errStop struct {
	state library.RunState
	err   error
}

func (s *errStop) Error() string { return s.err.Error() }
func (s *errStop) Unwrap() error { return s.err }

func (e *Engine) work(ctx context.Context, c *store.RunClaim) error {
	d, err := Parse(c.Stages, Options{Now: c.CreatedAt, Actor: c.Actor})
	if err == nil {
		err = e.stages(ctx, c, d)
	}
	if err == nil {
		c.State = library.RunCompleted
		return e.Store.PipelineRuns.Finish(ctx, c)
	}
	if errors.Is(context.Cause(ctx), errAsked) && !errors.As(err, new(*errStop)) {
		err = cancelled()
	} else if goesOn(ctx, err) {
		return err
	}
	e.fail(c, err)
	return e.Store.PipelineRuns.Finish(context.WithoutCancel(ctx), c) // another's claim takes it back
}

// goesOn reports whether a run that was interrupted by an error may still complete.
func goesOn(ctx context.Context, err error) bool {
	var stop *errStop
	if errors.As(err, &stop) {
		return false
	}
	return errors.Is(err, store.ErrClaimed) || ctx.Err() != nil || library.AsError(err).Retryable()
}

// fail notes why a run ends early.
func (e *Engine) fail(c *store.RunClaim, err error) {
	c.State = library.RunFailed
	state := library.StageFailed
	var stop *errStop
	if errors.As(err, &stop) {
		c.State = stop.state
		switch stop.state {
		case library.RunTimedOut:
			state = library.StageTimedOut
		case library.RunCancelled:
			state = library.StageSkipped
		}
	}
	known := library.AsError(err)
	if known.Kind == library.KindInternal {
		e.Log.Error("a pipeline failed", "run", c.ID, "error", err)
	}
	at := c.Progress.Stage
	p := c.Progress.Clone()
	p.Error = &library.StageError{Code: known.Code, Detail: known.Detail, Stage: &at}
	for i := at; i < len(p.Stages); i++ {
		t := &p.Stages[i]
		if t.State = library.StageSkipped; i == at {
			t.State = state
			t.Error = &library.StageError{Code: known.Code, Detail: known.Detail}
		}
	}
	c.Progress = p
}

// stages runs the stages that are left.
func (e *Engine) stages(ctx context.Context, c *store.RunClaim, d *Definition) error {
	behind := false
	if c.Progress.Stage == 0 && len(d.Steps) > 1 {
		if err := check(ctx, c); err != nil {
			return err
		}
		var err error
		if behind, err = e.runFused(ctx, c, d); err != nil {
			return err
		}
	}
	for c.Progress.Stage < len(d.Steps) {
		if err := check(ctx, c); err != nil {
			return err
		}
		i := c.Progress.Stage
		x := &exec{ctx: ctx, engine: e, claim: c, step: d.Steps[i], index: i, last: i == len(d.Steps)-1, now: c.CreatedAt, behind: behind}
		if err := x.runStage(); err != nil {
			return err
		}
	}
	return nil
}

// check returns why a run must stop, if it must.
func check(ctx context.Context, c *store.RunClaim) error {
	switch {
	case c.Cancelled:
		return cancelled()
	case time.Now().After(c.Deadline):
		return &errStop{library.RunTimedOut, library.NewError(library.KindUnprocessable, CodeRunTimedOut,
			"The run took longer than %s and was stopped. What it had changed stays and is listed; UndoOperation takes it back.", c.Deadline.Sub(c.CreatedAt).Round(time.Second))}
	}
	return ctx.Err()
}

func cancelled() error {
	return &errStop{library.RunCancelled, library.NewError(library.KindConflict, CodeCancelled, "The run was cancelled. What it had changed stays; UndoOperation takes it back.")}
}

// The codes of runs that were stopped.
const (
	CodeCancelled   = "RUN_CANCELLED"
	CodeRunTimedOut = "RUN_TIMED_OUT"
)
