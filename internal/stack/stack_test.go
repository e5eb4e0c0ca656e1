package stack_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"vitrine/internal/stack"
	"vitrine/internal/testenv"
)

func TestStack_TheSharedStackAnswersAndUpLeavesItAlone(t *testing.T) {
	endpoints := testenv.Stack(t)
	cfg := testenv.StackConfig(t)
	before := statuses(t, cfg)
	for _, s := range before {
		if s.State != stack.Answers || s.PID == 0 || s.Address == "" {
			t.Errorf("%s: %+v, want it running with process and address", s.Name, s)
		}
	}
	began := time.Now()
	again, err := stack.Up(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("up on a running stack took %s, want below 1 s", took)
	}
	if diff := cmp.Diff(endpoints, again); diff != "" {
		t.Errorf("up on a running stack moved it (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, statuses(t, cfg)); diff != "" {
		t.Errorf("up on a running stack restarted a server (-before +after):\n%s", diff)
	}
}

func statuses(t *testing.T, cfg stack.Config) []stack.ServerStatus {
	t.Helper()
	all, err := stack.Status(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(stack.Names()) {
		t.Fatalf("status of %d servers, want %d", len(all), len(stack.Names()))
	}
	return all
}

// ownPostgres starts PostgreSQL alone in a run directory of this test; the other two servers take half a minute.
func ownPostgres(t *testing.T) stack.Config {
	t.Helper()
	testenv.Stack(t) // so that the downloads are there
	cfg := stack.Config{Dir: filepath.Join(t.TempDir(), ".run"), CacheDir: testenv.StackConfig(t).CacheDir, ShortLived: true}
	t.Cleanup(func() {
		if err := stack.Reset(context.Background(), cfg, io.Discard); err != nil {
			t.Errorf("reset: %v", err)
		}
		if _, err := os.Stat(cfg.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("reset left the run directory: %v", err)
		}
	})
	must(t, stack.Start(t.Context(), cfg, stack.Postgres))
	return cfg
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, cfg stack.Config) (stack.State, string) {
	t.Helper()
	s := statuses(t, cfg)[0]
	return s.State, s.Address
}

// execute runs one statement on a connection of its own.
func execute(t *testing.T, cfg stack.Config, statement string) error {
	t.Helper()
	_, address := state(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://postgres@"+address+"/postgres?sslmode=disable")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

func TestStack_ASecondStackKeepsCommittedRowsOverAKillOnTheSamePort(t *testing.T) {
	cfg := ownPostgres(t)
	_, address := state(t, cfg)
	if shared := statuses(t, testenv.StackConfig(t))[0].Address; shared == address {
		t.Fatalf("two stacks have the address %s", address)
	}
	must(t, execute(t, cfg, `create table kept (id int); insert into kept values (1)`))

	must(t, stack.Kill(t.Context(), cfg, stack.Postgres))
	if got, _ := state(t, cfg); got != stack.Stopped {
		t.Errorf("a killed server is %s, want stopped", got)
	}
	must(t, stack.Start(t.Context(), cfg, stack.Postgres))
	if _, again := state(t, cfg); again != address {
		t.Errorf("after the kill the server is at %s, before at %s", again, address)
	}
	if err := execute(t, cfg, `select 1 / count(*) from kept`); err != nil {
		t.Errorf("the row committed before the kill is gone: %v", err)
	}
}

func TestStack_APausedServerIsSilentUntilResumedOrStarted(t *testing.T) {
	cfg := ownPostgres(t)
	goOn := map[string]func() error{
		"resume": func() error { return stack.Resume(t.Context(), cfg, stack.Postgres) },
		"start":  func() error { return stack.Start(t.Context(), cfg, stack.Postgres) },
	}
	for name, resume := range goOn {
		must(t, stack.Pause(t.Context(), cfg, stack.Postgres))
		if got, _ := state(t, cfg); got != stack.Paused {
			t.Errorf("a paused server is %s", got)
		}
		if err := execute(t, cfg, `select 1`); err == nil {
			t.Error("a paused server answers")
		}
		must(t, resume())
		if err := execute(t, cfg, `select 1`); err != nil {
			t.Errorf("after %s the server does not answer: %v", name, err)
		}
	}
	must(t, stack.Pause(t.Context(), cfg, stack.Postgres))
	must(t, stack.Stop(t.Context(), cfg, stack.Postgres))
	if got, _ := state(t, cfg); got != stack.Stopped {
		t.Errorf("a server stopped while paused is %s", got)
	}
}

func TestStack_WithAServerMissingDoesNotCountAsRunning(t *testing.T) {
	cfg := ownPostgres(t)
	if found, err := stack.Running(cfg.Dir); !errors.Is(err, stack.ErrNotRunning) {
		t.Errorf("Running = %+v, %v, want ErrNotRunning", found, err)
	}
	if found, err := stack.Running(t.TempDir()); !errors.Is(err, stack.ErrNotRunning) {
		t.Errorf("Running on an empty directory = %+v, %v, want ErrNotRunning", found, err)
	}
}

func TestStack_AnUnknownServerIsRefusedWithTheNamesThereAre(t *testing.T) {
	cfg := stack.Config{Dir: filepath.Join(t.TempDir(), ".run"), CacheDir: t.TempDir()}
	for name, do := range map[string]func(context.Context, stack.Config, string) error{
		"start": stack.Start, "stop": stack.Stop, "kill": stack.Kill, "pause": stack.Pause, "resume": stack.Resume,
	} {
		if err := do(t.Context(), cfg, "mysql"); err == nil {
			t.Errorf("%s accepts a server that does not exist", name)
		}
	}
}
