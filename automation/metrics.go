package automation

import (
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/automation/webhook"
)

// Metrics are the figures of webhooks and rules. A process has them once.
type Metrics struct {
	deliveries *prometheus.CounterVec
	seconds    prometheus.Histogram
}

// NewMetrics registers the figures.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_webhook_attempts_total", Help: "Attempts at webhook deliveries by outcome: delivered, refused (a response other than 2xx), failed (no response)."}, []string{"outcome"}),
		seconds:    prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vitrine_webhook_attempt_seconds", Help: "Time that an attempt at a webhook delivery took.", Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60}}),
	}
	reg.MustRegister(m.deliveries, m.seconds)
	return m
}

func (m *Metrics) observe(r webhook.Response) {
	outcome := "delivered"
	switch {
	case r.Status == 0:
		outcome = "failed"
	case !r.Delivered():
		outcome = "refused"
	}
	m.deliveries.WithLabelValues(outcome).Inc()
	m.seconds.Observe(r.Took.Seconds())
}
