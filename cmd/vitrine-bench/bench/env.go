package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"vitrine/api/client"
	"vitrine/auth"
	"vitrine/library"
	"vitrine/service"
	"vitrine/store"
)

// env is a running product of the benchmark's own.
type env struct {
	Config
	*service.Service
	cfg    service.Config
	tenant library.TenantID
	key    string
	dir    string // holds everything that lies on disk

	http *http.Client // to the service
	bare *http.Client // to OpenSearch
	undo []func(context.Context) error

	repeated int           // searches that failed and were asked again
	filled   time.Duration // how long the last rebuild of the index took

	streams roles // relay and indexer, which are stopped while they are measured
	others  roles
}

// roles are some roles of the service while they run.
type roles struct {
	stop context.CancelFunc
	done chan error
}

var actor = library.Actor{Kind: library.ActorSystem, ID: "bench", Name: "benchmark"}

// start opens a product for a run, with defaults for what the configuration leaves out.
func start(ctx context.Context, cfg Config) (*env, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg)
}

// open makes the servers' share of the benchmark and starts the product on it.
func open(ctx context.Context, cfg Config) (e *env, err error) {
	e = &env{Config: cfg, http: newHTTP(), bare: newHTTP()}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails: it ends the program instead
	name := "vitrine_bench_" + hex.EncodeToString(id)
	if e.dir, err = os.MkdirTemp("", name+"_"); err != nil {
		return e, err
	}
	e.undo = append(e.undo, func(context.Context) error { return os.RemoveAll(e.dir) })
	e.cfg = service.Config{Brokers: cfg.Servers.Brokers, OpenSearchURL: cfg.Servers.OpenSearchURL, DataDir: e.dir + "/data",
		Prefix: strings.ReplaceAll(name, "_", "-") + "-", SearchPerMin: -1, ScrubRate: -1, Embed: cfg.embed, ImportRoots: cfg.roots, Webhooks: cfg.hooks, Version: cfg.Servers.Version, Log: cfg.Servers.Log}
	if e.cfg.Listen, err = freeAddress(); err != nil {
		return e, err
	}
	if e.cfg.PostgresURL, err = e.makeDatabase(ctx, cfg.Servers.PostgresURL, name); err != nil {
		return e, err
	}
	e.undo = append(e.undo, e.removeIndices, e.removeTopics)
	if e.Service, err = service.Open(ctx, e.cfg); err != nil {
		return e, err
	}
	return e, e.start(ctx)
}

// newHTTP makes a client with a pool of connections of its own, so that the two
// sides of a comparison share nothing.
func newHTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 5 * time.Minute, DisableCompression: true}, Timeout: time.Minute}
}

func (e *env) start(ctx context.Context) error {
	tenant, err := e.Store.Tenants.EnsureDefault(ctx, actor)
	if err != nil {
		return err
	}
	e.tenant = tenant.ID
	if e.key, _, err = auth.IssueKey(ctx, e.Store.Keys, actor, auth.KeyRequest{Name: "bench", Tenant: tenant.ID, Permissions: library.Permissions}); err != nil {
		return err
	}
	e.others = e.run(service.RoleAPI, service.RoleWork)
	e.streams = e.run(service.RoleRelay, service.RoleIndex)
	return until(ctx, 20*time.Millisecond, time.Minute, "the service is ready", func() (bool, error) { return e.Ready(ctx) == nil, nil })
}

func (e *env) run(list ...service.Role) roles {
	ctx, stop := context.WithCancel(context.Background())
	r := roles{stop: stop, done: make(chan error, 1)}
	go func() { r.done <- e.Run(ctx, list, nil) }()
	return r
}

// end stops roles and waits until they have finished.
func (r *roles) end() error {
	if r.stop == nil {
		return nil
	}
	r.stop()
	r.stop = nil
	select {
	case err := <-r.done:
		return err
	case <-time.After(30 * time.Second):
		return errors.New("the service did not stop within 30 s")
	}
}

// cleanLimit bounds what is done after a run, which may have been interrupted.
const cleanLimit = time.Minute

// close stops the product and removes all that was made, the last first.
func (e *env) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanLimit)
	defer cancel()
	errs := []error{e.streams.end(), e.others.end()}
	if e.Service != nil {
		errs = append(errs, e.Service.Close())
	}
	e.http.CloseIdleConnections()
	e.bare.CloseIdleConnections()
	for i := len(e.undo) - 1; i >= 0; i-- {
		errs = append(errs, e.undo[i](ctx))
	}
	return errors.Join(errs...)
}

// cleanUp ends a run: it closes the product, and adds to err what of that failed.
func (e *env) cleanUp(err *error) {
	e.Step("Cleaning up")
	*err = errors.Join(*err, e.close())
}

func (e *env) url() string { return "http://" + e.cfg.Listen }

func (e *env) client() *client.Client {
	return &client.Client{Base: e.url(), Key: e.key, HTTP: e.http}
}

// freeAddress finds an address that nobody listens on right now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// makeDatabase makes a database on the server of another one, migrates it and
// gives its URL.
func (e *env) makeDatabase(ctx context.Context, server, name string) (string, error) {
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("making a database for the benchmark: %w", err)
	}
	e.undo = append(e.undo, func(ctx context.Context) error {
		return execute(ctx, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	own, err := otherDatabase(server, name)
	if err != nil {
		return "", err
	}
	_, err = store.Migrate(ctx, store.Config{URL: own})
	return own, err
}

// until asks again and again until the answer is yes.
func until(ctx context.Context, every, limit time.Duration, what string, ask func() (bool, error)) error {
	for began := time.Now(); ; {
		ok, err := ask()
		if err != nil || ok {
			return err
		}
		if time.Since(began) > limit {
			return fmt.Errorf("not within %s: %s", limit, what)
		}
		if err := sleep(ctx, every); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
