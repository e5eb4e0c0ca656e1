package mcp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/api"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/mcp"
	"vitrine/op"
)

func TestHandler_PagesOfForeignOriginsAreTurnedAway(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, func(_ *api.Config, m *mcp.Config) {
		m.PublicURL, m.AllowedOrigins = "https://Library.example/base", []string{"https://inspector.example"}
	})
	for _, era := range echo.Eras {
		c := s.Connect(t, era, s.Admin)
		for origin, ok := range map[string]bool{
			"":                             true,
			"https://library.example":      true,
			"https://inspector.example":    true,
			"http://localhost:6274":        true,
			"http://127.0.0.1":             true,
			"http://[::1]:8080":            true,
			"http://library.example":       false,
			"https://library.example:444":  false,
			"https://evil.example":         false,
			"null":                         false,
			"http://localhost.evil.test":   false,
			"http://127.0.0.1.evil.test":   false,
			"file://localhost":             false,
			"http://localhost@evil.test":   false,
			"https://library.example.evil": false,
		} {
			var headers []string
			if origin != "" {
				headers = []string{"Origin", origin}
			}
			a := c.Send(t, "tools/list", nil, headers...)
			if got := a.Status == 200; got != ok || !ok && a.Status != 403 {
				t.Errorf("%s, origin %q: %d", era, origin, a.Status)
			}
		}
	}
}

func TestHandler_LoopbackConnectionsMustNameALoopbackHostUnlessTrusted(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[bool]int{false: 403, true: 200} {
		s := echo.Serve(t, func(_ *api.Config, m *mcp.Config) { m.TrustHost = trusted })
		if a := s.Connect(t, echo.Modern, s.Admin).Send(t, "tools/list", nil, "Host", "rebound.example"); a.Status != want {
			t.Errorf("trusted %v: %d", trusted, a.Status)
		}
	}
}

func nothingIsReachedWithoutAKey(t *testing.T, s *echo.Server) {
	for _, method := range []string{"POST", "GET", "HEAD", "DELETE", "PUT", "OPTIONS"} {
		if a := s.Do(t, method, "/mcp", nil); a.Status != 401 || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d", method, a.Status)
		}
	}
	if a := s.Do(t, "POST", "/mcp?key="+s.Admin, "{}", "X-API-Key", s.Admin); a.Status != 400 || !strings.Contains(string(a.Body), "KEY_IN_URL") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for method, want := range map[string]int{"HEAD": 200, "GET": 405, "PUT": 405} {
		if a := s.Do(t, method, "/mcp", nil, "X-API-Key", s.Admin); a.Status != want || want == 405 && a.Header.Get("Allow") == "" {
			t.Errorf("%s with a key: %d %v", method, a.Status, a.Header)
		}
	}
}

