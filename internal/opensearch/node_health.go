package opensearch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// A cluster that is down refuses connections, which is seen at once. One that
// hangs, because its process is stopped or its disk does not answer, takes
// connections and never replies. That a request waits is no proof of it: a search
// may be slow. What is asked then is what a healthy node always answers quickly.
const (
	// probeAfter is how long a request waits before its node is asked.
	probeAfter = 500 * time.Millisecond
	// probeTimeout is how long a node that is only busy may take to answer.
	probeTimeout = 1500 * time.Millisecond
)

// errNodeHangs is the cause of requests that were ended, or not sent, because their
// node does not answer even the simplest question.
var errNodeHangs = errors.New("OpenSearch takes connections but does not answer")

// healthTransport is a transport that notices when a node hangs: requests under way end
// with errNodeHangs, and further ones are refused at once until it answers again.
type healthTransport struct {
	next http.RoundTripper

	mu    sync.Mutex
	nodes map[string]*nodeState // by host and port
}

// nodeState is what is known of one node.
type nodeState struct {
	hangs bool
	asked bool // a question is under way
}

func newHealthTransport(next http.RoundTripper) *healthTransport {
	return &healthTransport{next: next, nodes: map[string]*nodeState{}}
}

// RoundTrip sends a request to a node that is not known to hang.
func (w *healthTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.isHanging(req) {
		go w.probe(req) // it may have come back
		return nil, fmt.Errorf("%s: %w", req.URL.Host, errNodeHangs)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(probeAfter, func() {
		for ctx.Err() == nil {
			w.probe(req)
			if w.isHanging(req) {
				cancel(errNodeHangs)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(probeAfter):
			}
		}
	})
	end := func() {
		timer.Stop()
		cancel(context.Canceled)
	}
	res, err := w.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), errNodeHangs) {
			err = fmt.Errorf("%s: %w", req.URL.Host, errNodeHangs)
		}
		end()
		return nil, err
	}
	res.Body = &healthBody{res.Body, ctx, end}
	return res, nil
}

// healthBody is the body of an answer, whose request is over when it is closed.
type healthBody struct {
	io.ReadCloser
	ctx context.Context
	end func()
}

func (b *healthBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && errors.Is(context.Cause(b.ctx), errNodeHangs) {
		err = errNodeHangs
	}
	return n, err
}

func (b *healthBody) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// isHanging reports whether a request's node is known to hang.
func (w *healthTransport) isHanging(req *http.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.nodes[req.URL.Host]
	return n != nil && n.hangs
}

// probe asks a request's node for its name, unless that is being asked already, and
// keeps whether it answered. A node that refuses connections does not hang: its
// requests fail by themselves.
func (w *healthTransport) probe(req *http.Request) {
	w.mu.Lock()
	n := w.nodes[req.URL.Host]
	if n == nil {
		n = &nodeState{}
		w.nodes[req.URL.Host] = n
	}
	if n.asked {
		w.mu.Unlock()
		return
	}
	n.asked = true
	w.mu.Unlock()

	hangs := !w.responds(req)

	w.mu.Lock()
	n.asked, n.hangs = false, hangs
	w.mu.Unlock()
}

// responds reports whether a node replies in time, with whatever it says.
func (w *healthTransport) responds(to *http.Request) bool {
	// The request that made us ask may end at any time; what it found out is for all.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(to.Context()), probeTimeout)
	defer cancel()
	req := to.Clone(ctx)
	req.Method, req.URL.Path, req.URL.RawPath, req.URL.RawQuery = http.MethodGet, "/", "", ""
	req.Body, req.GetBody, req.ContentLength = nil, nil, 0
	res, err := w.next.RoundTrip(req)
	if err != nil {
		return ctx.Err() == nil
	}
	return res.Body.Close() == nil
}
