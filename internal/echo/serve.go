package echo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/api"
	"vitrine/auth"
	"vitrine/library"
	"vitrine/mcp"
	"vitrine/op"
	"vitrine/store"
	"vitrine/store/storetest"
)

// Server is the catalog behind both transports.
type Server struct {
	*Bench
	URL    string
	Store  *store.Store
	Tenant library.TenantID
	Other  library.TenantID // a second tenant
	Log    *Log
	Admin  string // a key with every permission, for both tenants
}

// Log collects what the service logs.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends one line.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns all lines so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Operator is the actor that issues keys.
var Operator = library.Actor{Kind: library.ActorSystem, ID: "test"}

// Serve starts a server on a database of its own. change may be nil.
func Serve(t testing.TB, change func(*api.Config, *mcp.Config)) *Server {
	t.Helper()
	st, _ := storetest.Open(t)
	s := &Server{Bench: &Bench{Cancelled: make(chan struct{}, 10)}, Store: st, Log: &Log{}}
	s.Tenant, s.Other = s.newTenant(t, "one"), s.newTenant(t, "two")
	s.Admin = s.Key(t, library.Permissions, s.Other)

	log := slog.New(slog.NewJSONHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	registry := prometheus.NewRegistry()
	metrics := api.NewMetrics(registry)
	caller := &op.Caller{Limits: op.NewLimiter(op.Budgets), Idempotency: st.Idempotency, Observe: metrics.Observe}
	authenticator := auth.New(st.Keys)
	mc := mcp.Config{Catalog: s.Catalog(), Caller: caller, Auth: authenticator, Version: "test", Log: log}
	ac := api.Config{Catalog: s.Catalog(), Caller: caller, Auth: authenticator, Version: "test", Gatherer: registry, Metrics: metrics, Log: log}
	if change != nil {
		change(&ac, &mc)
	}
	endpoint := mcp.Handler(mc)
	ac.MCP = endpoint
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewServer(api.Handler(ac))
	server.Start()
	s.URL = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := endpoint.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *Server) newTenant(t testing.TB, name string) library.TenantID {
	t.Helper()
	tenant, err := s.Store.Tenants.Create(t.Context(), Operator, name)
	if err != nil {
		t.Fatal(err)
	}
	return tenant.ID
}

// Key issues a key of the first tenant.
func (s *Server) Key(t testing.TB, permissions []library.Permission, more ...library.TenantID) string {
	t.Helper()
	secret, _, err := auth.IssueKey(t.Context(), s.Store.Keys, Operator, auth.KeyRequest{Name: "test", Tenant: s.Tenant, MoreTenants: more, Permissions: permissions})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// Answer is an HTTP answer, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request. headers alternate names and values; a body that is no
// string is sent as JSON.
func (s *Server) Do(t testing.TB, method, path string, body any, headers ...string) Answer {
	t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if name, value := headers[i], headers[i+1]; name == "Host" {
			r.Host = value
		} else if r.Header.Get(name) != "" && name != "Content-Type" {
			r.Header.Add(name, value)
		} else {
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, read}
}
