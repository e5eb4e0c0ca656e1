package e2e

import (
	"encoding/json"
	"testing"

	"vitrine/internal/nodetest"
)

// maxTaskTokens is what a model may have to read for one task, and maxTaskCalls how often it
// may have to call.
const (
	maxTaskTokens = 6000
	maxTaskCalls  = 3
)

// TestMCP_TasksOfAgentsTakeFewCallsAndTokens does what people ask of an agent, with an
// official client, and counts what it costs.
func TestMCP_TasksOfAgentsTakeFewCallsAndTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storeSamples(t, 40)
	var results []struct {
		Task, Text, Why string
		Calls           int
		Done            bool
	}
	program := nodeClient("mcp_tasks.mjs", "mcp-client-typescript-1")
	if err := json.Unmarshal(program(t, nil, "MCP_URL="+w.URL+"/mcp", "MCP_KEY="+w.Key), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 10 {
		t.Fatalf("%d tasks were tried, not 10", len(results))
	}
	texts := map[string]string{}
	for _, r := range results {
		texts[r.Task] = r.Text
	}
	tokens := nodetest.Tokens(t, texts)
	for _, r := range results {
		t.Logf("| %s | %d | %d |", r.Task, r.Calls, tokens[r.Task])
		if !r.Done {
			t.Errorf("%s: not done: %s\n%.1500s", r.Task, r.Why, r.Text)
		}
		if r.Calls > maxTaskCalls || tokens[r.Task] > maxTaskTokens {
			t.Errorf("%s took %d calls and %d tokens, allowed are %d and %d", r.Task, r.Calls, tokens[r.Task], maxTaskCalls, maxTaskTokens)
		}
	}
}
