package api_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/api"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/mcp"
	"vitrine/op"
)

const asset = "0123456789abcdef0123456789abcdef01234567"

// problem reads an answer that must be one.
func problem(t testing.TB, a echo.Answer) op.Problem {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("%d with type %q: %.300s", a.Status, got, a.Body)
	}
	var p op.Problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != a.Status || p.Code == "" || p.Detail == "" || p.Errors == nil || p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("incomplete problem: %s", a.Body)
	}
	return p
}

func TestAPI_PathQueryAndBodyBecomeOneMapOfArguments(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	for name, c := range map[string]struct {
		method, path string
		body         any
		want         string // part of the answer, or code and field of the problem
	}{
		"a body":                            {"POST", "/api/v1/echo", `{"text":"fox","count":3}`, `"text":"fox","count":3`},
		"camelCase in a body":               {"POST", "/api/v1/echo", `{"text":"fox","orderBy":"created"}`, `"order_by":"created"`},
		"a query":                           {"GET", "/api/v1/echo/list?text=fox&count=7&exact=true&ratio=0.5&order_by=created", nil, `"count":7,"ratio":0.5,"exact":true,"order_by":"created"`},
		"camelCase in a query":              {"GET", "/api/v1/echo/list?text=fox&orderBy=created", nil, `"order_by":"created"`},
		"a list by commas":                  {"GET", "/api/v1/echo/list?text=fox&tags=a,b", nil, `"tags":["a","b"]`},
		"a list by repetition":              {"GET", "/api/v1/echo/list?text=fox&tags=a%2Cb&tags=c", nil, `"tags":["a,b","c"]`},
		"a list as JSON":                    {"GET", "/api/v1/echo/list?text=fox&tags=%5B%22a%2Cb%22%5D", nil, `"tags":["a,b"]`},
		"a tag with a bracket":              {"GET", "/api/v1/echo/list?text=fox&tags=[a,b]", nil, `"tags":["[a","b]"]`},
		"an empty list":                     {"GET", "/api/v1/echo/list?text=fox&tags=", nil, `"tags":[]`},
		"an object in a query":              {"GET", "/api/v1/echo/list?text=fox&filters=%7B%22status%22:%22Draft%22%7D", nil, `"status":"Draft"`},
		"an object by its members":          {"GET", "/api/v1/echo/list?text=fox&filters[status]=Draft", nil, `"status":"Draft"`},
		"an unknown member":                 {"GET", "/api/v1/echo/list?text=fox&filters[state]=Draft", nil, "VALIDATION_FAILED filters.state"},
		"members of what is no object":      {"GET", "/api/v1/echo/list?text=fox&tags[0]=a", nil, "VALIDATION_FAILED "},
		"a member twice":                    {"POST", "/api/v1/echo?filters[status]=Draft", `{"text":"fox","filters":{"status":"Draft"}}`, "VALIDATION_FAILED "},
		"a number kept as text":             {"GET", "/api/v1/echo/list?text=42", nil, `"text":"42"`},
		"a 64 bit number in a query":        {"GET", "/api/v1/echo/list?text=a&seed=18446744073709551615", nil, `"seed":18446744073709551615`},
		"query and body together":           {"POST", "/api/v1/echo?count=3", `{"text":"fox"}`, `"text":"fox","count":3`},
		"the same value in both":            {"POST", "/api/v1/echo?count=3&orderBy=created", `{"text":"fox","count":3,"order_by":"created"}`, `"count":3`},
		"a path":                            {"GET", "/api/v1/echo/" + asset, nil, asset},
		"an attachment":                     {"GET", "/api/v1/echo/" + asset + "?include_image=true", nil, `"image":true,"attachments":[{"mime_type":"image/png","data_base64":"` + base64.StdEncoding.EncodeToString(echo.Pixel)},
		"an empty body":                     {"POST", "/api/v1/echo?text=fox", nil, `"text":"fox"`},
		"different values in both":          {"POST", "/api/v1/echo?count=4", `{"text":"fox","count":3}`, "VALIDATION_FAILED count"},
		"different values, other spelling":  {"POST", "/api/v1/echo?order_by=created", `{"text":"fox","orderBy":"relevance"}`, "VALIDATION_FAILED order_by"},
		"different values in a query":       {"GET", "/api/v1/echo/list?text=a&text=b", nil, "VALIDATION_FAILED text"},
		"a path that contradicts the query": {"GET", "/api/v1/echo/" + asset + "?asset_h=" + strings.Repeat("1", 40), nil, "VALIDATION_FAILED asset_h"},
		"a bad number in a query":           {"GET", "/api/v1/echo/list?text=a&count=many", nil, "VALIDATION_FAILED count"},
		"an unknown name in a query":        {"GET", "/api/v1/echo/list?text=a&limits=3", nil, "VALIDATION_FAILED limits"},
		"a bad path value":                  {"GET", "/api/v1/echo/zz", nil, "VALIDATION_FAILED asset_h"},
		"a broken query":                    {"GET", "/api/v1/echo/list?text=%zz", nil, "VALIDATION_FAILED "},
		"broken JSON":                       {"POST", "/api/v1/echo", `{"text":`, "MALFORMED_JSON "},
		"a list as a body":                  {"POST", "/api/v1/echo", `[]`, "MALFORMED_JSON "},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Do(t, c.method, c.path, c.body, "X-API-Key", s.Admin)
			if code, field, bad := strings.Cut(c.want, " "); bad {
				p := problem(t, a)
				if p.Code != code || field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != field) {
					t.Errorf("want %s: %s", c.want, a.Body)
				}
				return
			}
			if a.Status != 200 || !strings.Contains(string(a.Body), c.want) {
				t.Errorf("%d %s, want %s", a.Status, a.Body, c.want)
			}
		})
	}
}

