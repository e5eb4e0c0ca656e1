package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/library"
	"vitrine/op"
)

// NewServer wraps a handler in an HTTP server whose limits keep slow and large
// clients from holding it. It sets no write timeout: files and event streams may
// take long.
func NewServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    4 * maxHeaders,
	}
}

// Metrics counts HTTP requests and calls of operations.
type Metrics struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	calls    *prometheus.HistogramVec
}

// NewMetrics registers the counters. It panics when they are registered already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_http_requests_total",
			Help: "HTTP requests by method, route and status."}, []string{"method", "route", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "vitrine_http_request_seconds",
			Help: "Time to answer HTTP requests, by method and route.", Buckets: buckets}, []string{"method", "route"}),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "vitrine_operation_seconds",
			Help: "Time of operations by name, transport and error code; the code is ok on success.", Buckets: buckets}, []string{"operation", "transport", "code"}),
	}
	reg.MustRegister(m.requests, m.took, m.calls)
	return m
}

var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}

// Observe counts a call of an operation; it fits op.Caller.Observe.
func (m *Metrics) Observe(o op.Observation) {
	code := o.Code
	if code == "" {
		code = "ok"
	}
	m.calls.WithLabelValues(o.Operation, o.Transport, code).Observe(o.Took.Seconds())
}

var knownMethods = map[string]bool{http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true,
	http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true}

// count takes any method that a client invents as one, so that no client can
// grow the number of series.
func (m *Metrics) count(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	if !knownMethods[method] {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.took.WithLabelValues(method, route).Observe(took.Seconds())
}

// codeNotReady is the code of /readyz alone.
const codeNotReady = "NOT_READY"

func health(w http.ResponseWriter, _ *http.Request, _ library.Actor) error {
	return writeStatus(w, "ok")
}

func (s *server) ready(w http.ResponseWriter, r *http.Request, _ library.Actor) error {
	if s.Ready != nil {
		if err := s.Ready(r.Context()); err != nil {
			detail := "A component of the service does not respond. See the server's log."
			var known *library.Error
			if errors.As(err, &known) {
				detail = known.Detail
			}
			return &library.Error{Kind: library.KindUnavailable, Code: codeNotReady, RetryAfter: 2 * time.Second, Detail: detail, Cause: err}
		}
	}
	if s.Degraded != nil {
		if lacks := s.Degraded(); len(lacks) > 0 {
			return writeStatus(w, "ready", lacks...)
		}
	}
	return writeStatus(w, "ready")
}

func writeStatus(w http.ResponseWriter, word string, degraded ...string) error {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(struct { // when it fails, the client has gone; there is nobody left to tell
		Status   string   `json:"status"`
		Degraded []string `json:"degraded,omitempty"`
	}{word, degraded})
	return nil
}
