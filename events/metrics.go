package events

import (
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/store"
)

// Metrics are the figures of events. A process has them once and hands them to every part.
type Metrics struct {
	logged, published prometheus.Counter
	handled           *prometheus.CounterVec
	late              *prometheus.CounterVec
	waiting, oldest   *prometheus.GaugeVec
	dead              *prometheus.GaugeVec
	streams           prometheus.Gauge
}

// NewMetrics registers the figures.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		logged:    prometheus.NewCounter(prometheus.CounterOpts{Name: "vitrine_events_logged_total", Help: "Events moved from the outbox to the log."}),
		published: prometheus.NewCounter(prometheus.CounterOpts{Name: "vitrine_events_published_total", Help: "Events of the log published to Kafka."}),
		handled: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_subscriber_events_total",
			Help: "Events by subscriber and outcome: handled, retried, dead_lettered, foreign (a message of another log)."}, []string{"subscriber", "outcome"}),
		late: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vitrine_subscriber_catch_up_events_total",
			Help: "Events that a subscriber read from the log because Kafka did not bring them."}, []string{"subscriber"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_subscriber_lag_events", Help: "Events that a subscriber has not handled yet."}, []string{"subscriber"}),
		oldest:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_subscriber_lag_seconds", Help: "Age of the oldest event that a subscriber has not handled yet."}, []string{"subscriber"}),
		dead:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "vitrine_subscriber_dead_letters", Help: "Events that a subscriber failed to handle."}, []string{"subscriber"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "vitrine_event_streams", Help: "Open event streams."}),
	}
	reg.MustRegister(m.logged, m.published, m.handled, m.late, m.waiting, m.oldest, m.dead, m.streams)
	return m
}

func (m *Metrics) setStates(list []store.SubscriberState) {
	for _, s := range list {
		m.waiting.WithLabelValues(s.Name).Set(float64(s.Waiting))
		m.oldest.WithLabelValues(s.Name).Set(s.Oldest.Seconds())
		m.dead.WithLabelValues(s.Name).Set(float64(s.DeadLetters))
	}
}