func TestAPI_EveryFaultIsAProblemWithItsStatus(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	reader := s.Key(t, nil)
	big := strings.Repeat("x", op.MaxBody+1)
	for name, c := range map[string]struct {
		method, path string
		body         any
		headers      []string
		status       int
		code         string
	}{
		"no credential":         {"POST", "/api/v1/echo", `{"text":"a"}`, nil, 401, "UNAUTHENTICATED"},
		"a session token":       {"POST", "/api/v1/echo", `{}`, []string{"Authorization", "Bearer abc"}, 401, "UNAUTHENTICATED"},
		"a key in the URL":      {"POST", "/api/v1/echo?key=" + s.Admin, `{}`, nil, 400, "KEY_IN_URL"},
		"also without a route":  {"GET", "/nowhere?key=" + s.Admin, nil, nil, 400, "KEY_IN_URL"},
		"a missing permission":  {"DELETE", "/api/v1/echo/" + asset, nil, []string{"X-API-Key", reader}, 403, "PERMISSION_REQUIRED"},
		"another tenant":        {"POST", "/api/v1/echo", map[string]any{"text": "a", "tenant_id": s.Other}, []string{"X-API-Key", reader}, 404, "NOT_FOUND"},
		"no route":              {"GET", "/api/v2/echo", nil, []string{"X-API-Key", reader}, 404, "NOT_FOUND"},
		"another method":        {"PUT", "/api/v1/echo", nil, []string{"X-API-Key", reader}, 405, "METHOD_NOT_ALLOWED"},
		"too large":             {"POST", "/api/v1/echo", big, []string{"X-API-Key", reader}, 413, "PAYLOAD_TOO_LARGE"},
		"no JSON":               {"POST", "/api/v1/echo", "text=a", []string{"X-API-Key", reader, "Content-Type", "application/x-www-form-urlencoded"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		"compressed":            {"POST", "/api/v1/echo", "{}", []string{"X-API-Key", reader, "Content-Encoding", "gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE"},
		"a bad idempotency key": {"POST", "/api/v1/echo/things", `{"name":"a"}`, []string{"X-API-Key", s.Admin, "Idempotency-Key", "a b"}, 400, "VALIDATION_FAILED"},
		"kind conflict":         {"POST", "/api/v1/echo/fail", `{"kind":"conflict"}`, []string{"X-API-Key", reader}, 409, "ECHO_FAULT"},
		"kind gone":             {"POST", "/api/v1/echo/fail", `{"kind":"gone"}`, []string{"X-API-Key", reader}, 410, "ECHO_FAULT"},
		"kind precondition":     {"POST", "/api/v1/echo/fail", `{"kind":"precondition"}`, []string{"X-API-Key", reader}, 412, "ECHO_FAULT"},
		"kind unprocessable":    {"POST", "/api/v1/echo/fail", `{"kind":"unprocessable"}`, []string{"X-API-Key", reader}, 422, "ECHO_FAULT"},
		"kind rate limited":     {"POST", "/api/v1/echo/fail", `{"kind":"rate_limited"}`, []string{"X-API-Key", reader}, 429, "ECHO_FAULT"},
		"kind unavailable":      {"POST", "/api/v1/echo/fail", `{"kind":"unavailable"}`, []string{"X-API-Key", reader}, 503, "ECHO_FAULT"},
		"kind storage full":     {"POST", "/api/v1/echo/fail", `{"kind":"storage_full"}`, []string{"X-API-Key", reader}, 507, "ECHO_FAULT"},
		"a plain error":         {"POST", "/api/v1/echo/fail", `{"kind":"plain"}`, []string{"X-API-Key", reader}, 500, "INTERNAL"},
		"a panic":               {"POST", "/api/v1/echo/fail", `{"kind":"panic"}`, []string{"X-API-Key", reader}, 500, "INTERNAL"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Do(t, c.method, c.path, c.body, c.headers...)
			checkProblem(t, a, c.status, c.code)
		})
	}
	log := s.Log.String()
	if strings.Contains(log, s.Admin[:20]) || strings.Contains(log, reader[:20]) {
		t.Error("the log holds a key")
	}
	if !strings.Contains(log, "hunter2") {
		t.Error("the log lacks the cause of a defect")
	}
}

// checkProblem compares an answer with the problem that it must be, with the headers of its status.
func checkProblem(t *testing.T, a echo.Answer, status int, code string) {
	t.Helper()
	p := problem(t, a)
	if a.Status != status || p.Code != code {
		t.Errorf("%d %s, want %d %s", a.Status, p.Code, status, code)
	}
	if strings.Contains(string(a.Body), "secret") || len(a.Body) > 2000 {
		t.Errorf("the problem tells too much: %.300s", a.Body)
	}
	if a.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("security headers are missing: %v", a.Header)
	}
	if (a.Status == 401) != strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("WWW-Authenticate %q with %d", a.Header.Get("WWW-Authenticate"), a.Status)
	}
	if code == "ECHO_FAULT" && a.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	if a.Status == 405 && a.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("Allow %q", a.Header.Get("Allow"))
	}
}

