// Package jobs runs background jobs: work that a transaction enqueued with
// store.Tx.Enqueue, so that it is done if and only if the transaction commits.
//
// In goes a handler per kind of job; it is called with the job's arguments, at least once
// per job, in any process that runs jobs. A handler that fails is called again by River's
// retry policy, which waits for the fourth power of the number of attempts in seconds. A
// job that failed 25 times, which takes three weeks, is discarded and kept for 7 days.
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"vitrine/internal/retry"
	"vitrine/store"
)

const (
	// poll is how long a job that was enqueued may wait for a worker that is free.
	poll = 500 * time.Millisecond
	// pause is the least time between two requests for jobs while there are more. River's own
	// default is a tenth of a second, which would bound a worker to ten jobs per second.
	pause = 2 * time.Millisecond
	// stopLimit is how long jobs may go on once the runner is to stop; then they are
	// canceled, and run again later.
	stopLimit = 10 * time.Second
	// countEvery is how often the jobs that wait are counted, for the metrics.
	countEvery = 15 * time.Second
)

// Config is how jobs are run.
type Config struct {
	Workers int // jobs that run at once; 0 means 1
	Runs    int // runs of pipelines that run at once, beside other jobs; 0 means 2
	// Timeout is how long a job may run; 0 means two minutes. A job whose process was
	// killed runs again three minutes after that.
	Timeout time.Duration
	Log     *slog.Logger
}

// Runner runs jobs. Handlers are added before Run.
type Runner struct {
	jobs    *store.Jobs
	cfg     Config
	workers *river.Workers
	metrics *Metrics
}

// New returns a runner without any handler.
func New(jobs *store.Jobs, cfg Config, m *Metrics) *Runner {
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.Runs == 0 {
		cfg.Runs = 2
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Minute
	}
	return &Runner{jobs: jobs, cfg: cfg, workers: river.NewWorkers(), metrics: m}
}

// Handle has jobs of one kind handled. An error of handle, or a panic, has it called again
// later; Later and Never say something else. Handling the same job twice must do no harm.
// It panics where the kind has a handler already.
func Handle[T store.JobArgs](r *Runner, handle func(context.Context, T) error) {
	river.AddWorker(r.workers, river.WorkFunc(func(ctx context.Context, job *river.Job[T]) error { return handle(ctx, job.Args) }))
}

// HandleFor is Handle for jobs that may run for a time of their own.
func HandleFor[T store.JobArgs](r *Runner, timeout time.Duration, handle func(context.Context, T) error) {
	river.AddWorker(r.workers, &longWorker[T]{timeout: timeout, handle: handle})
}

// longWorker runs jobs with a timeout of their own.
type longWorker[T store.JobArgs] struct {
	river.WorkerDefaults[T]
	timeout time.Duration
	handle  func(context.Context, T) error
}

// Timeout implements river.Worker.
func (w *longWorker[T]) Timeout(*river.Job[T]) time.Duration { return w.timeout }

// Work implements river.Worker.
func (w *longWorker[T]) Work(ctx context.Context, job *river.Job[T]) error {
	return w.handle(ctx, job.Args)
}

// Later returns the error of a handler that cannot do its job yet. It is called again after
// a time, which does not count as an attempt.
func Later(after time.Duration) error { return river.JobSnooze(after) }

// IsLater reports whether an error was made by Later.
func IsLater(err error) bool {
	var snooze *river.JobSnoozeError
	return errors.As(err, &snooze)
}

// Never returns the error of a handler that cannot ever do its job, and why.
func Never(err error) error { return river.JobCancel(err) }

// Run runs jobs until ctx ends, and then waits for those that run. It outlives any outage
// of the database, and returns nil when ctx has ended.
func (r *Runner) Run(ctx context.Context) error {
	client, err := r.jobs.NewClient(&river.Config{
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: r.cfg.Workers}, store.PreviewQueue: {MaxWorkers: r.cfg.Workers}, store.RunQueue: {MaxWorkers: r.cfg.Runs}, store.ExportQueue: {MaxWorkers: 2}, store.EnrichQueue: {MaxWorkers: r.cfg.Workers}},
		Workers:              r.workers,
		PollOnly:             true,
		FetchPollInterval:    poll,
		FetchCooldown:        pause,
		JobTimeout:           r.cfg.Timeout,
		RescueStuckJobsAfter: r.cfg.Timeout + 3*time.Minute,
		SoftStopTimeout:      stopLimit,
		// Completed jobs tell nothing that their effects do not.
		CompletedJobRetentionPeriod: time.Hour,
		ReindexerIndexNames:         []string{}, // the runner does not own the tables
		ErrorHandler:                reporter{r},
		Plugins:                     []rivertype.Plugin{&observer{metrics: r.metrics}},
		Logger:                      slog.New(atLeast{r.cfg.Log.With("service", "jobs").Handler(), slog.LevelWarn}),
	})
	if err != nil {
		return err
	}
	err = retry.UntilDone(ctx, client.Start, func(err error) { r.cfg.Log.Warn("background jobs could not be started", "error", err) })
	if err != nil {
		return nil // ctx has ended
	}
	r.count(ctx)
	<-client.Stopped()
	return nil
}

// count keeps the metrics of jobs that wait until ctx ends.
func (r *Runner) count(ctx context.Context) {
	for {
		counts, err := r.jobs.Counts(ctx)
		if err == nil {
			r.metrics.setCounts(counts)
		}
		if retry.Sleep(ctx, countEvery) != nil {
			return
		}
	}
}

// reporter logs jobs that failed.
type reporter struct{ r *Runner }

func (e reporter) HandleError(_ context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	if errors.Is(err, context.Canceled) { // the runner stops
		return nil
	}
	e.r.report(job, err)
	return nil
}

func (e reporter) HandlePanic(_ context.Context, job *rivertype.JobRow, value any, trace string) *river.ErrorHandlerResult {
	e.r.cfg.Log.Error("a background job panicked", "kind", job.Kind, "job", job.ID, "attempt", job.Attempt, "panic", value, "stack", trace)
	return nil
}

func (r *Runner) report(job *rivertype.JobRow, err error) {
	log := r.cfg.Log.With("kind", job.Kind, "job", job.ID, "attempt", job.Attempt, "error", err)
	if job.Attempt >= job.MaxAttempts {
		log.Error("a background job failed for the last time and is discarded")
		return
	}
	log.Warn("a background job failed; it runs again later")
}
