package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"vitrine/library"
)

// standardMethods are those that a path without a handler for them refuses by itself. The
// router passes others to unknownMethod.
var standardMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodTrace, http.MethodConnect}

// route adds a route and remembers its method.
func (s *server) route(method, path string, h http.Handler) {
	s.router.Method(method, path, h)
	s.methods[path] = append(s.methods[path], method)
}

// refuseOtherMethods answers OPTIONS on every path that has routes, and 405 for each method
// that it has none for. Without it a path such as /assets/search would be taken for
// /assets/{asset_h} by the methods that only the latter has.
func (s *server) refuseOtherMethods() {
	for path, methods := range s.methods {
		allow := allowHeader(methods)
		for _, m := range standardMethods {
			switch {
			case slices.Contains(methods, m), m == http.MethodHead && slices.Contains(methods, http.MethodGet): // GET answers HEAD
			case m == http.MethodOptions:
				s.router.Method(m, path, options(allow))
			default:
				s.router.Method(m, path, s.methodNotAllowed(allow))
			}
		}
	}
}

// allowHeader lists methods with those that come of themselves.
func allowHeader(methods []string) string {
	list := append(slices.Clone(methods), http.MethodOptions)
	if slices.Contains(methods, http.MethodGet) {
		list = append(list, http.MethodHead)
	}
	slices.SortFunc(list, func(a, b string) int {
		return slices.Index(standardMethods, a) - slices.Index(standardMethods, b)
	})
	return strings.Join(slices.Compact(list), ", ")
}

// options answers OPTIONS with the methods of a path (RFC 9110 §9.3.7).
func options(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *server) methodNotAllowed(allow string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", allow)
		s.writeError(w, r, library.NewError(library.KindMethod, library.CodeMethodNotAllowed, "This route accepts %s.", allow))
	}
}

// unknownMethod refuses a method that the router does not know.
func (s *server) unknownMethod(w http.ResponseWriter, r *http.Request) {
	path := s.router.Find(chi.NewRouteContext(), http.MethodOptions, r.URL.Path)
	if path == "" {
		s.notFound(w, r)
		return
	}
	if s.methods[path] == nil { // the MCP endpoint, which knows its methods
		s.MCP.ServeHTTP(w, r)
		return
	}
	s.methodNotAllowed(allowHeader(s.methods[path]))(w, r)
}