func TestAPI_ABodyWithoutALengthIsCutOffTooAndAClientThatAsksFirstNeedNotSendOne(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	for name, announced := range map[string]int64{"no length": -1, "asked first": 3*op.MaxBody + 9} {
		body := &counted{body: strings.NewReader(`{"text":"` + strings.Repeat("x", 3*op.MaxBody))}
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v1/echo", body)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = announced
		r.Header.Set("X-API-Key", s.Admin)
		r.Header.Set("Content-Type", "application/json")
		if announced > 0 {
			r.Header.Set("Expect", "100-continue")
		}
		client := &http.Transport{ExpectContinueTimeout: 20 * time.Second}
		defer client.CloseIdleConnections()
		resp, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %s", name, resp.Status)
		}
		if announced > 0 && body.read.Load() > 0 {
			t.Errorf("%s: %d bytes were sent for nothing", name, body.read.Load())
		}
	}
}

// counted tells how much of a body was sent.
type counted struct {
	body io.Reader // not embedded, or its WriteTo would pass the count by
	read atomic.Int64
}

// Read counts what it passes on.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.body.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func TestAPI_PermissionMatrix(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	client := map[library.Permission]string{}
	for _, p := range library.Permissions {
		client[p] = s.Key(t, []library.Permission{p})
	}
	for _, o := range s.Catalog().Operations {
		for _, p := range library.Permissions {
			may := o.Permission == p || o.Permission == library.PermRead && p != library.PermIngest
			path := strings.ReplaceAll(o.Path, "{asset_h}", asset)
			var body any
			switch o.Method {
			case "POST":
				body = o.Example
			case "GET":
				path += "?text=fox"
				if strings.Contains(o.Path, "{") {
					path = strings.TrimSuffix(path, "?text=fox")
				}
			}
			a := s.Do(t, o.Method, path, body, "X-API-Key", client[p])
			if got := a.Status != 403; got != may {
				t.Errorf("REST: %s with only %s: %d %s", o.Name, p, a.Status, a.Body)
			}
			if !may {
				if pr := problem(t, a); pr.Permission != string(o.Permission) {
					t.Errorf("the missing permission is not named: %s", a.Body)
				}
			}
			c := s.Connect(t, echo.Modern, client[p])
			r := c.Call(t, o.Name, o.Example, nil)
			if got := !strings.Contains(string(r.Answer()), "PERMISSION_REQUIRED"); got != may {
				t.Errorf("MCP: %s with only %s: %s", o.Name, p, r.Answer())
			}
		}
	}
}

