package mcp_test

import (
	"testing"

	"vitrine/internal/echo"
)

func TestBothErasListAndCallTools(t *testing.T) {
	s := echo.Serve(t, nil)
	for _, era := range echo.Eras {
		t.Run(string(era), func(t *testing.T) {
			c := s.Connect(t, era, s.Admin)
			a := c.Send(t, "tools/list", nil)
			t.Logf("%d %s", a.Status, echo.Indent(a.Body)[:1500])
			r := c.Call(t, "Echo", map[string]any{"text": "fox"}, nil)
			t.Logf("%+v", r)
			a = c.Send(t, "tools/call", map[string]any{"name": "EchoSteps", "arguments": map[string]any{"steps": 3}, "_meta": map[string]any{"progressToken": "p"}})
			t.Logf("%d %s", a.Status, a.Body)
			a = c.Send(t, "resources/read", map[string]any{"uri": "echo://assets/absent"})
			t.Logf("%d %s", a.Status, a.Body)
			a = c.Send(t, "prompts/get", map[string]any{"name": "search_and_curate"})
			t.Logf("%d %s", a.Status, a.Body)
		})
	}
}
