package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/op"
	"vitrine/op/all"
)

// seen is a request that a test server got.
type seen struct {
	method, path, query, body, key, apiKey, tenant string
}

// serve answers requests one after the other with answers and keeps what it got;
// the last answer stays.
func serve(t *testing.T, answers ...http.HandlerFunc) (*client.Client, *[]seen) {
	t.Helper()
	var got []seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("Idempotency-Key"), r.Header.Get("X-API-Key"), r.Header.Get("X-Tenant-ID")})
		answers[min(len(got), len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return &client.Client{Base: s.URL, Key: "napi_x"}, &got
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const busy = `{"type":"about:blank","title":"A part of the service is down","status":503,"detail":"The index does not respond.","code":"INDEX_UNAVAILABLE","errors":[],"retryable":true,"request_id":"r1"}`

func TestClient_PathQueryAndBodyCarryTheArguments(t *testing.T) {
	t.Parallel()
	c, got := serve(t, says(200, `{}`))
	c.Tenant = "t1"
	ctx := t.Context()
	title := "Red fox"
	for _, call := range []func() error{
		func() error {
			_, err := c.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: "a/b c", Title: &title})
			return err
		},
		func() error {
			_, err := c.GetAssetDetails(ctx, client.GetAssetDetailsInput{AssetH: "aa", IncludeDownloadURL: true})
			return err
		},
		func() error {
			_, err := c.DeleteSavedSearch(ctx, client.DeleteSavedSearchInput{SavedSearchID: "s", TenantID: "t2"})
			return err
		},
		func() error {
			return c.Do(ctx, client.Operation{Method: "GET", Path: "/list"}, map[string]any{"tags": []string{"a,b", "c"}, "text": "[x]", "none": nil, "n": 3}, nil)
		},
	} {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []seen{
		{"PATCH", "/api/v1/assets/a%2Fb%20c", "", `{"title":"Red fox"}`, "", "napi_x", "t1"},
		{"GET", "/api/v1/assets/aa", "include_download_url=true", "", "", "napi_x", "t1"},
		{"DELETE", "/api/v1/saved-searches/s", "tenant_id=t2", "", "", "napi_x", "t1"},
		{"GET", "/list", "n=3&tags=%5B%22a%2Cb%22%2C%22c%22%5D&text=%5Bx%5D", "", "", "napi_x", "t1"},
	} {
		have := (*got)[i]
		if writes := want.method != "GET"; writes != (len(have.key) == 36) {
			t.Errorf("request %d has the idempotency key %q", i, have.key)
		}
		if have.key = ""; have != want {
			t.Errorf("request %d is %+v, want %+v", i, have, want)
		}
	}
}

func TestClient_WithoutAnArgumentOfThePathNothingIsSent(t *testing.T) {
	t.Parallel()
	c, got := serve(t, says(200, `{}`))
	_, err := c.GetWorkflow(t.Context(), client.GetWorkflowInput{})
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "VALIDATION_FAILED" || len(e.Fields) != 1 || e.Fields[0].Field != "asset_h" || len(*got) != 0 {
		t.Errorf("%v after %d requests", err, len(*got))
	}
}

func TestClient_ARetriedWriteKeepsItsIdempotencyKey(t *testing.T) {
	t.Parallel()
	running := `{"status":409,"detail":"Still running.","code":"CONFLICT","errors":[],"retryable":false,"retry_after":1}`
	c, got := serve(t, says(503, busy), says(502, "<html>bad gateway"), says(409, running, "Retry-After", "1"), says(200, `{"created":true}`))
	var waits []string
	c.OnRetry = func(err error, wait time.Duration) { waits = append(waits, strings.SplitN(err.Error(), "\n", 2)[0]) }
	out, err := c.StoreAsset(t.Context(), client.StoreAssetInput{Filename: "a.png", MIMEType: "image/png"})
	if err != nil || !out.Created || len(*got) != 4 || len(waits) != 3 {
		t.Fatalf("%v, %d requests, waits %q", err, len(*got), waits)
	}
	for _, r := range *got {
		if r.key != (*got)[0].key || r.body != (*got)[0].body {
			t.Errorf("the requests differ: %+v and %+v", (*got)[0], r)
		}
	}
	if _, err := c.StoreAsset(t.Context(), client.StoreAssetInput{}, client.WithIdempotencyKey("mine")); err != nil || (*got)[4].key != "mine" {
		t.Errorf("%v: the key is %q", err, (*got)[4].key)
	}
}

func TestClient_WaitsAsLongAsTheServiceDemands(t *testing.T) {
	t.Parallel()
	limited := `{"status":429,"detail":"More than 120 calls.","code":"RATE_LIMITED","errors":[],"retryable":true,"retry_after":1}`
	c, got := serve(t, says(429, limited), says(429, limited, "Retry-After", "1"), says(200, `{"total":3}`))
	c.Patience = -1 // the rate limit is waited for all the same
	began := time.Now()
	out, err := c.SearchAssets(t.Context(), client.SearchAssetsInput{})
	if took := time.Since(began); err != nil || out.Total != 3 || len(*got) != 3 || took < 2*time.Second {
		t.Errorf("%v after %s and %d requests", err, took, len(*got))
	}
	if (*got)[0].key != "" {
		t.Error("a read carries an idempotency key")
	}
}

func TestClient_PatienceBoundsTheRetries(t *testing.T) {
	t.Parallel()
	c, got := serve(t, says(503, busy))
	for patience, want := range map[time.Duration]func(n int) bool{
		-1:                     func(n int) bool { return n == 1 },
		300 * time.Millisecond: func(n int) bool { return n >= 2 },
	} {
		*got, c.Patience = nil, patience
		began := time.Now()
		_, err := c.SearchAssets(t.Context(), client.SearchAssetsInput{})
		if took := time.Since(began); !client.IsCode(err, "INDEX_UNAVAILABLE") || !want(len(*got)) || took > 5*time.Second {
			t.Errorf("patience %s: %v after %d requests in %s", patience, err, len(*got), took)
		}
	}
	refused, seen := serve(t, says(404, `{"status":404,"detail":"There is no such asset.","code":"NOT_FOUND","errors":[]}`))
	if _, err := refused.SearchAssets(t.Context(), client.SearchAssetsInput{}); !client.IsCode(err, "NOT_FOUND") || len(*seen) != 1 {
		t.Errorf("%v after %d requests", err, len(*seen))
	}
}

func TestClient_AServiceThatIsAwayIsUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	var away *client.Unreachable
	c := &client.Client{Base: s.URL}
	began := time.Now()
	if _, err := c.SearchAssets(t.Context(), client.SearchAssetsInput{}); !errors.As(err, &away) || time.Since(began) > 3*time.Second {
		t.Errorf("%v after %s: without patience it is said at once", err, time.Since(began))
	}
	tries := 0
	c.Patience, c.OnRetry = 400*time.Millisecond, func(error, time.Duration) { tries++ }
	if _, err := c.SearchAssets(t.Context(), client.SearchAssetsInput{}); !errors.As(err, &away) || tries == 0 {
		t.Errorf("%v after %d retries", err, tries)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c.Patience = time.Minute
	if _, err := c.SearchAssets(ctx, client.SearchAssetsInput{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the context ended and the call returned %v", err)
	}
}

func TestError_HoldsAllOfAProblem(t *testing.T) {
	t.Parallel()
	fault := library.Invalid(library.FieldError{Field: "limit", Code: "range", Message: "Expected at most 100.", Hint: "Use a cursor."})
	problem, err := json.Marshal(op.ProblemOf(fault, "r7"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := serve(t, says(400, string(problem)))
	_, err = c.SearchAssets(t.Context(), client.SearchAssetsInput{})
	var e *client.Error
	if !errors.As(err, &e) || string(e.Raw) != string(problem) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"limit: Expected at most 100. Use a cursor.", "VALIDATION_FAILED"} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q does not hold %q", e.Error(), part)
		}
	}
	of := func(v any) (names []string) {
		for i := range reflect.TypeOf(v).NumField() {
			if name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ","); name != "-" && name != "type" {
				names = append(names, name)
			}
		}
		return names
	}
	if diff := cmp.Diff(of(op.Problem{}), of(client.Error{}), asSet); diff != "" {
		t.Errorf("a problem has other members (-problem +error): %s", diff)
	}
	if diff := cmp.Diff(of(library.FieldError{}), of(client.FieldError{}), asSet); diff != "" {
		t.Errorf("a field error has other members: %s", diff)
	}
}

