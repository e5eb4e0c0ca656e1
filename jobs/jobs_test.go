package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"vitrine/jobs"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// note is a job of the tests.
type note struct {
	Tenant library.TenantID `json:"tenant_id"`
	ID     string           `json:"id"`
}

func (note) Kind() string { return "note" }

// once is a job that is tried once.
type once struct{ note }

func (once) Kind() string { return "once" }

type bench struct {
	*store.Store
	t        testing.TB
	url      string
	actor    library.Actor
	registry *prometheus.Registry
}

func newBench(t testing.TB) *bench {
	t.Helper()
	s, url := storetest.Open(t)
	home, err := s.Tenants.EnsureDefault(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{Store: s, t: t, url: url, actor: library.Actor{Kind: library.ActorKey, ID: "key", Tenant: home.ID, Permissions: library.Permissions}}
}

func (b *bench) runner() *jobs.Runner {
	b.registry = prometheus.NewRegistry()
	return jobs.New(b.Jobs, jobs.Config{Workers: 4, Log: slog.New(slog.NewTextHandler(b.t.Output(), nil))}, jobs.NewMetrics(b.registry))
}

// run runs jobs until the function that it returns is called, or the test ends.
func (b *bench) run(r *jobs.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		cancel()
		if stopped.CompareAndSwap(false, true) {
			if err := <-done; err != nil {
				b.t.Errorf("the runner ended with %v", err)
			}
		}
	}
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) enqueue(list ...store.JobArgs) {
	b.t.Helper()
	_, err := b.Write(b.t.Context(), b.actor, func(t *store.Tx) error { return t.Enqueue(b.t.Context(), list...) })
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) counts() map[string]int64 {
	b.t.Helper()
	list, err := b.Jobs.Counts(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]int64{}
	for _, c := range list {
		out[c.Kind+" "+c.State] += c.Jobs
	}
	return out
}

func eventually(t testing.TB, limit time.Duration, what string, check func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !check(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: not %s", limit, what)
		}
	}
}

func TestRun_AJobThatFailsOrPanicsRunsAgainWithItsArguments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.runner()
	var attempts atomic.Int64
	done := make(chan note, 3)
	jobs.Handle(r, func(_ context.Context, n note) error {
		switch attempts.Add(1) {
		case 1:
			return errors.New("not yet")
		case 2:
			return jobs.Later(0)
		case 3:
			panic("a defect")
		}
		done <- n
		return nil
	})
	b.enqueue(note{b.actor.Tenant, "the one"})
	stop := b.run(r)
	select {
	case n := <-done:
		if n.ID != "the one" || n.Tenant != b.actor.Tenant {
			t.Errorf("it ran with %+v", n)
		}
	case <-time.After(2 * time.Minute):
		t.Fatalf("it did not succeed in %d attempts; %v", attempts.Load(), b.counts())
	}
	stop()
	if n := attempts.Load(); n != 4 {
		t.Errorf("%d attempts", n)
	}
	if c := b.counts(); len(c) != 0 {
		t.Errorf("left: %v", c)
	}
	if n := testutil.CollectAndCount(b.registry, "vitrine_job_attempts_total"); n != 3 { // done, failed, later
		t.Errorf("attempts have %d outcomes in the metrics", n)
	}
}

func TestRun_AJobThatFailedForGoodIsShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.runner()
	jobs.Handle(r, func(context.Context, once) error { return errors.New("the disk is gone") })
	b.enqueue(once{note{b.actor.Tenant, "x"}})
	c := storetest.Owner(t, b.url)
	if _, err := c.Exec(t.Context(), `UPDATE river_job SET max_attempts = 1`); err != nil {
		t.Fatal(err)
	}
	b.run(r)
	eventually(t, time.Minute, "discarded", func() bool { return b.counts()["once discarded"] == 1 })
	list, err := b.Jobs.Discarded(t.Context(), 10)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if d := list[0]; d.Kind != "once" || d.Tenant != b.actor.Tenant || d.Error != "the disk is gone" || d.Attempts != 1 || d.At.IsZero() {
		t.Errorf("%+v", d)
	}
}