func aLargeBodyIsTurnedAwayBeforeItIsRead(t *testing.T, s *echo.Server, c *echo.Client) {
	big := strings.Repeat("x", op.MaxBody)
	if a := c.Send(t, "tools/call", map[string]any{"name": "Echo", "arguments": map[string]any{"text": big}}); a.Status != 413 || !strings.Contains(string(a.Body), "PAYLOAD_TOO_LARGE") {
		t.Errorf("announced: %d %.200s", a.Status, a.Body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/mcp", struct{ *strings.Reader }{strings.NewReader(`{"a":"` + big)})
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", s.Admin)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 413 {
		t.Errorf("not announced: %s", resp.Status)
	}
	fits := map[string]any{"name": "Echo", "arguments": map[string]any{"text": strings.Repeat("x", op.MaxBody-2000)}}
	if a := c.Send(t, "tools/call", fits); a.Status != 200 || !strings.Contains(string(a.Body), "VALIDATION_FAILED") {
		t.Errorf("just below: %d %.200s", a.Status, a.Body)
	}
}

func theRevisionsOfTheProtocolAreToldApart(t *testing.T, s *echo.Server) {
	c := s.Connect(t, echo.Modern, s.Admin)
	message := func(version string) map[string]any {
		return map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}}
	}
	for name, x := range map[string]struct {
		version, header, method string
		status, code            int
	}{
		"header and body differ":   {"2026-07-28", "2027-01-01", "tools/list", 400, -32020},
		"the header is missing":    {"2026-07-28", "", "tools/list", 400, -32020},
		"another method is named":  {"2026-07-28", "2026-07-28", "tools/call", 400, -32020},
		"a version of the future":  {"2099-01-01", "2099-01-01", "tools/list", 400, -32022},
		"all agree":                {"2026-07-28", "2026-07-28", "tools/list", 200, 0},
		"the body has no version ": {"", "2026-07-28", "tools/list", 400, -32602},
	} {
		headers := []string{"X-API-Key", s.Admin, "Accept", "application/json, text/event-stream", "Mcp-Method", x.method}
		if x.header != "" {
			headers = append(headers, "MCP-Protocol-Version", x.header)
		}
		a := s.Do(t, "POST", "/mcp", message(x.version), headers...)
		m := last(t, a)
		if a.Status != x.status || x.code != 0 && (m.Error == nil || m.Error.Code != x.code) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if m := last(t, c.Send(t, "server/discover", nil)); !strings.Contains(string(m.Result), `"2025-11-25"`) || !strings.Contains(string(m.Result), "UndoOperation") {
		t.Errorf("%s", m.Result)
	}
	if a := c.Send(t, "initialize", map[string]any{"protocolVersion": "2026-07-28"}); a.Status != 404 {
		t.Errorf("initialize in the newer era: %d", a.Status)
	}
}

func aSessionServesOnlyTheKeyThatOpenedIt(t *testing.T, s *echo.Server) {
	mine := s.Connect(t, echo.Legacy, s.Admin)
	other := s.Key(t, library.Permissions)
	for name, x := range map[string]struct {
		key, session string
		status       int
	}{
		"its own":              {s.Admin, mine.Session(), 200},
		"another's":            {other, mine.Session(), 404},
		"an invented one":      {s.Admin, "vitrine-00000000-0000-4000-8000-000000000000-0123456789abcdef", 404},
		"one of another form":  {s.Admin, "mcp-session-00000000-0000-4000-8000-000000000000", 404},
		"none":                 {s.Admin, "", 400},
		"a very long one":      {s.Admin, strings.Repeat("v", 10_000), 404},
		"the prefix and no id": {s.Admin, "vitrine-", 404},
	} {
		headers := []string{"X-API-Key", x.key, "Accept", "application/json, text/event-stream"}
		if x.session != "" {
			headers = append(headers, "Mcp-Session-Id", x.session)
		}
		if a := s.Do(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers...); a.Status != x.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if a := s.Do(t, "DELETE", "/mcp", nil, "X-API-Key", other, "Mcp-Session-Id", mine.Session()); a.Status != 404 {
		t.Errorf("another key ends the session: %d", a.Status)
	}
	if a := s.Do(t, "DELETE", "/mcp", nil, "X-API-Key", s.Admin, "Mcp-Session-Id", mine.Session()); a.Status != 200 {
		t.Errorf("the owner ends the session: %d", a.Status)
	}
	if a := mine.Send(t, "tools/list", nil); a.Status != 404 {
		t.Errorf("an ended session: %d", a.Status)
	}
}

func oneClientCannotCancelAnothersCall(t *testing.T, s *echo.Server) {
	other := s.Key(t, library.Permissions)
	done := make(chan echo.ToolResult, 1)
	go func() {
		done <- s.Connect(t, echo.Modern, s.Admin).Call(t, "EchoWrite", map[string]any{"name": "a", "delay_ms": 700}, nil)
	}()
	time.Sleep(200 * time.Millisecond)
	attacker := s.Connect(t, echo.Modern, other)
	message, headers := attacker.Message("notifications/cancelled", map[string]any{"requestId": 1})
	delete(message, "id")
	if a := s.Do(t, "POST", "/mcp", message, headers...); a.Status != 202 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if r := <-done; r.IsError {
		t.Errorf("the call of another client was cancelled: %s", r.Answer())
	}
}
