package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"vitrine/op"
)

// responseWriter stands between mcp-go and the connection, for what the library cannot do
// reliably or not in time.
//
// Progress: mcp-go hands notifications to a goroutine that drops the ones it
// still holds when the call ends, and the older protocol's sessions share one
// queue between concurrent calls. So progress is written here, straight to the
// event stream of the call it belongs to; the answer follows as its last event.
//
// Refusals: mcp-go reports every error of a resource or prompt as an internal
// one. A refusal that was noted here replaces that answer.
//
// Results: mcp-go encodes a result four times over, each time going through the
// answer in it byte by byte. So it gets marks to encode, and the answer, encoded
// already, takes their place here; see results.go.
type responseWriter struct {
	http.ResponseWriter
	streams bool // the client takes event streams
	modern  bool
	id      any // of the request that is being answered

	mu       sync.Mutex
	streamed bool // the answer goes out as events
	done     bool
	buffered bytes.Buffer // held back while streamed

	encoded, text []byte // the result of a tool as JSON and as text, for the marks in the answer

	protocolErr *mcp.JSONRPCErrorDetails
	replaced    bool
}

// writeWithin bounds how long a client that does not read may hold a call up.
const writeWithin = 10 * time.Second

func newResponseWriter(w http.ResponseWriter, r *http.Request, modern bool) *responseWriter {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	_, flushes := w.(http.Flusher)
	return &responseWriter{ResponseWriter: w, modern: modern, streams: flushes && strings.Contains(accept, "text/event-stream")}
}

// progressFunc returns the listener for a call's progress; it is nil when the client
// asked for none. Progress only ever grows, as the protocol wants.
func (r *responseWriter) progressFunc(meta *mcp.Meta) op.ProgressFunc {
	if meta == nil || meta.ProgressToken == nil || !r.streams {
		return nil
	}
	last := -1.0
	return func(done, total float64, message string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.done || done <= last {
			return
		}
		last = done
		r.writeEvent(progress(meta.ProgressToken, done, total, message))
	}
}

func progress(token any, done, total float64, message string) []byte {
	params := map[string]any{"progressToken": token, "progress": done}
	if total > 0 {
		params["total"] = total
	}
	if message != "" {
		params["message"] = message
	}
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
	if err != nil {
		return nil // a token came as JSON, and all else is numbers and text
	}
	return b
}

// writeEvent writes one message of the stream; the first one opens it.
func (r *responseWriter) writeEvent(message []byte) {
	control := http.NewResponseController(r.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(writeWithin)) // not every writer can
	if !r.streamed {
		r.streamed = true
		h := r.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // or a proxy would hold progress back
		r.ResponseWriter.WriteHeader(http.StatusOK)
	}
	// A failed write means that the client has gone; the request's context says so.
	_, _ = fmt.Fprintf(r.ResponseWriter, "event: message\ndata: %s\n\n", message)
	_ = control.Flush()
	_ = control.SetWriteDeadline(time.Time{})
}

// WriteHeader passes the status on, unless the answer is an event or refused.
func (r *responseWriter) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.streamed:
	case r.protocolErr != nil:
		r.replaced = true
		r.writeProtocolError()
	default:
		r.ResponseWriter.WriteHeader(status)
	}
}

func (r *responseWriter) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.replaced:
		return len(b), nil
	case r.streamed:
		r.buffered.Write(r.fill(b))
		return len(b), nil
	}
	if _, err := r.ResponseWriter.Write(r.fill(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush passes on what is not held back.
func (r *responseWriter) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.streamed && !r.replaced {
		_ = http.NewResponseController(r.ResponseWriter).Flush() // not every writer can
	}
}

// Unwrap lets http.ResponseController find the connection.
func (r *responseWriter) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// flushBuffered sends the answer that was held back; later progress has nowhere to go.
func (r *responseWriter) flushBuffered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	if r.streamed && r.buffered.Len() > 0 {
		r.writeEvent(bytes.TrimSpace(r.buffered.Bytes()))
	}
}

// writeProtocolError answers with the noted error. The newer revision maps it to an
// HTTP status too.
func (r *responseWriter) writeProtocolError() {
	status := http.StatusOK
	if r.modern && r.protocolErr.Code == mcp.INVALID_PARAMS {
		status = http.StatusBadRequest
	}
	r.Header().Set("Content-Type", "application/json")
	r.ResponseWriter.WriteHeader(status)
	// The client has gone if this fails; there is nobody left to tell.
	_ = json.NewEncoder(r.ResponseWriter).Encode(mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(r.id), Error: *r.protocolErr})
}
