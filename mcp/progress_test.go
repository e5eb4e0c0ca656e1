package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/internal/echo"
)

func allProgressArrivesInOrderBeforeTheAnswerEveryTime(t *testing.T, s *echo.Server, c *echo.Client) {
	whole := 0
	for range 100 {
		a := c.Send(t, "tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 5}, "_meta": map[string]any{"progressToken": "p-1"}})
		list := a.Messages(t)
		if len(list) != 6 || list[5].Result == nil {
			t.Errorf("%d messages: %s", len(list), a.Body)
			continue
		}
		right := true
		for i, m := range list[:5] {
			var p struct {
				ProgressToken   any
				Progress, Total float64
			}
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			right = right && m.Method == "notifications/progress" && p.ProgressToken == "p-1" && p.Progress == float64(i+1) && p.Total == 5
		}
		if right {
			whole++
		}
	}
	if whole != 100 {
		t.Errorf("%d of 100 calls with all their progress", whole)
	}
}

func manyStepsAtOnceLoseNoProgress(t *testing.T, s *echo.Server, c *echo.Client) {
	a := c.Send(t, "tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 1000}, "_meta": map[string]any{"progressToken": 7}})
	if n := len(a.Messages(t)); n != 1001 {
		t.Errorf("%d messages, want 1001", n)
	}
}

func withoutATokenOrAStreamTheAnswerIsPlainJSON(t *testing.T, s *echo.Server, c *echo.Client) {
	a := c.Send(t, "tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 5}})
	if a.Header.Get("Content-Type") != "application/json" || len(a.Messages(t)) != 1 {
		t.Errorf("no token: %v", a.Header)
	}
	message, headers := c.Message("tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 5}, "_meta": map[string]any{"progressToken": 7}})
	headers[1] = "application/json"
	if a := s.Do(t, "POST", "/mcp", message, headers...); a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("a client that takes no stream: %v", a.Header)
	}
}

func closingTheConnectionCancelsTheCall(t *testing.T, s *echo.Server, c *echo.Client) {
	message, headers := c.Message("tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 1, "wait": true}, "_meta": map[string]any{"progressToken": 7}})
	raw, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/mcp", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, 40)
	if _, err := resp.Body.Read(first); err != nil || !strings.HasPrefix(string(first), "event: message") {
		t.Fatalf("progress must arrive while the call runs: %v %s", err, first)
	}
	hangUp()
	select {
	case <-s.Cancelled:
	case <-time.After(3 * time.Second):
		t.Error("the call still runs")
	}
}
