package api_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/echo"
	"vitrine/library"
)

func TestAPI_ARepeatWithTheSameIdempotencyKeyGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	second := s.Key(t, library.Permissions)
	write := func(key, idempotency, body string) echo.Answer {
		return s.Do(t, "POST", "/api/v1/echo/things", body, "X-API-Key", key, "Idempotency-Key", idempotency)
	}
	first := write(s.Admin, "k1", `{"name":"a"}`)
	if first.Status != 201 || first.Header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	again := write(s.Admin, "k1", `{ "name": "a" }`)
	if again.Status != 201 || again.Header.Get("Idempotency-Replayed") != "true" || s.Runs.Load() != 1 {
		t.Errorf("%d %v after %d runs", again.Status, again.Header, s.Runs.Load())
	}
	if diff := cmp.Diff(parsed(t, first.Body), parsed(t, again.Body)); diff != "" {
		t.Error(diff)
	}
	if a := write(s.Admin, "k1", `{"name":"b"}`); a.Status != 422 || problem(t, a).Code != "IDEMPOTENCY_KEY_REUSED" {
		t.Errorf("another request under the same key: %d %s", a.Status, a.Body)
	}
	if a := write(second, "k1", `{"name":"a"}`); a.Status != 201 || a.Header.Get("Idempotency-Replayed") != "" || s.Runs.Load() != 2 {
		t.Errorf("the key of another credential: %d %v", a.Status, a.Header)
	}
	a := s.Do(t, "POST", "/api/v1/echo/things", `{"name":"a"}`, "X-API-Key", s.Admin, "Idempotency-Key", "k1", "X-Tenant-ID", string(s.Other))
	if a.Status != 201 || a.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the same key in another tenant: %d %v", a.Status, a.Header)
	}
	for range 2 {
		if a := write(s.Admin, "k2", `{"name":"a","fail":true}`); a.Status != 409 || problem(t, a).Code != "NAME_TAKEN" {
			t.Errorf("a failed call must be free to run again: %d %s", a.Status, a.Body)
		}
	}
	mcpFirst := s.Connect(t, echo.Legacy, s.Admin).Call(t, "EchoWrite", map[string]any{"name": "a"}, map[string]any{"idempotency_key": "k1"})
	if diff := cmp.Diff(parsed(t, first.Body), parsed(t, mcpFirst.Answer())); diff != "" {
		t.Errorf("a repeat over MCP: %s", diff)
	}
	if r := s.Connect(t, echo.Modern, s.Admin).Call(t, "EchoWrite", map[string]any{"name": "c"}, map[string]any{"idempotency_key": "k1"}); !strings.Contains(string(r.Answer()), "IDEMPOTENCY_KEY_REUSED") {
		t.Errorf("another request over MCP: %s", r.Answer())
	}
}

func TestAPI_OfConcurrentRepeatsOneDoesTheWork(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	var wg sync.WaitGroup
	answers := make([]echo.Answer, 8)
	for i := range answers {
		wg.Go(func() {
			answers[i] = s.Do(t, "POST", "/api/v1/echo/things", `{"name":"a","delay_ms":400}`, "X-API-Key", s.Admin, "Idempotency-Key", "race")
		})
	}
	wg.Wait()
	if n := s.Runs.Load(); n != 1 {
		t.Errorf("the work was done %d times", n)
	}
	done := 0
	for _, a := range answers {
		switch a.Status {
		case 201:
			done++
		case 409:
			if a.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		default:
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if done == 0 {
		t.Error("nobody got the answer")
	}
}

func TestAPI_AnUnchangedGetIsAnswered304(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	path := "/api/v1/echo/" + asset
	first := s.Do(t, "GET", path, nil, "X-API-Key", s.Admin)
	tag := first.Header.Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) || !strings.Contains(first.Header.Get("Cache-Control"), "private") {
		t.Fatalf("%v", first.Header)
	}
	for _, sent := range []string{tag, strings.TrimPrefix(tag, "W/"), `"x", ` + tag, "*"} {
		if a := s.Do(t, "GET", path, nil, "X-API-Key", s.Admin, "If-None-Match", sent); a.Status != 304 || len(a.Body) > 0 {
			t.Errorf("If-None-Match %s: %d", sent, a.Status)
		}
	}
	if a := s.Do(t, "GET", path+"?include_image=true", nil, "X-API-Key", s.Admin, "If-None-Match", tag); a.Status != 200 {
		t.Errorf("a changed answer: %d", a.Status)
	}
	if a := s.Do(t, "HEAD", path, nil, "X-API-Key", s.Admin); a.Status != 200 || len(a.Body) > 0 {
		t.Errorf("HEAD: %d", a.Status)
	}
}
