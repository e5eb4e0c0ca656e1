package engine

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
	// askAfter is how long a request waits before its node is asked.
	askAfter = 500 * time.Millisecond
	// answerWithin is how long a node that is only busy may take to answer.
	answerWithin = 1500 * time.Millisecond
)

// errHangs is the cause of requests that were ended, or not sent, because their
// node does not answer even the simplest question.
var errHangs = errors.New("OpenSearch takes connections but does not answer")

// watch is a transport that notices when a node hangs: requests under way end
// with errHangs, and further ones are refused at once until it answers again.
type watch struct {
	next http.RoundTripper

	mu    sync.Mutex
	nodes map[string]*node // by host and port
}

// node is what is known of one node.
type node struct {
	hangs bool
	asked bool // a question is under way
}

func newWatch(next http.RoundTripper) *watch { return &watch{next: next, nodes: map[string]*node{}} }

// RoundTrip sends a request to a node that is not known to hang.
func (w *watch) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.hangs(req) {
		go w.ask(req) // it may have come back
		return nil, fmt.Errorf("%s: %w", req.URL.Host, errHangs)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(askAfter, func() {
		for ctx.Err() == nil {
			w.ask(req)
			if w.hangs(req) {
				cancel(errHangs)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(askAfter):
			}
		}
	})
	end := func() {
		timer.Stop()
		cancel(context.Canceled)
	}
	res, err := w.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if errors.Is(context.Cause(ctx), errHangs) {
			err = fmt.Errorf("%s: %w", req.URL.Host, errHangs)
		}
		end()
		return nil, err
	}
	res.Body = &watched{res.Body, ctx, end}
	return res, nil
}

// watched is the body of an answer, whose request is over when it is closed.
type watched struct {
	io.ReadCloser
	ctx context.Context
	end func()
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && errors.Is(context.Cause(b.ctx), errHangs) {
		err = errHangs
	}
	return n, err
}

func (b *watched) Close() error {
	err := b.ReadCloser.Close()
	b.end()
	return err
}

// hangs reports whether a request's node is known to hang.
func (w *watch) hangs(req *http.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.nodes[req.URL.Host]
	return n != nil && n.hangs
}

// ask asks a request's node for its name, unless that is being asked already, and
// keeps whether it answered. A node that refuses connections does not hang: its
// requests fail by themselves.
func (w *watch) ask(req *http.Request) {
	w.mu.Lock()
	n := w.nodes[req.URL.Host]
	if n == nil {
		n = &node{}
		w.nodes[req.URL.Host] = n
	}
	if n.asked {
		w.mu.Unlock()
		return
	}
	n.asked = true
	w.mu.Unlock()

	hangs := !w.answers(req)

	w.mu.Lock()
	n.asked, n.hangs = false, hangs
	w.mu.Unlock()
}

// answers reports whether a node replies in time, with whatever it says.
func (w *watch) answers(to *http.Request) bool {
	// The request that made us ask may end at any time; what it found out is for all.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(to.Context()), answerWithin)
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
