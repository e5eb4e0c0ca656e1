package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"vitrine/library"
	"vitrine/op"
)

// allow lists the methods of the endpoint.
const allow = "HEAD, POST, DELETE, OPTIONS"

// requestState is one HTTP request while it is served.
type requestState struct {
	actor  library.Actor
	writer *responseWriter
	modern bool // the 2026-07-28 revision or later
}

type requestStateKey struct{}

func stateOf(ctx context.Context) *requestState {
	v, _ := ctx.Value(requestStateKey{}).(*requestState)
	return v
}

// ServeHTTP guards the protocol: origin, method, credential, size of the body and
// owner of the session are decided before mcp-go sees the request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := errors.Join(e.checkHost(r), e.checkOrigin(r)); err != nil {
		op.WriteProblem(w, r, err)
		return
	}
	actor, err := e.cfg.Auth.Authenticate(r)
	if err != nil {
		e.logError(r.Context(), err)
		op.WriteProblem(w, r, err)
		return
	}
	v := &requestState{actor: actor, modern: mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))}
	switch r.Method {
	case http.MethodHead:
		w.WriteHeader(http.StatusOK)
		return
	case http.MethodPost:
		body, err := op.ReadBody(w, r)
		if err != nil {
			op.WriteProblem(w, r, err)
			return
		}
		if v.modern && isCancellation(body) {
			// mcp-go files running calls of this era under the bare request id, so one
			// client could end another's. Closing the connection cancels a call.
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if err := e.checkSession(r, v, body); err != nil {
			op.WriteProblem(w, r, err)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	case http.MethodDelete:
		if !v.modern {
			id := r.Header.Get(server.HeaderKeySessionID)
			if !ownsSession(id, actor) {
				op.WriteProblem(w, r, sessionNotFound())
				return
			}
			e.ended.Add(id, struct{}{})
		}
	default:
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		op.WriteProblem(w, r, library.NewError(library.KindMethod, library.CodeMethodNotAllowed,
			"The endpoint accepts POST. There is no separate event stream: progress is sent on the stream of the call."))
		return
	}
	v.writer = newResponseWriter(w, r, v.modern)
	e.transport.ServeHTTP(v.writer, r.WithContext(context.WithValue(r.Context(), requestStateKey{}, v)))
	v.writer.flushBuffered()
}

// messageHeader is what the door reads of a message.
type messageHeader struct {
	Method string `json:"method"`
	Params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

func isCancellation(body []byte) bool {
	const method = "notifications/cancelled"
	if !bytes.Contains(body, []byte(method)) {
		return false
	}
	var m messageHeader
	return json.Unmarshal(body, &m) == nil && m.Method == method
}

// checkSession holds the older protocol to its sessions: a session serves only
// the credential that opened it, and every message but the first names one.
func (e *Endpoint) checkSession(r *http.Request, v *requestState, body []byte) error {
	if v.modern {
		return nil
	}
	if id := r.Header.Get(server.HeaderKeySessionID); id != "" {
		if !ownsSession(id, v.actor) || e.ended.Contains(id) {
			return sessionNotFound()
		}
		return nil
	}
	var m messageHeader
	if json.Unmarshal(body, &m) != nil || m.Method == string(mcp.MethodInitialize) || m.Params.Meta[mcp.MetaKeyProtocolVersion] != nil {
		return nil //nolint:nilerr // the protocol has its own answer to these
	}
	return library.NewError(library.KindInvalid, library.CodeValidationFailed,
		"Send initialize first and then its Mcp-Session-Id with every message, or use protocol version 2026-07-28, which has no sessions.")
}

func sessionNotFound() error {
	return library.NewError(library.KindNotFound, library.CodeNotFound, "There is no such session. Send initialize again.")
}

// checkHost stops pages of elsewhere whose name was made to lead to this machine (DNS
// rebinding): a connection over loopback must name a loopback host.
func (e *Endpoint) checkHost(r *http.Request) error {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if e.cfg.TrustHost || !ok || local == nil || !isLoopback(local.String()) || isLoopback(r.Host) {
		return nil
	}
	return library.NewError(library.KindForbidden, library.CodeHostNotAllowed,
		"Connections over loopback must name localhost or 127.0.0.1 as the host. Behind a reverse proxy on this machine set VITRINE_TRUST_HOST.")
}

// checkOrigin stops web pages from using a visitor's network position: a request
// with an Origin must come from this service, from this machine, or from an
// origin that was allowed. Programs send none.
func (e *Endpoint) checkOrigin(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 || len(origins) == 1 && e.isAllowed(origins[0]) {
		return nil
	}
	return library.NewError(library.KindForbidden, library.CodeOriginNotAllowed,
		"Pages of this origin may not call the endpoint. Add the origin to VITRINE_ALLOWED_ORIGINS.")
}

func (e *Endpoint) isAllowed(origin string) bool {
	if e.origins[strings.ToLower(origin)] {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Host) && u.Path == "" && u.RawQuery == "" && u.User == nil
}

func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// allowed returns the origins of the configuration, in the form browsers send.
func allowed(cfg Config) map[string]bool {
	set := map[string]bool{}
	for _, o := range append([]string{cfg.PublicURL}, cfg.AllowedOrigins...) {
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			set[strings.ToLower(u.Scheme+"://"+u.Host)] = true
		}
	}
	return set
}
