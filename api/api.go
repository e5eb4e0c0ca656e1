// Package api serves the operations over REST.
//
// In comes the list of operations; out goes one http.Handler with a route for
// each, the OpenAPI document that describes them, and the routes that are no
// operations: health, metrics, file transfer. A request's path, query and body
// become one map of arguments, which is what the MCP endpoint hands over too, so
// a call means the same on both. The package holds no business logic: it imports
// neither the store nor the search nor any verb, and it never logs a key, a query
// string or a body.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vitrine/library"
	"vitrine/op"
)

// Authenticator turns a request into who makes it; package auth has the one for
// API keys.
type Authenticator interface {
	Authenticate(r *http.Request) (library.Actor, error)
}

// Config is what the handler needs. Catalog, Caller and Auth are required.
type Config struct {
	Catalog op.Catalog
	Caller  *op.Caller
	Auth    Authenticator
	Extra   []ExtraRoute // routes that are no operations, listed in the OpenAPI document

	Version   string // of the product, for the OpenAPI document
	PublicURL string // how clients reach the service; empty: the document names no server

	MCP            http.Handler                // served at /mcp, with its own authentication; may be nil
	Fallback       http.Handler                // serves what is neither API nor known, such as the web UI; may be nil
	AllowedOrigins []string                    // origins whose pages may call the API; none by default
	Ready          func(context.Context) error // for /readyz; nil: always ready
	Degraded       func() []string             // for /readyz: what answers lack at present, as searches name it; nil: nothing
	Gatherer       prometheus.Gatherer         // for /metrics; nil: no such route
	Metrics        *Metrics                    // counts requests; may be nil
	Log            *slog.Logger                // nil: slog.Default()
}

// ExtraRoute is a route that is no operation, such as a file transfer.
type ExtraRoute struct {
	Method, Path string
	Name         string // OpenAPI operation id
	Summary, Doc string
	Tag          string
	NeedsKey     bool                    // false: the handler checks the request itself, for example a signature
	Permission   library.Permission      // needed of the key; empty: any key will do
	PathSchemas  map[string]*huma.Schema // of placeholders; any text when left out
	Query        []QueryParameter        // listed in the OpenAPI document; the handler reads them itself
	Consumes     string                  // media type of the body; empty: none
	Produces     string                  // media type of the answer; empty: none
	Status       int                     // of success; 0: 200
	// Serve answers the request. An error before the first byte becomes a
	// problem. actor is empty unless NeedsKey.
	Serve func(w http.ResponseWriter, r *http.Request, actor library.Actor) error
}

// QueryParameter documents a parameter of an ExtraRoute.
type QueryParameter struct {
	Name, Doc string
	Required  bool
	Schema    *huma.Schema // nil: any text
}

// server is the state that all routes share.
type server struct {
	Config
	router  *chi.Mux
	log     *slog.Logger
	methods map[string][]string // of each path with a route, those that it has handlers for
}

// Handler builds the routes. It panics when two operations claim the same route:
// that is a defect of the program.
func Handler(cfg Config) http.Handler {
	s := &server{Config: cfg, router: chi.NewRouter(), log: cfg.Log, methods: map[string][]string{}}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.router.Use(s.withRequestID, s.accessLog, s.recoverPanic, s.cors, securityHeaders, limitHeaders(s), s.refuseKeyInURL, middleware.GetHead)
	s.router.NotFound(s.notFound)
	s.router.MethodNotAllowed(s.unknownMethod)
	claim := uniqueRoutes()
	for _, o := range cfg.Catalog.Operations {
		claim(o.Method, o.Path, o.Name)
		s.route(o.Method, o.Path, s.operation(o))
	}
	for _, x := range s.serviceRoutes() {
		claim(x.Method, x.Path, x.Name)
		s.route(x.Method, x.Path, s.extraRoute(x))
	}
	s.refuseOtherMethods()
	if cfg.MCP != nil {
		s.router.Handle("/mcp", cfg.MCP)
	}
	return s.router
}

// uniqueRoutes returns a function that panics when a route is claimed twice, or when two
// routes spell the same placeholder differently, which OpenAPI cannot say.
func uniqueRoutes() func(method, path, name string) {
	taken, spelled := map[string]string{}, map[string]string{}
	return func(method, path, name string) {
		if other, ok := taken[method+" "+path]; ok {
			panic("api: " + name + " and " + other + " both claim " + method + " " + path)
		}
		shape := placeholders.ReplaceAllString(path, "{}")
		if other, ok := spelled[shape]; ok && other != path {
			panic("api: " + name + " spells " + path + " what another route spells " + other)
		}
		taken[method+" "+path], spelled[shape] = name, path
	}
}

// serviceRoutes returns the routes beside the operations: those of the caller and the
// service's own.
func (s *server) serviceRoutes() []ExtraRoute {
	own := []ExtraRoute{
		{Method: http.MethodGet, Path: "/healthz", Name: "Health", Tag: "service", Summary: "Whether the process is alive.", Produces: jsonType, Serve: health},
		{Method: http.MethodGet, Path: "/readyz", Name: "Ready", Tag: "service", Summary: "Whether the service can answer requests.", Produces: jsonType, Serve: s.ready},
		{Method: http.MethodGet, Path: "/openapi.json", Name: "OpenAPI", Tag: "service", Summary: "This document.", Produces: jsonType},
	}
	if s.Gatherer != nil {
		metrics := promhttp.HandlerFor(s.Gatherer, promhttp.HandlerOpts{})
		own = append(own, ExtraRoute{Method: http.MethodGet, Path: "/metrics", Name: "Metrics", Tag: "service", Produces: "text/plain",
			Summary: "Counters for Prometheus.", Serve: func(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
				metrics.ServeHTTP(w, r)
				return nil
			}})
	}
	all := append(own, s.Extra...)
	all[2].Serve = serveDocument(Document(s.Config, all))
	return all
}

// extraRoute serves a route that is no operation.
func (s *server) extraRoute(x ExtraRoute) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var actor library.Actor
		if x.NeedsKey {
			var err error
			if actor, err = s.Auth.Authenticate(r); err != nil {
				s.writeError(w, r, err)
				return
			}
			setActor(r.Context(), actor)
			if x.Permission != "" && !actor.Can(x.Permission) {
				s.writeError(w, r, op.MissingPermission(x.Permission, x.Name))
				return
			}
		}
		if err := x.Serve(w, r, actor); err != nil {
			s.writeError(w, r, err)
		}
	})
}

// writeError answers with a problem and logs what the client must not see.
func (s *server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if op.Left(r.Context(), err) {
		err = library.ClientClosed(err)
	}
	f := library.AsError(err)
	if r.Context().Err() == nil && f.Kind != library.KindCanceled && (f.Kind == library.KindInternal || f.Cause != nil) {
		level := slog.LevelWarn
		if f.Kind == library.KindInternal {
			level = slog.LevelError
		}
		s.log.Log(r.Context(), level, "request failed", "request_id", op.RequestID(r.Context()), "code", f.Code, "cause", f.Cause)
	}
	op.WriteProblem(w, r, err)
}

func (s *server) notFound(w http.ResponseWriter, r *http.Request) {
	if s.Fallback != nil && !strings.HasPrefix(r.URL.Path, "/api/") {
		s.Fallback.ServeHTTP(w, r)
		return
	}
	s.writeError(w, r, library.NewError(library.KindNotFound, library.CodeNotFound, "There is no such route. GET /openapi.json lists them all."))
}
