// Package servicetest runs the whole product for a test: a database, an index and
// topics of its own on the real servers, every role, and an HTTP address.
package servicetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/auth"
	"vitrine/indexer"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/query/run"
	"vitrine/service"
	"vitrine/store/storetest"
)

// Env is a running product.
type Env struct {
	*service.Service
	T      testing.TB
	URL    string
	Cfg    service.Config
	Tenant library.TenantID // the tenant that Key belongs to
	Key    string           // a key with every permission
	Logs   *Log
	http   *http.Client // of a client at another address; nil: the usual one
}

// Options change what Start runs.
type Options struct {
	Roles  []service.Role        // all when nil
	Adjust func(*service.Config) // before it starts
}

var system = library.Actor{Kind: library.ActorSystem, ID: "test"}

// Config returns the configuration of a product of a test's own, migrated and with
// nothing in it.
func Config(t testing.TB) service.Config {
	t.Helper()
	database := storetest.Database(t)
	engine, prefix := testenv.OpenSearch(t)
	brokers, _ := testenv.Kafka(t)
	return service.Config{PostgresURL: database, Brokers: brokers, OpenSearchURL: []string{engine}, DataDir: t.TempDir(), Prefix: prefix,
		Listen: freeAddress(t), Partitions: 3, SearchPerMin: -1, IndexWait: indexer.MaxWait, SearchLimit: run.MaxTimeLimit, Version: "test"}
}

// Start runs a product until the test ends and waits until it is ready.
func Start(t testing.TB, opt Options) *Env {
	t.Helper()
	cfg := Config(t)
	if opt.Adjust != nil {
		opt.Adjust(&cfg)
	}
	return StartWith(t, cfg, opt.Roles)
}

// StartWith runs a product on a configuration that the test made.
func StartWith(t testing.TB, cfg service.Config, roles []service.Role) *Env {
	t.Helper()
	log := &Log{}
	cfg.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s, err := service.Open(context.Background(), cfg)
	if err != nil {
		t.Fatalf("opening the service: %v", err)
	}
	e := &Env{Service: s, T: t, Cfg: cfg, URL: "http://" + cfg.Listen, Logs: log}
	e.run(roles)
	home, err := s.Store.Tenants.EnsureDefault(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	e.Tenant = home.ID
	e.Key = e.NewKey(home.ID, library.Permissions...)
	e.awaitReady()
	return e
}

func (e *Env) run(roles []service.Role) {
	if roles == nil {
		roles = service.Roles
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx, roles, nil) }()
	e.T.Cleanup(func() {
		stop()
		select {
		case err := <-done:
			if err != nil {
				e.T.Errorf("the service ended with %v", err)
			}
		case <-time.After(30 * time.Second):
			e.T.Error("the service did not stop in 30 s")
		}
		e.checkEvents()
		if err := e.Close(); err != nil {
			e.T.Errorf("closing the service: %v", err)
		}
		if e.T.Failed() {
			e.T.Logf("the service's log:\n%s", e.Logs.Tail(8000))
		}
	})
}

func (e *Env) awaitReady() {
	e.T.Helper()
	Eventually(e.T, "the service is ready", func() error {
		if err := e.Ready(e.T.Context()); err != nil {
			return err
		}
		_, err := e.Searcher.SearchProspects(e.T.Context(), e.Tenant, run.ProspectSearch{Today: "2026-01-01"}) // the index that is made last
		return err
	})
}

// NewTenant makes another tenant.
func (e *Env) NewTenant(name string) library.TenantID {
	e.T.Helper()
	t, err := e.Store.Tenants.Create(e.T.Context(), system, name)
	if err != nil {
		e.T.Fatal(err)
	}
	return t.ID
}

// NewKey makes a key.
func (e *Env) NewKey(tenant library.TenantID, permissions ...library.Permission) string {
	e.T.Helper()
	return e.NewKeyFor(tenant, nil, permissions...)
}

// NewKeyFor makes a key that may choose further tenants.
func (e *Env) NewKeyFor(tenant library.TenantID, more []library.TenantID, permissions ...library.Permission) string {
	e.T.Helper()
	secret, _, err := auth.IssueKey(e.T.Context(), e.Store.Keys, system, auth.KeyRequest{Name: "test", Tenant: tenant, MoreTenants: more, Permissions: permissions})
	if err != nil {
		e.T.Fatal(err)
	}
	return secret
}

