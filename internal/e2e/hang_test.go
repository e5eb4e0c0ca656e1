package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/internal/stack"
	"vitrine/internal/testenv"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// ownPostgres starts a PostgreSQL that the test may freeze, with the current schema.
func ownPostgres(t *testing.T) (servers stack.Config, url string) {
	t.Helper()
	testenv.Stack(t) // so that the downloads are there
	servers = stack.Config{Dir: filepath.Join(t.TempDir(), ".run"), CacheDir: testenv.StackConfig(t).CacheDir}
	t.Cleanup(func() {
		if err := stack.Reset(context.Background(), servers, io.Discard); err != nil {
			t.Errorf("resetting the server: %v", err)
		}
	})
	if err := stack.Start(t.Context(), servers, stack.Postgres); err != nil {
		t.Fatal(err)
	}
	at, err := stack.Addresses(servers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Migrate(t.Context(), store.Config{URL: at.PostgresURL}); err != nil {
		t.Fatal(err)
	}
	return servers, at.PostgresURL
}

// The promise: the first requests end after at most 10 s, further ones at once. The
// machine that tests may be busy, hence the second.
const (
	firstWithin   = 10 * time.Second
	furtherWithin = 3 * time.Second
)

// withoutDatabase are parts of the paths that are served without the database while the
// credential is remembered: searches of assets and of contacts, and what the configuration
// or the request alone says.
var withoutDatabase = []string{"/mcp", "search", "facets", "query", "signed-url", "thumbnail", "/import-roots", "/exports/presets", "/contacts?", "/pipelines/explain"}

// TestHang_EveryRequestEndsWith503WhilePostgresHangs freezes the database and makes
// every request that the product knows, all at once and then again.
func TestHang_EveryRequestEndsWith503WhilePostgresHangs(t *testing.T) {
	servers, url := ownPostgres(t)
	cfg := servicetest.Config(t)
	cfg.PostgresURL = url
	w := newWorldAt(t, cfg)
	requests := w.everyRequest()
	if err := stack.Pause(t.Context(), servers, stack.Postgres); err != nil {
		t.Fatal(err)
	}
	resumed := false
	defer func() {
		if !resumed {
			_ = stack.Resume(context.Background(), servers, stack.Postgres)
		}
	}()
	w.allEnd("first, with a credential that is remembered", requests, firstWithin, func(r request, status int, retryAfter string, body []byte) error {
		if status == http.StatusServiceUnavailable || slices.ContainsFunc(withoutDatabase, func(part string) bool { return strings.Contains(r.path, part) }) {
			return nil
		}
		return errors.New("neither answered from elsewhere nor 503")
	})
	time.Sleep(1100 * time.Millisecond) // no key is remembered longer
	w.allEnd("further", requests, furtherWithin, func(_ request, status int, retryAfter string, body []byte) error {
		if wait, err := strconv.Atoi(retryAfter); status != http.StatusServiceUnavailable || err != nil || wait < 1 {
			return errors.New("expected 503 and Retry-After")
		}
		return nil
	})
	if err := stack.Resume(t.Context(), servers, stack.Postgres); err != nil {
		t.Fatal(err)
	}
	resumed = true
	for _, r := range requests {
		servicetest.Eventually(t, r.method+" "+r.path+" is served again", func() error {
			if status, body, _ := w.Raw(r.method, r.path, r.key, r.body, r.header); status == http.StatusServiceUnavailable {
				return fmt.Errorf("%d %.200s", status, body)
			}
			return nil
		})
	}
}

// allEnd makes requests side by side. Each must end in time and pass the check.
func (w world) allEnd(round string, requests []request, limit time.Duration, check func(r request, status int, retryAfter string, body []byte) error) {
	w.T.Helper()
	var all sync.WaitGroup
	for _, r := range requests {
		all.Go(func() {
			began := time.Now()
			status, body, header := w.Raw(r.method, r.path, r.key, r.body, r.header)
			if took := time.Since(began); took > limit {
				w.T.Errorf("%s: %s %s ended after %s", round, r.method, r.path, took)
			}
			if err := check(r, status, header.Get("Retry-After"), body); err != nil {
				w.T.Errorf("%s: %s %s answered %d, Retry-After %q, %.300s: %v", round, r.method, r.path, status, header.Get("Retry-After"), body, err)
			}
		})
	}
	all.Wait()
}

// request is one HTTP request as it goes out.
type request struct {
	method, path, key string
	body              []byte
	header            http.Header
}

// everyRequest lists a request for each operation over REST and over MCP, and one for
// each route that needs the database and is no operation.
func (w world) everyRequest() []request {
	list := []request{{method: http.MethodGet, path: "/readyz"}}
	for _, o := range w.Catalog.Operations {
		args := w.args(o)
		r := request{method: o.Method, path: o.Path, key: w.Key}
		r.path, r.body = w.route(o, args)
		if o.Method != http.MethodGet {
			r.header = http.Header{"Idempotency-Key": {"hang-" + o.Name}, "Content-Type": {"application/json"}}
		}
		list = append(list, r)
		if !o.RESTOnly {
			call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": o.Name, "arguments": args,
				"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
			if err != nil {
				w.T.Fatal(err)
			}
			list = append(list, request{method: http.MethodPost, path: "/mcp", key: w.Key, body: call, header: http.Header{
				"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {o.Name}}})
		}
	}
	hash := w.asset.Asset.AssetH
	for _, path := range []string{"/download", "/thumbnail?size=2048"} {
		list = append(list, request{method: http.MethodGet, path: "/api/v1/assets/" + hash + path, key: w.Key})
	}
	return list
}
