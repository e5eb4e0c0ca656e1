package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/nodetest"
	"vitrine/internal/stdio"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/op"
)

// toolCall is one call of a tool by a client that we did not write.
type toolCall struct {
	Name      string         `json:"name,omitempty"`
	Prompt    *string        `json:"prompt,omitempty"` // instead of a tool; empty: the list of prompts
	Arguments map[string]any `json:"arguments"`
}

// toolAnswer is what such a client hands to its host; Threw is its error when it hands
// over nothing.
type toolAnswer struct {
	IsError    bool            `json:"isError"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	Threw      string          `json:"threw"`
}

// sdkClients are official clients by their name.
var sdkClients = map[string]func(t *testing.T, stdin []byte, env ...string) []byte{
	"TypeScript SDK 1.x": nodeClient("mcp_sdk1.mjs", "mcp-client-typescript-1"),
	"TypeScript SDK 2.x": nodeClient("mcp_sdk2.mjs", "mcp-client-typescript"),
	"Python SDK":         pythonClient,
}

func nodeClient(program, tool string) func(*testing.T, []byte, ...string) []byte {
	return func(t *testing.T, stdin []byte, env ...string) []byte {
		t.Helper()
		source, err := os.ReadFile(filepath.Join("testdata", program))
		if err != nil {
			t.Fatal(err)
		}
		return nodetest.Run(t, tool, source, stdin, env...)
	}
}

func pythonClient(t *testing.T, stdin []byte, env ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "mcp-client-python"), filepath.Join("testdata", "mcp_client.py"))
	cmd.Env, cmd.Stdin = append(os.Environ(), env...), bytes.NewReader(stdin)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the client ended with %v:\n%s", err, tail(stderr.String()))
	}
	return out
}

// callWith makes calls with an official client.
func (w world) callWith(t *testing.T, client string, calls []toolCall, env ...string) []toolAnswer {
	t.Helper()
	stdin, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	out := sdkClients[client](t, stdin, append(env, "MCP_URL="+w.URL+"/mcp", "MCP_KEY="+w.Key)...)
	var answers []toolAnswer
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls: %v: %.500s", len(answers), len(calls), err, out)
	}
	return answers
}

// TestMCP_ResultsAndErrorsReachTheHostsOfOfficialClients calls every tool well and badly.
// These clients check a result against the schema that tools/list showed, and throw where
// it does not fit: an error that is thrown away never reaches the model.
func TestMCP_ResultsAndErrorsReachTheHostsOfOfficialClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var good, bad []toolCall
	for _, readOnly := range []bool{true, false} { // reads come first, before writes change what they read
		for _, o := range w.Catalog.Operations {
			if o.RESTOnly || o.ReadOnly != readOnly {
				continue
			}
			good = append(good, toolCall{Name: o.Name, Arguments: w.args(o)})
			bad = append(bad, toolCall{Name: o.Name, Arguments: map[string]any{"nonsense": true}})
		}
	}
	for client := range sdkClients {
		t.Run(client, func(t *testing.T) {
			answers := w.callWith(t, client, append(slices.Clone(good), bad...))
			for i, call := range good {
				a := answers[i]
				if a.Threw != "" || a.Text == "" || !a.IsError && !json.Valid(a.Structured) {
					t.Errorf("%s: %+v", call.Name, a)
				}
			}
			for i, call := range bad {
				checkToolError(t, call.Name, answers[len(good)+i])
			}
		})
	}
}

// checkToolError holds the error of an unknown argument to be one line of JSON that names it.
func checkToolError(t *testing.T, tool string, a toolAnswer) {
	t.Helper()
	var p op.Problem
	if a.Threw != "" || !a.IsError || json.Unmarshal([]byte(a.Text), &p) != nil {
		t.Errorf("%s: the error did not reach the host: %+v", tool, a)
		return
	}
	names := func(f library.FieldError) bool { return f.Field == "nonsense" && f.Message != "" }
	if p.Code != library.CodeValidationFailed || !slices.ContainsFunc(p.Errors, names) || strings.Contains(a.Text, "\n") || a.Structured != nil && string(a.Structured) != "null" {
		t.Errorf("%s: %+v", tool, a)
	}
}

// TestMCP_PromptsReachOfficialClients lists the prompts and gets each, as hosts do for a menu.
func TestMCP_PromptsReachOfficialClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := []toolCall{{Prompt: new("")}}
	var names []string
	for _, p := range w.Catalog.Prompts {
		args, list := map[string]any{}, []string{}
		for _, a := range p.Arguments {
			name := a.Name
			if !a.Required {
				name += "?"
			}
			list = append(list, name)
			if a.Required {
				args[a.Name] = "a quiet harbour"
			}
		}
		names = append(names, p.Name+"("+strings.Join(list, ",")+")")
		calls = append(calls, toolCall{Prompt: &p.Name, Arguments: args})
	}
	slices.Sort(names)
	calls = append(calls, toolCall{Prompt: new("explore_lineage"), Arguments: map[string]any{}}, toolCall{Prompt: new("no_such_prompt"), Arguments: map[string]any{}})
	for client := range sdkClients {
		t.Run(client, func(t *testing.T) {
			answers := w.callWith(t, client, calls)
			got := strings.Fields(answers[0].Text)
			slices.Sort(got)
			if len(names) != 5 || !slices.Equal(got, names) {
				t.Errorf("the client lists %v (%s), want %v", got, answers[0].Threw, names)
			}
			for i, p := range w.Catalog.Prompts {
				if a := answers[i+1]; !strings.Contains(a.Text, "\n1. ") || !strings.Contains(a.Text+p.Name, "quiet harbour") && p.Name != "audit_tenant_health" {
					t.Errorf("%s: %+v", p.Name, a)
				}
			}
			for _, a := range answers[len(answers)-2:] {
				if a.Threw == "" {
					t.Errorf("a call that must be refused returned %+v", a)
				}
			}
		})
	}
}

// TestMCP_BridgeServesClientsThatOnlyStartPrograms lets official clients start vitrine mcp.
func TestMCP_BridgeServesClientsThatOnlyStartPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := []toolCall{
		{Name: "SearchAssets", Arguments: map[string]any{"query": "lighthouse fog"}},
		{Name: "GetAssetDetails", Arguments: map[string]any{"asset_h": w.asset.Asset.AssetH, "include_image": true}},
		{Name: "SearchAssets", Arguments: map[string]any{"nonsense": true}},
	}
	for _, client := range []string{"TypeScript SDK 1.x", "Python SDK"} {
		t.Run(client, func(t *testing.T) {
			answers := w.callWith(t, client, calls, "MCP_COMMAND="+failpointBinary(t))
			if !strings.Contains(answers[0].Text, w.asset.Asset.AssetH) || answers[0].IsError {
				t.Errorf("the search gave %+v", answers[0])
			}
			if !strings.Contains(string(answers[1].Structured), "lighthouse.png") {
				t.Errorf("the details are %+v", answers[1])
			}
			checkToolError(t, "SearchAssets", answers[2])
		})
	}
	t.Run("a refused key is told", func(t *testing.T) {
		var out bytes.Buffer
		bridge := stdio.Bridge{URL: w.URL + "/mcp", Key: "wrong"}
		if err := bridge.Run(t.Context(), strings.NewReader("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\",\"params\":{}}\nnonsense\n"), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"id":7`) || !strings.Contains(lines[0], "key") || !strings.Contains(lines[1], "-32700") {
			t.Errorf("the bridge wrote %q", lines)
		}
	})
}

// TestMCP_InspectorFindsEverySchemaPortable runs the inspector's check of what models of
// different makers can read.
func TestMCP_InspectorFindsEverySchemaPortable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := filepath.Join(testenv.Tool(t, "mcp-inspector"), "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), program, "--cli", w.URL+"/mcp", "--transport", "http",
		"--header", "Authorization: Bearer "+w.Key, "--method", "tools/list", "--strict", "--format", "json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the inspector ended with %v:\n%s", err, tail(stderr.String()))
	}
	var seen struct {
		Result struct {
			Tools []struct{ Name string } `json:"tools"`
		} `json:"result"`
		Findings []any `json:"schemaFindings"`
	}
	tools := 0
	for _, o := range w.Catalog.Operations {
		if !o.RESTOnly {
			tools++
		}
	}
	if err := json.Unmarshal(out, &seen); err != nil || len(seen.Result.Tools) != tools {
		t.Fatalf("%d tools were looked at: %v: %.500s", len(seen.Result.Tools), err, out)
	}
	if len(seen.Findings) > 0 {
		t.Errorf("%d findings:\n%s", len(seen.Findings), tail(stderr.String()))
	}
}