// asSet compares lists without regard to their order.
var asSet = cmp.Transformer("set", func(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
})

func TestError_NamesWhatIsNoVitrineService(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, says(404, "<html>nginx</html>"))
	_, err := c.SearchAssets(t.Context(), client.SearchAssetsInput{})
	if !client.IsCode(err, "HTTP_404") || !strings.Contains(err.Error(), "is this its address?") {
		t.Error(err)
	}
}

func TestClient_EveryOperationIsAMethodWithItsRoute(t *testing.T) {
	t.Parallel()
	operations := all.DocumentedCatalog().Operations
	if len(client.Operations) != len(operations) || len(operations) < 20 {
		t.Fatalf("the client has %d operations, the product %d", len(client.Operations), len(operations))
	}
	kind := reflect.TypeFor[*client.Client]()
	for i, o := range operations {
		want := client.Operation{Name: o.Name, Method: o.Method, Path: o.Path, Writes: !o.ReadOnly}
		if client.Operations[i] != want {
			t.Errorf("%+v, want %+v", client.Operations[i], want)
		}
		m, ok := kind.MethodByName(o.Name)
		if !ok || m.Type.NumIn() != 4 || m.Type.NumOut() != 2 {
			t.Errorf("%s is no method", o.Name)
			continue
		}
		checkExample(t, o, m.Type.In(2))
	}
}

// checkExample reads an operation's example into the client's input and writes it
// again: nothing may be lost on the way.
func checkExample(t *testing.T, o op.Operation, input reflect.Type) {
	t.Helper()
	example, err := json.Marshal(o.Example)
	if err != nil {
		t.Fatal(err)
	}
	in := reflect.New(input)
	d := json.NewDecoder(strings.NewReader(string(example)))
	d.DisallowUnknownFields()
	if err := d.Decode(in.Interface()); err != nil {
		t.Errorf("%s: its example is no %s: %v", o.Name, input, err)
		return
	}
	again, err := json.Marshal(in.Interface())
	if err != nil {
		t.Fatal(err)
	}
	var want, got map[string]any
	if json.Unmarshal(example, &want) != nil || json.Unmarshal(again, &got) != nil {
		t.Fatalf("%s: %s, %s", o.Name, example, again)
	}
	for name, v := range got {
		if _, sent := want[name]; !sent && !reflect.ValueOf(v).IsZero() {
			t.Errorf("%s: %s came from nowhere: %v", o.Name, name, v)
		}
		if _, sent := want[name]; !sent {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: its example is not what the client sends (-example +sent): %s", o.Name, diff)
	}
}
