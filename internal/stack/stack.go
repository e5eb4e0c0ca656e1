// Package stack runs the three servers Vitrine needs (PostgreSQL, Kafka and OpenSearch with k-NN) on the developer's own
// machine: the real programs, downloaded once from Maven Central, without a container engine and without root services.
//
// What comes in is a Config: the run directory of a checkout, the download cache shared by all checkouts, and ports.
// What goes out are Endpoints: the three addresses, also written to endpoints.json in the run directory so that other
// processes find the running stack. The servers are detached: they outlive the command that started them.
//
// It never installs anything on the system except, when the caller is root, one unprivileged user to run the servers
// (PostgreSQL and OpenSearch refuse root). It never listens on anything but 127.0.0.1, and everything a server writes
// lives under the run directory, which may be deleted. The servers have no passwords: this is a stack for development.
package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// The names of the servers, in the order they are listed; Start, Stop, Kill, Pause, Resume and Logs take them.
const (
	Postgres   = "postgres"
	Kafka      = "kafka"
	OpenSearch = "opensearch"
)

// Names returns the names of all servers in listing order.
func Names() []string { return []string{Postgres, Kafka, OpenSearch} }

// startTimeout bounds how long one server may take from its start to its first answer. A cold OpenSearch needs about
// 20 s on two cores; the bound leaves room for a loaded machine.
const startTimeout = 3 * time.Minute

// Up brings all three servers up and returns their addresses once each answers its own protocol. Servers that already
// run are left alone, so calling it again is cheap; paused ones go on; missing downloads are fetched first. One line per
// step goes to progress. Two callers on one run directory wait for each other.
func Up(ctx context.Context, cfg Config, progress io.Writer) (Endpoints, error) {
	in, err := open(ctx, cfg, progress)
	if err != nil {
		return Endpoints{}, err
	}
	defer in.close()
	if err := in.start(ctx, in.servers()); err != nil {
		return Endpoints{}, err
	}
	return in.endpoints(), in.saveEndpoints()
}

// Down stops all servers: first with the signal each finishes its work on, after 30 s with SIGKILL. It is not an error
// when nothing runs.
func Down(ctx context.Context, cfg Config, progress io.Writer) error {
	in, err := open(ctx, cfg, progress)
	if err != nil {
		return err
	}
	defer in.close()
	return in.down(ctx)
}

// Reset stops all servers and deletes the run directory with all data in it. The download cache stays.
func Reset(ctx context.Context, cfg Config, progress io.Writer) error {
	in, err := open(ctx, cfg, progress)
	if err != nil {
		return err
	}
	defer in.close()
	if err := in.down(ctx); err != nil {
		return err
	}
	if err := in.releasePorts(ctx); err != nil {
		return err
	}
	in.say("deleting %s", in.home)
	if err := os.RemoveAll(in.home); err != nil {
		return fmt.Errorf("delete the run directory: %w", err)
	}
	if err := os.RemoveAll(in.cfg.Dir); err != nil {
		return fmt.Errorf("delete the run directory: %w", err)
	}
	return nil
}

// Start starts one server by name, or leaves it alone when it runs, and waits until it answers.
func Start(ctx context.Context, cfg Config, name string) error {
	return withServer(ctx, cfg, name, func(in *instance, s server) error {
		if err := in.start(ctx, []server{s}); err != nil {
			return err
		}
		return in.saveEndpoints()
	})
}

// Stop stops one server by name the way Down does. It is not an error when the server does not run.
func Stop(ctx context.Context, cfg Config, name string) error {
	return withServer(ctx, cfg, name, func(in *instance, s server) error { return in.stop(ctx, s) })
}

// Kill ends one server and all its child processes with SIGKILL, as a crash would, and returns when they are gone.
func Kill(ctx context.Context, cfg Config, name string) error {
	return withServer(ctx, cfg, name, func(in *instance, s server) error { return in.kill(ctx, s) })
}

// Pause freezes one server and all its child processes with SIGSTOP: connections stay open and nothing answers.
func Pause(ctx context.Context, cfg Config, name string) error {
	return withServer(ctx, cfg, name, func(in *instance, s server) error { return in.pause(ctx, s) })
}

// Resume lets a paused server go on. It is not an error when the server was not paused.
func Resume(ctx context.Context, cfg Config, name string) error {
	return withServer(ctx, cfg, name, func(in *instance, s server) error { return in.resume(s) })
}

func withServer(ctx context.Context, cfg Config, name string, do func(*instance, server) error) error {
	in, err := open(ctx, cfg, io.Discard)
	if err != nil {
		return err
	}
	defer in.close()
	s, err := in.server(name)
	if err != nil {
		return err
	}
	return do(in, s)
}

// start brings the given servers up side by side. What already answers costs one round trip; only when something has
// to be started are Java and the downloads looked for.
func (in *instance) start(ctx context.Context, servers []server) error {
	var missing []server
	for _, s := range servers {
		if !in.process(s).alive() {
			missing = append(missing, s)
		}
	}
	if err := in.choosePorts(ctx); err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := in.provide(ctx, missing); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range servers {
		g.Go(func() error { return in.bringUp(ctx, s) })
	}
	return g.Wait()
}

func (in *instance) bringUp(ctx context.Context, s server) error {
	began := time.Now()
	started := false
	if !in.process(s).alive() {
		if err := s.prepare(ctx); err != nil {
			return fmt.Errorf("prepare %s: %w", s.title(), err)
		}
		in.say("starting %s on port %d", s.title(), s.port())
		if err := in.launch(s); err != nil {
			return fmt.Errorf("start %s: %w", s.title(), err)
		}
		started = true
	} else if err := in.resume(s); err != nil {
		return err
	}
	if err := in.awaitReady(ctx, s); err != nil {
		return err
	}
	if started {
		in.say("%s answers after %.1f s", s.title(), time.Since(began).Seconds())
	}
	return nil
}

// awaitReady polls the server's own protocol until it answers, dies, or the time is up.
func (in *instance) awaitReady(ctx context.Context, s server) error {
	limit, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		try, stop := context.WithTimeout(limit, 5*time.Second)
		err := s.ready(try)
		stop()
		if err == nil {
			return nil
		}
		if !in.process(s).alive() {
			return fmt.Errorf("%s ended while starting; the end of its log %s says:\n%s", s.title(), in.logPath(s.name()), in.logTail(s.name(), 15))
		}
		select {
		case <-limit.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%s runs but did not answer within %s (%w); see its log %s", s.title(), startTimeout, err, in.logPath(s.name()))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (in *instance) down(ctx context.Context) error {
	if err := in.removeEndpoints(); err != nil {
		return err
	}
	servers := in.servers()
	errs := make([]error, len(servers))
	var g errgroup.Group
	for i, s := range servers {
		g.Go(func() error { errs[i] = in.stop(ctx, s); return nil })
	}
	_ = g.Wait()
	return errors.Join(errs...)
}