// Client returns a REST client with a key; the one with every permission when empty.
// It repeats no call, so that a test sees every error.
func (e *Env) Client(key string) *client.Client {
	if key == "" {
		key = e.Key
	}
	return &client.Client{Base: e.URL, Key: key, Patience: -1}
}

// Call makes a REST call that must succeed.
func (e *Env) Call(method, path string, in, out any) {
	e.T.Helper()
	if err := e.Client("").Do(e.T.Context(), client.Operation{Method: method, Path: path}, in, out); err != nil {
		e.T.Fatalf("%s %s: %v", method, path, err)
	}
}

// From returns the same product as a client at another address of this machine reaches
// it. A test that sends many bad credentials uses addresses of its own, because the
// service slows an address down for all who share it.
func (e *Env) From(address netip.Addr) *Env {
	from := *e
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0))}
	transport := &http.Transport{DialContext: dialer.DialContext}
	e.T.Cleanup(transport.CloseIdleConnections)
	from.http = &http.Client{Transport: transport}
	return &from
}

func (e *Env) httpClient() *http.Client {
	if e.http == nil {
		return http.DefaultClient
	}
	return e.http
}

// Raw makes any HTTP request with a key and gives the status and body. An empty
// key sends none.
func (e *Env) Raw(method, path, key string, body []byte, header http.Header) (int, []byte, http.Header) {
	e.T.Helper()
	req, err := http.NewRequestWithContext(e.T.Context(), method, e.URL+path, bytes.NewReader(body))
	if err != nil {
		e.T.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := e.httpClient().Do(req)
	if err != nil {
		e.T.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		e.T.Fatal(err)
	}
	return res.StatusCode, answer, res.Header
}

// Stored is StoreAsset's response.
type Stored = client.StoreAssetOutput

// StoreFile stores bytes with the given key.
func (e *Env) StoreFile(key, filename, mime string, data []byte, tags ...string) Stored {
	e.T.Helper()
	out, err := e.Client(key).StoreAsset(e.T.Context(), client.StoreAssetInput{Filename: filename, MIMEType: mime,
		AssetDataBase64: base64.StdEncoding.EncodeToString(data), Tags: tags})
	if err != nil {
		e.T.Fatalf("storing %s: %v", filename, err)
	}
	return out
}

// Found is SearchAssets' response.
type Found struct {
	client.SearchAssetsOutput
	Total int `json:"total"` // as an int, which tests compare with lengths
}

// Has reports whether an asset is among the results.
func (f Found) Has(hash string) bool {
	for _, d := range f.Data {
		if d.AssetH == hash {
			return true
		}
	}
	return false
}

// Search searches with the given key. A token makes it wait for a write, however
// slow the machine is: an answer that says it is behind, or that the index does not
// answer right now, is asked for again.
func (e *Env) Search(key, text, token string) Found {
	e.T.Helper()
	in := client.SearchAssetsInput{Query: text, Limit: 100, MinIndexToken: token}
	for began := time.Now(); ; {
		out, err := e.Client(key).SearchAssets(e.T.Context(), in)
		if busy(err) && time.Since(began) < patience {
			time.Sleep(500 * time.Millisecond)
			continue
		}
		if err != nil {
			e.T.Fatalf("searching %q: %v", text, err)
		}
		if !slices.Contains(out.Degraded, "index_behind") {
			return Found{out, int(out.Total)}
		}
		if time.Since(began) > patience {
			e.T.Fatalf("the index did not show the write in %s", time.Since(began))
		}
	}
}

// busy reports whether an error says that the same call may succeed later: the index is
// shared with other tests, and on a busy machine it may seem to be away for a moment.
func busy(err error) bool {
	var e *client.Error
	return errors.As(err, &e) && e.Status == http.StatusServiceUnavailable && e.Retryable
}

// patience is how long a test waits for what the service does by itself. It says nothing of
// how fast the service is: a machine that runs all tests at once is slow.
const patience = 2 * time.Minute

// Eventually waits until check returns nil, and fails with its last error.
func Eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < patience; time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("not within %s: %s: %v", patience, what, err)
}

// JSON encodes a value for a request.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // tests send plain maps
	}
	return b
}

// freeAddress finds an address that nobody listens on right now.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Log keeps what a service logs.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// Tail returns the last bytes that were logged.
func (l *Log) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf.Bytes()
	return string(b[max(0, len(b)-n):])
}