func TestRun_StoppingWaitsForTheJobsThatRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.runner()
	began, ended := make(chan bool), atomic.Bool{}
	jobs.Handle(r, func(ctx context.Context, _ note) error {
		began <- true
		time.Sleep(time.Second)
		ended.Store(true)
		return ctx.Err()
	})
	b.enqueue(note{b.actor.Tenant, "slow"})
	stop := b.run(r)
	<-began
	stop()
	if !ended.Load() {
		t.Error("the runner stopped before its job")
	}
	if c := b.counts(); len(c) != 0 {
		t.Errorf("left: %v", c)
	}
}

// TestMain runs the process that a test kills, where it is that.
func TestMain(m *testing.M) {
	if url := os.Getenv("JOBS_TEST_DATABASE"); url != "" {
		if os.Getenv("JOBS_TEST_DURING") != "" {
			dieDuring(url)
		}
		die(url)
	}
	os.Exit(m.Run())
}

// die enqueues a job and kills its process with the transaction just committed.
func die(url string) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		panic(err)
	}
	all, err := s.Tenants.List(ctx)
	if err != nil {
		panic(err)
	}
	actor := library.Actor{Kind: library.ActorKey, ID: "key", Tenant: all[0].ID}
	if _, err := s.Write(ctx, actor, func(t *store.Tx) error { return t.Enqueue(ctx, note{actor.Tenant, "left behind"}) }); err != nil {
		panic(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// take makes the effect of a job: a row, which says how often the job was handled.
func take(ctx context.Context, url string, n note) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	_, err = c.Exec(ctx, `INSERT INTO effects (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET handled = effects.handled + 1`, n.ID)
	return err
}

// dieDuring runs jobs and kills its process in the midst of one: its effect is there, and
// nothing says that it is done.
func dieDuring(url string) {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		panic(err)
	}
	r := jobs.New(s.Jobs, jobs.Config{Workers: 1, Log: slog.New(slog.DiscardHandler)}, jobs.NewMetrics(prometheus.NewRegistry()))
	jobs.Handle(r, func(ctx context.Context, n note) error {
		if err := take(ctx, url, n); err != nil {
			panic(err)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})
	_ = r.Run(ctx)
}

// TestRun_AJobDuringWhichItsProcessWasKilledRunsAgainWithOneEffect: a job that was begun and
// not done is taken up by another process, and its effect is there once.
func TestRun_AJobDuringWhichItsProcessWasKilledRunsAgainWithOneEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	owner := storetest.Owner(t, b.url)
	change := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	change(`CREATE TABLE effects (id text PRIMARY KEY, handled int NOT NULL DEFAULT 1)`)
	b.enqueue(note{b.actor.Tenant, "interrupted"})
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), "JOBS_TEST_DATABASE="+b.url, "JOBS_TEST_DURING=1")
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	if c := b.counts(); c["note running"] != 1 {
		t.Fatalf("after the kill: %v", c)
	}
	change(`UPDATE river_job SET attempted_at = now() - interval '1 hour'`) // another process waits minutes before it takes it for lost
	r := b.runner()
	jobs.Handle(r, func(ctx context.Context, n note) error { return take(ctx, b.url, n) })
	b.run(r)
	eventually(t, 2*time.Minute, "done", func() bool {
		c := b.counts()
		return c["note running"]+c["note available"]+c["note retryable"]+c["note scheduled"]+c["note discarded"] == 0
	})
	var effects, handled int
	if err := owner.QueryRow(t.Context(), `SELECT count(*), max(handled) FROM effects`).Scan(&effects, &handled); err != nil || effects != 1 || handled != 2 {
		t.Errorf("%d effects of a job that was handled %d times, error %v; want one of two", effects, handled, err)
	}
}

func TestRun_AJobOfAProcessThatWasKilledAfterItsCommitRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), "JOBS_TEST_DATABASE="+b.url)
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
	if c := b.counts(); c["note available"] != 1 {
		t.Fatalf("%v", c)
	}
	r := b.runner()
	ran := make(chan string, 1)
	jobs.Handle(r, func(_ context.Context, n note) error { ran <- n.ID; return nil })
	b.run(r)
	select {
	case id := <-ran:
		if id != "left behind" {
			t.Errorf("%q ran", id)
		}
	case <-time.After(time.Minute):
		t.Error("it did not run")
	}
}
