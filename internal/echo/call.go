package echo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Era is one of the two living eras of the protocol.
type Era string

// The eras, by the revision that stands for each.
const (
	Modern Era = "2026-07-28"
	Legacy Era = "2025-11-25"
)

// Eras lists both.
var Eras = []Era{Modern, Legacy}

// Client speaks MCP over plain HTTP, so that tests see every byte.
type Client struct {
	*Server
	Era     Era
	Key     string
	session string
}

// Connect makes a client; in the older era it says initialize first.
func (s *Server) Connect(t testing.TB, era Era, key string) *Client {
	t.Helper()
	c := &Client{Server: s, Era: era, Key: key}
	if era == Legacy {
		a := c.Send(t, "initialize", map[string]any{"protocolVersion": string(Legacy), "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "test", "version": "1"}})
		if a.Status != 200 {
			t.Fatalf("initialize: %d %s", a.Status, a.Body)
		}
		c.session = a.Header.Get("Mcp-Session-Id")
	}
	return c
}

// Session returns the id of the session; the newer era has none.
func (c *Client) Session() string { return c.session }

// Send sends one request and gives the raw answer.
func (c *Client) Send(t testing.TB, method string, params map[string]any, headers ...string) Answer {
	t.Helper()
	message, all := c.Message(method, params)
	return c.Do(t, "POST", "/mcp", message, append(all, headers...)...)
}

// Message returns the body and the headers of one request.
func (c *Client) Message(method string, params map[string]any) (map[string]any, []string) {
	if params == nil {
		params = map[string]any{}
	}
	headers := []string{"Accept", "application/json, text/event-stream"}
	if c.Key != "" {
		headers = append(headers, "Authorization", "Bearer "+c.Key)
	}
	if c.Era == Modern {
		meta, _ := params["_meta"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = string(Modern)
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		params["_meta"] = meta
		headers = append(headers, "MCP-Protocol-Version", string(Modern), "Mcp-Method", method)
		if name, ok := params["name"].(string); ok {
			headers = append(headers, "Mcp-Name", name)
		} else if uri, ok := params["uri"].(string); ok {
			headers = append(headers, "Mcp-Name", uri)
		}
	} else if c.session != "" {
		headers = append(headers, "Mcp-Session-Id", c.session, "MCP-Protocol-Version", string(Legacy))
	}
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers
}

// Message of the protocol, as far as tests look into it.
type Message struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// Messages reads an answer: one JSON object, or a stream of events.
func (a Answer) Messages(t testing.TB) []Message {
	t.Helper()
	var out []Message
	add := func(raw string) {
		var m Message
		if err := json.Unmarshal([]byte(raw), &m); err != nil {
			t.Fatalf("not a message: %v: %.200s", err, raw)
		}
		out = append(out, m)
	}
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		add(string(a.Body))
		return out
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(a.Body)), "\n\n") {
		_, data, ok := strings.Cut(block, "data: ")
		if !ok {
			t.Fatalf("an event without data: %q", block)
		}
		add(data)
	}
	return out
}

// ToolResult is what tools/call gives.
type ToolResult struct {
	Content []struct {
		Type, Text, Data, MimeType string
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// Answer returns the result as JSON: the structured content of a success, the text of an
// error.
func (r ToolResult) Answer() json.RawMessage {
	if r.IsError && len(r.Content) > 0 {
		return json.RawMessage(r.Content[0].Text)
	}
	return r.Structured
}

// Call calls a tool and gives its result; it fails the test on a protocol error.
func (c *Client) Call(t testing.TB, tool string, args any, meta map[string]any) ToolResult {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": args}
	if meta != nil {
		params["_meta"] = meta
	}
	a := c.Send(t, "tools/call", params)
	list := a.Messages(t)
	last := list[len(list)-1]
	if last.Error != nil || last.Result == nil {
		t.Fatalf("tools/call %s: %d %s", tool, a.Status, a.Body)
	}
	var r ToolResult
	if err := json.Unmarshal(last.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Indent makes two JSON texts comparable by eye in a failing test.
func Indent(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", " ") != nil {
		return string(raw)
	}
	return b.String()
}
