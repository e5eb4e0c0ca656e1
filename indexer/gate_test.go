package indexer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// gate stands between a client and a real server. While it is shut, connections
// break and none can be made.
type gate struct {
	mu    sync.Mutex
	shut  bool
	conns map[net.Conn]struct{}
}

var errShut = errors.New("the gate is shut")

func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut {
		return nil, errShut
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		g.conns = map[net.Conn]struct{}{}
	}
	g.conns[conn] = struct{}{}
	return conn, nil
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
	if shut {
		for c := range g.conns {
			c.Close()
		}
		g.conns = nil
	}
}

// flakyTransport answers some bulk requests in the server's place; the rest pass.
type flakyTransport struct {
	next   http.RoundTripper
	mu     sync.Mutex
	script []func(*http.Request) (*http.Response, error) // consumed front to back; nil lets one pass
	bulks  int
}

func (m *flakyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/_bulk") {
		return m.next.RoundTrip(req)
	}
	m.mu.Lock()
	m.bulks++
	var answer func(*http.Request) (*http.Response, error)
	if len(m.script) > 0 {
		answer, m.script = m.script[0], m.script[1:]
	}
	m.mu.Unlock()
	if answer == nil {
		return m.next.RoundTrip(req)
	}
	_, _ = io.Copy(io.Discard, req.Body)
	return answer(req)
}

// refuse answers with a status and a body.
func refuse(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, ContentLength: int64(len(body)),
			Body: io.NopCloser(bytes.NewBufferString(body)), Request: req}, nil
	}
}

// cut breaks the connection.
func cut(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