func TestAPI_The121stSearchIsRefusedAndTheHeadersCountDown(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	key, other := s.Key(t, []library.Permission{library.PermSearch}), s.Key(t, []library.Permission{library.PermSearch})
	c := s.Connect(t, echo.Modern, key)
	for i := 1; i <= 120; i++ {
		if i%10 == 0 { // both transports draw on one budget
			if r := c.Call(t, "EchoSearch", map[string]any{"text": "fox"}, nil); r.IsError {
				t.Fatalf("call %d: %s", i, r.Answer())
			}
			continue
		}
		a := s.Do(t, "POST", "/api/v1/echo/search", `{"text":"fox"}`, "X-API-Key", key)
		if a.Status != 200 || a.Header.Get("RateLimit-Policy") != `"search";q=120;w=60` || !strings.HasPrefix(a.Header.Get("RateLimit"), fmt.Sprintf(`"search";r=%d;t=`, 120-i)) {
			t.Fatalf("call %d: %d %v", i, a.Status, a.Header)
		}
	}
	a := s.Do(t, "POST", "/api/v1/echo/search", `{"text":"fox"}`, "X-API-Key", key)
	if p := problem(t, a); a.Status != 429 || p.Code != "RATE_LIMITED" || !p.Retryable || p.RetryAfter < 1 || p.RetryAfter > 60 ||
		a.Header.Get("Retry-After") != fmt.Sprint(p.RetryAfter) || !strings.HasPrefix(a.Header.Get("RateLimit"), `"search";r=0;t=`) {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	if r := c.Call(t, "EchoSearch", map[string]any{"text": "fox"}, nil); !r.IsError || !strings.Contains(string(r.Answer()), "RATE_LIMITED") {
		t.Errorf("MCP: %s", r.Answer())
	}
	if a := s.Do(t, "POST", "/api/v1/echo", `{"text":"fox"}`, "X-API-Key", key); a.Status != 200 || a.Header.Get("RateLimit") != "" {
		t.Errorf("an operation without a budget: %d %v", a.Status, a.Header)
	}
	if a := s.Do(t, "POST", "/api/v1/echo/search", `{"text":"fox"}`, "X-API-Key", other); a.Status != 200 {
		t.Errorf("another key is held back: %d", a.Status)
	}
}

func TestAPI_CrossOriginCallsAreOffUnlessConfigured(t *testing.T) {
	t.Parallel()
	off := echo.Serve(t, nil)
	if a := off.Do(t, "OPTIONS", "/api/v1/echo", nil, "Origin", "https://app.example", "Access-Control-Request-Method", "POST"); a.Header.Get("Access-Control-Allow-Origin") != "" || a.Status != 204 || a.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	on := echo.Serve(t, func(a *api.Config, m *mcp.Config) {
		a.AllowedOrigins, m.AllowedOrigins = []string{"https://app.example"}, []string{"https://app.example"}
	})
	for _, path := range []string{"/api/v1/echo", "/mcp"} {
		if a := on.Do(t, "OPTIONS", path, nil, "Origin", "https://app.example", "Access-Control-Request-Method", "POST"); a.Status != 204 || a.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("%s: %d %v", path, a.Status, a.Header)
		}
	}
	if a := on.Do(t, "POST", "/api/v1/echo", `{"text":"a"}`, "Origin", "https://evil.example", "X-API-Key", on.Admin); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", a.Header)
	}
}

