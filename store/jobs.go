package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"vitrine/library"
)

// Jobs are background jobs, which River keeps and runs. Package jobs runs them; Tx.Enqueue
// adds one.
type Jobs struct {
	s      *Store
	client *river.Client[pgx.Tx] // for inserting alone
}

// JobArgs are the arguments of a job: a struct of ids that is encoded as JSON, with a
// field tenant_id. What else a job needs it reads when it runs, because it may run much
// later than it was enqueued. Kind names the job.
type JobArgs = river.JobArgs

// PreviewJob makes the preview of an asset that was stored.
type PreviewJob struct {
	Tenant library.TenantID  `json:"tenant_id"`
	Asset  library.AssetHash `json:"asset_h"`
}

// Kind implements JobArgs.
func (PreviewJob) Kind() string { return "preview" }

// PreviewQueue is the queue of the jobs that make previews: an import enqueues one per file,
// and no other job is to wait behind them.
const PreviewQueue = "previews"

// InsertOpts implements river.JobArgsWithInsertOpts.
func (PreviewJob) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: PreviewQueue} }

// jobDriver is River's driver of pgx without NOTIFY and LISTEN: a NOTIFY inside a
// transaction takes a lock that makes all commits of the database wait for each other.
// Jobs are polled for.
type jobDriver struct{ *riverpgxv5.Driver }

func (jobDriver) SupportsListener() bool     { return false }
func (jobDriver) SupportsListenNotify() bool { return false }

func newJobs(s *Store) (*Jobs, error) {
	client, err := river.NewClient(jobDriver{riverpgxv5.New(nil)}, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	return &Jobs{s, client}, err
}

// NewClient returns a client of River that runs jobs.
func (js *Jobs) NewClient(cfg *river.Config) (*river.Client[pgx.Tx], error) {
	return river.NewClient(jobDriver{riverpgxv5.New(js.s.indexer)}, cfg)
}

// Enqueue adds a job, which runs once the transaction has committed, at least once. The
// job must be the transaction's tenant's: the database refuses others.
func (t *Tx) Enqueue(ctx context.Context, jobs ...JobArgs) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i] = river.InsertManyParams{Args: j}
	}
	_, err := t.jobs.client.InsertManyTx(ctx, t.Tx, params)
	return err
}

// resumeJob enqueues a job of something that stalled, unless one with the same argument waits already.
func (s *Store) resumeJob(ctx context.Context, tenant library.TenantID, j JobArgs, argument, value string) error {
	_, err := s.Write(ctx, library.Actor{Kind: library.ActorSystem, ID: "service", Tenant: tenant}, func(t *Tx) error {
		var waits bool
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM river_job WHERE kind = $1 AND args ->> $2 = $3
				AND (state = 'available' OR state IN ('scheduled', 'retryable') AND scheduled_at > now()))`,
			j.Kind(), argument, value).Scan(&waits); err != nil || waits {
			return err
		}
		return t.Enqueue(ctx, j)
	})
	return err
}

// JobCount counts the jobs of a kind and a state that are not completed.
type JobCount struct {
	Kind, State string // State: available, running, retryable, scheduled, pending, discarded or cancelled
	Jobs        int64
	Oldest      time.Duration // since the oldest was due, or ended
}

// Counts returns how many jobs there are that are not completed.
func (js *Jobs) Counts(ctx context.Context) ([]JobCount, error) {
	return collectIndexer(ctx, js.s, `SELECT kind, state::text, count(*),
			greatest(extract(epoch FROM now() - min(coalesce(finalized_at, scheduled_at))), 0)::float8
		FROM river_job WHERE state IN ('available', 'cancelled', 'discarded', 'pending', 'retryable', 'running', 'scheduled') GROUP BY 1, 2 ORDER BY 1, 2`, func(row pgx.CollectableRow) (c JobCount, err error) {
		var seconds float64
		err = row.Scan(&c.Kind, &c.State, &c.Jobs, &seconds)
		c.Oldest = time.Duration(seconds * float64(time.Second))
		return c, err
	})
}

// DiscardedJob is a job that failed as often as it may.
type DiscardedJob struct {
	ID       int64
	Kind     string
	Tenant   library.TenantID
	Args     string // JSON
	Error    string // of the last attempt
	Attempts int
	At       time.Time
}

// Discarded returns the jobs that failed for good, the latest first, and at most limit.
func (js *Jobs) Discarded(ctx context.Context, limit int) ([]DiscardedJob, error) {
	return collectIndexer(ctx, js.s, `SELECT id, kind, tenant_id::text, args::text, coalesce(errors[array_upper(errors, 1)] ->> 'error', ''), attempt, finalized_at
		FROM river_job WHERE state = 'discarded' ORDER BY finalized_at DESC, id DESC LIMIT $1`, pgx.RowToStructByPos[DiscardedJob], limit)
}
