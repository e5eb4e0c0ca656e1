package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/api"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
)

// Routes that are no operations, the pages and the MCP endpoint have no other net
// under them than the router's.
func TestRecovery_PanicOfAnyHandlerEndsItsRequestOnly(t *testing.T) {
	t.Parallel()
	breaks := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a defect with a secret: hunter2") })
	server := httptest.NewServer(api.Handler(api.Config{
		Catalog: (&echo.Bench{}).Catalog(), Caller: &op.Caller{}, Auth: nil, MCP: breaks, Fallback: breaks,
		Extra: []api.ExtraRoute{{Method: http.MethodGet, Path: "/files/{token}", Name: "Breaks", Tag: "files", Produces: "*/*", Summary: "Breaks.",
			Serve: func(w http.ResponseWriter, r *http.Request, _ library.Actor) error { breaks(w, r); return nil }}},
	}))
	t.Cleanup(server.Close)
	for range 2 { // the second request finds the process as it was
		for method, path := range map[string]string{http.MethodGet: "/files/abc", http.MethodHead: "/page", http.MethodPost: "/mcp"} {
			req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatalf("%s: the connection broke: %v", path, err)
			}
			var p op.Problem
			err = json.NewDecoder(res.Body).Decode(&p)
			res.Body.Close()
			if res.StatusCode != http.StatusInternalServerError {
				t.Errorf("%s answers %d", path, res.StatusCode)
			}
			if method != http.MethodHead && (err != nil || p.Code != library.CodeInternal || p.RequestID == "" || strings.Contains(p.Detail, "hunter2")) {
				t.Errorf("%s: %v %+v", path, err, p)
			}
		}
	}
}
