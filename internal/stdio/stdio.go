// Package stdio lets clients of the Model Context Protocol that only start programs use a
// running service: it passes messages between standard input and output and the service's
// endpoint. In comes one JSON-RPC message per line, out goes the same. The package
// understands no more of a message than what HTTP wants in headers.
package stdio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Bridge is one conversation of a client with the endpoint. URL and Key are required.
type Bridge struct {
	URL    string // of the endpoint, for example http://localhost:8080/mcp
	Key    string // API key
	Tenant string // empty: the key's default tenant
	HTTP   *http.Client

	out      sync.Mutex // one line at a time
	w        io.Writer
	mu       sync.Mutex
	session  string                        // of the revisions that begin with initialize
	protocol string                        // that they agreed on
	running  map[string]context.CancelFunc // requests by their id
}

// maxLine bounds one message; the endpoint takes no larger body.
const maxLine = 5 << 20

// message is what the bridge reads of a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Protocol string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// Run passes messages on until in ends, and returns once every request has its response.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	b.w, b.running = out, map[string]context.CancelFunc{}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var requests sync.WaitGroup
	for lines.Scan() {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			b.fail(json.RawMessage("null"), -32700, "The line is not a JSON-RPC message.")
			continue
		}
		if m.Method == "initialize" || m.ID == nil { // what follows must find the session, and notifications keep their order
			b.pass(ctx, m, line)
			continue
		}
		within, cancel := context.WithCancel(ctx)
		b.mu.Lock()
		b.running[string(m.ID)] = cancel
		b.mu.Unlock()
		requests.Go(func() {
			defer b.forget(m.ID)
			b.pass(within, m, line)
		})
	}
	requests.Wait()
	b.end(context.WithoutCancel(ctx))
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a message is longer than %d bytes; send files with CreateUploadUrl", maxLine)
	}
	return lines.Err()
}

// forget ends a request.
func (b *Bridge) forget(id json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.running[string(id)]; cancel != nil {
		cancel()
		delete(b.running, string(id))
	}
}

// pass sends a message and writes what comes back.
func (b *Bridge) pass(ctx context.Context, m message, line []byte) {
	if m.Method == "notifications/cancelled" { // closing the connection cancels, in every revision
		b.forget(m.Params.RequestID)
		return
	}
	res, err := b.post(ctx, m, line)
	if err != nil {
		if ctx.Err() == nil && m.ID != nil {
			b.fail(m.ID, -32000, "The service at "+b.URL+" does not answer: "+err.Error())
		}
		return
	}
	defer res.Body.Close()
	if m.Method == "initialize" && res.StatusCode == http.StatusOK {
		b.mu.Lock()
		b.session = res.Header.Get("Mcp-Session-Id")
		b.mu.Unlock()
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		b.events(res.Body)
		return
	}
	body, err := io.ReadAll(res.Body)
	switch {
	case m.ID == nil || ctx.Err() != nil:
	case err != nil:
		b.fail(m.ID, -32000, "The response of the service was cut off.")
	case isMessage(body):
		b.agree(m, body)
		b.write(body)
	default:
		b.fail(m.ID, -32000, problemText(res.StatusCode, body))
	}
}

func (b *Bridge) post(ctx context.Context, m message, line []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	b.identify(req)
	if version := m.Params.Meta.Protocol; version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
		req.Header.Set("Mcp-Method", m.Method)
		if name := cmp.Or(m.Params.Name, m.Params.URI); name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	return cmp.Or(b.HTTP, http.DefaultClient).Do(req)
}

// identify reports who asks, and in which session.
func (b *Bridge) identify(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+b.Key)
	if b.Tenant != "" {
		req.Header.Set("X-Tenant-ID", b.Tenant)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.session != "" {
		req.Header.Set("Mcp-Session-Id", b.session)
		req.Header.Set("MCP-Protocol-Version", b.protocol)
	}
}

// agree keeps the revision that initialize agreed on.
func (b *Bridge) agree(m message, body []byte) {
	if m.Method != "initialize" {
		return
	}
	var r struct {
		Result struct {
			Protocol string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &r) == nil {
		b.mu.Lock()
		b.protocol = r.Result.Protocol
		b.mu.Unlock()
	}
}

// events writes the messages of an event stream, progress and the response.
func (b *Bridge) events(stream io.Reader) {
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			b.write(data)
		}
		if err != nil {
			return
		}
	}
}

// end ends the session, if there is one.
func (b *Bridge) end(ctx context.Context) {
	if b.session == "" {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.URL, nil)
	if err != nil {
		return
	}
	b.identify(req)
	if res, err := cmp.Or(b.HTTP, http.DefaultClient).Do(req); err == nil {
		res.Body.Close()
	}
}

// write writes one message on a line of its own.
func (b *Bridge) write(message []byte) {
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return
	}
	line.WriteByte('\n')
	b.out.Lock()
	defer b.out.Unlock()
	_, _ = b.w.Write(line.Bytes()) // a client that has gone reads no error either
}

// fail answers a request that the service did not.
func (b *Bridge) fail(id json.RawMessage, code int, text string) {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		b.write(raw)
	}
}

func isMessage(body []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(body, &m) == nil && m.Version != ""
}

// problemText words a response that is no message, such as a refused key.
func problemText(status int, body []byte) string {
	var p struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &p) == nil && p.Detail != "" {
		return p.Detail
	}
	return fmt.Sprintf("The service answered %d %s.", status, http.StatusText(status))
}