func TestAPI_ServiceRoutesAndExtraRoutes(t *testing.T) {
	t.Parallel()
	down := errors.New("the index is away")
	var state error
	s := echo.Serve(t, func(c *api.Config, _ *mcp.Config) {
		c.Ready = func(context.Context) error { return state }
		serve := func(w http.ResponseWriter, r *http.Request, actor library.Actor) error {
			if r.URL.Query().Get("gone") != "" {
				return library.NewError(library.KindGone, library.CodeURLExpired, "Request a new link.")
			}
			_, err := fmt.Fprintf(w, "hello %s", actor.Name)
			return err
		}
		c.Extra = []api.ExtraRoute{
			{Method: "GET", Path: "/files/{token}", Name: "Download", Tag: "files", Summary: "A file.", Produces: "application/octet-stream", Serve: serve},
			{Method: "GET", Path: "/api/v1/extra", Name: "Extra", Tag: "files", Summary: "With a key.", NeedsKey: true, Permission: library.PermWrite, Serve: serve,
				Query: []api.QueryParameter{{Name: "gone", Doc: "Whether it is gone."}}},
		}
		c.Fallback = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	})
	token := strings.Repeat("t", 60)
	if a := s.Do(t, "GET", "/files/"+token, nil); a.Status != 200 || string(a.Body) != "hello " {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Do(t, "GET", "/files/"+token+"?gone=1", nil); a.Status != 410 || problem(t, a).Code != "URL_EXPIRED" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if strings.Contains(s.Log.String(), token) {
		t.Error("the log holds a signature")
	}
	if a := s.Do(t, "GET", "/api/v1/extra", nil); a.Status != 401 {
		t.Errorf("without a key: %d", a.Status)
	}
	if a := s.Do(t, "GET", "/api/v1/extra", nil, "X-API-Key", s.Key(t, nil)); a.Status != 403 {
		t.Errorf("without the permission: %d", a.Status)
	}
	if a := s.Do(t, "GET", "/api/v1/extra", nil, "X-API-Key", s.Admin); string(a.Body) != "hello test" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": `vitrine_http_requests_total{method="GET",route="/files/{token}",status="200"} 1`, "/anything": "page"} {
		if a := s.Do(t, "GET", path, nil); a.Status != 200 || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %.300s", path, a.Status, a.Body)
		}
	}
	state = down
	if a := s.Do(t, "GET", "/readyz", nil); a.Status != 503 || strings.Contains(string(a.Body), "index") {
		t.Errorf("not ready: %d %s", a.Status, a.Body)
	}
	if a := s.Do(t, "GET", "/healthz", nil); a.Status != 200 {
		t.Errorf("a process that lives: %d", a.Status)
	}
}

func TestAPI_TheOpenAPIDocumentNamesEveryRoute(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	a := s.Do(t, "GET", "/openapi.json", nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct{ Name, In string }
			RequestBody *struct {
				Content map[string]struct {
					Schema struct{ Properties map[string]any }
				}
			}
		}
	}
	if err := json.Unmarshal(a.Body, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Error(doc.OpenAPI)
	}
	for _, o := range s.Catalog().Operations {
		if got := doc.Paths[o.Path][strings.ToLower(o.Method)].OperationID; got != o.Name {
			t.Errorf("%s %s is %q, want %s", o.Method, o.Path, got, o.Name)
		}
	}
	if p := doc.Paths["/api/v1/echo/{asset_h}"]["get"].Parameters; len(p) < 3 || p[0].Name != "asset_h" || p[0].In != "path" || p[1].In != "query" {
		t.Errorf("%+v", p)
	}
	if b := doc.Paths["/api/v1/echo"]["post"].RequestBody; b == nil || b.Content["application/json"].Schema.Properties["order_by"] == nil {
		t.Errorf("%+v", b)
	}
}

func TestAPI_TwoOperationsCannotClaimOneRoute(t *testing.T) {
	t.Parallel()
	c := (&echo.Bench{}).Catalog()
	clash := c.Operations[0]
	clash.Name = "Clash"
	defer func() {
		if recover() == nil {
			t.Error("it was accepted")
		}
	}()
	api.Handler(api.Config{Catalog: op.Catalog{Operations: append(c.Operations, clash)}})
}

func parsed(t testing.TB, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}
