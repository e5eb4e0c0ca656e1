package api

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"vitrine/auth"
	"vitrine/library"
	"vitrine/op"
)

// requestState is what the door learns about a request while it is served.
type requestState struct{ actor string }

type requestStateKey struct{}

// setActor names the caller to the access log.
func setActor(ctx context.Context, actor library.Actor) {
	if v, ok := ctx.Value(requestStateKey{}).(*requestState); ok {
		v.actor = actor.ID
	}
}

var requestIDPattern = regexp.MustCompile(`^[0-9A-Za-z._-]{8,64}$`)

// withRequestID names every request: the client's X-Request-Id if it is sane,
// else a new one.
func (s *server) withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !requestIDPattern.MatchString(id) {
			var b [8]byte
			rand.Read(b[:])
			id = hex.EncodeToString(b[:])
		}
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(op.WithRequestID(r.Context(), id)))
	})
}

// accessLog logs and counts a request once it is over. Paths are logged, queries,
// headers and bodies never are.
func (s *server) accessLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, seen := time.Now(), &requestState{}
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		aborted := true // until the handler returns: it panics to cut the connection
		defer func() { s.count(r, ww, seen, start, aborted) }()
		next.ServeHTTP(ww, r.WithContext(context.WithValue(r.Context(), requestStateKey{}, seen)))
		aborted = false
	})
}

// count logs and counts a request that is over.
func (s *server) count(r *http.Request, ww middleware.WrapResponseWriter, seen *requestState, start time.Time, aborted bool) {
	status, took := statusOf(r, ww), time.Since(start)
	if aborted {
		status = http.StatusInternalServerError
	}
	route := chi.RouteContext(r.Context()).RoutePattern()
	if route == "" {
		route = "unmatched"
	}
	s.Metrics.count(r.Method, route, status, took)
	s.log.InfoContext(r.Context(), "request", "method", r.Method, "path", safePath(r.URL.Path), "status", status,
		"bytes", ww.BytesWritten(), "ms", float64(took.Microseconds())/1000, "actor", seen.actor, "request_id", op.RequestID(r.Context()))
}

// statusClientClosed is counted for requests whose client left before it had the answer,
// whatever was on its way to it. Other servers log the same number.
const statusClientClosed = 499

// statusOf returns the status to count a request by.
func statusOf(r *http.Request, w middleware.WrapResponseWriter) int {
	status := w.Status()
	left := errors.Is(r.Context().Err(), context.Canceled)
	size, err := strconv.Atoi(w.Header().Get("Content-Length"))
	cut := err == nil && w.BytesWritten() < size && r.Method != http.MethodHead && status < http.StatusMultipleChoices
	switch {
	case cut, left && (status == 0 || status >= http.StatusInternalServerError):
		return statusClientClosed
	case status == 0:
		return http.StatusOK
	}
	return status
}

// maxLoggedSegment is above a hash of 40 digits and below a key or a signature.
const maxLoggedSegment = 48

// safePath returns a path as it may be logged: without keys and signatures, which
// are all longer than any name of ours.
func safePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if len(p) > maxLoggedSegment {
			parts[i] = "…"
		}
	}
	path = strings.Join(parts, "/")
	return path[:min(len(path), 300)]
}

// recoverPanic answers a defect of ours as one; http.ErrAbortHandler passes, for
// it means that the connection is to be cut.
func (s *server) recoverPanic(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			s.writeError(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}()
		next.ServeHTTP(w, r)
	})
}

// securityHeaders sets the headers that a browser needs so that no answer of the API can
// run, be framed or be taken for something else. A handler of pages or files
// sets its own.
func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

func (s *server) refuseKeyInURL(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := auth.RefuseKeyInURL(r); err != nil {
			s.writeError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

const (
	corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"
	corsAllowed = "Authorization, X-API-Key, X-Tenant-ID, Content-Type, Idempotency-Key, If-Match, If-None-Match, Range, X-Request-Id, " +
		"Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, " +
		"Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, X-HTTP-Method-Override"
	corsExposed = "X-Request-Id, ETag, Link, Location, Allow, Content-Disposition, Content-Range, Accept-Ranges, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, " +
		"Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Upload-Offset, Upload-Length, Upload-Expires, Vitrine-Storage-Path"
	corsMaxAge = 10 * time.Minute
)

// cors lets the pages of configured origins call the API (CORS). Other
// origins get no permission, which is what stops a browser.
func (s *server) cors(next http.Handler) http.Handler {
	if len(s.AllowedOrigins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" || !slices.Contains(s.AllowedOrigins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", corsExposed)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", corsMethods)
			h.Set("Access-Control-Allow-Headers", corsAllowed)
			h.Set("Access-Control-Max-Age", strconv.Itoa(int(corsMaxAge.Seconds())))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}
