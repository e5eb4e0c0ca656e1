package service

import (
	"context"
	"errors"
	"time"

	"vitrine/jobs"
	"vitrine/library"
	"vitrine/store"
)

// How runs of pipelines are worked on by jobs.
const (
	// runSlice is how long one job works on a run. A run that takes longer is snoozed and goes on
	// at once, so that no run keeps others waiting for ever.
	runSlice = 90 * time.Second
	// runRetry is when a run goes on that another process works on, or that met an outage.
	runRetry = 5 * time.Second
	// stalledTick is how often runs are looked for that nobody works on; stalledAfter is when a
	// new one counts as such.
	stalledTick  = 15 * time.Second
	stalledAfter = 15 * time.Second
)

// runPipeline works on a run. What was done of it is committed, so it goes on from there.
func (s *Service) runPipeline(ctx context.Context, j store.PipelineJob) error {
	slice, cancel := context.WithTimeout(ctx, runSlice)
	defer cancel()
	err := s.Pipelines.Work(slice, j.Tenant, j.Run)
	known := library.AsError(err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case slice.Err() != nil:
		return jobs.Later(0)
	case errors.Is(err, store.ErrClaimed), known.Retryable():
		return jobs.Later(runRetry)
	case known.Kind == library.KindNotFound:
		return nil // it was deleted
	}
	return err
}

// resumeRuns enqueues the runs that nobody works on: of processes that were killed.
func (s *Service) resumeRuns(ctx context.Context) {
	list, err := s.Store.PipelineRuns.Stalled(ctx, stalledAfter, 100)
	for _, j := range list {
		if err == nil {
			err = s.Store.PipelineRuns.Resume(ctx, j)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("runs of pipelines that stalled could not be resumed; it is tried again", "error", err)
	}
}
