package jobs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"vitrine/store"
)

// Metrics are the figures of jobs. A process has them once.
type Metrics struct {
	attempts *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	jobs     *prometheus.GaugeVec
	oldest   *prometheus.GaugeVec
}

// NewMetrics registers the figures.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_job_attempts_total",
			Help: "Attempts at background jobs by kind and outcome: done, failed, later (not possible yet), canceled."}, []string{"kind", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "vitrine_job_duration_seconds", Help: "Time that an attempt at a background job took.",
			Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120}}, []string{"kind"}),
		jobs: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_jobs",
			Help: "Background jobs that are not completed, by kind and state: available, running, retryable, scheduled, discarded, cancelled."}, []string{"kind", "state"}),
		oldest: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_job_wait_seconds", Help: "How long the oldest background job that could run waits for a worker."}, []string{"kind"}),
	}
	reg.MustRegister(m.attempts, m.seconds, m.jobs, m.oldest)
	return m
}

func (m *Metrics) setCounts(list []store.JobCount) {
	m.jobs.Reset()
	m.oldest.Reset()
	for _, c := range list {
		m.jobs.WithLabelValues(c.Kind, c.State).Set(float64(c.Jobs))
		if c.State == string(rivertype.JobStateAvailable) {
			m.oldest.WithLabelValues(c.Kind).Set(c.Oldest.Seconds())
		}
	}
}

// observer counts and times attempts.
type observer struct {
	river.MiddlewareDefaults
	metrics *Metrics
}

// Work implements rivertype.WorkerMiddleware.
func (o *observer) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	began := time.Now()
	outcome := "failed" // also where it panics
	defer func() {
		o.metrics.seconds.WithLabelValues(job.Kind).Observe(time.Since(began).Seconds())
		o.metrics.attempts.WithLabelValues(job.Kind, outcome).Inc()
	}()
	err := work(ctx)
	outcome = outcomeOf(err)
	return err
}

func outcomeOf(err error) string {
	var later *rivertype.JobSnoozeError
	var canceled *rivertype.JobCancelError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &later):
		return "later"
	case errors.As(err, &canceled):
		return "canceled"
	}
	return "failed"
}

// atLeast is a log handler that leaves out what is below a level.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled implements slog.Handler.
func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements slog.Handler.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
