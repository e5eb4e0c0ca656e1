package indexer

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/internal/kafkaclient"
)

// Metrics are the figures of relay, indexer and repairs. It is a
// prometheus.Collector: the caller registers it once per process and hands the
// same one to every part.
type Metrics struct {
	outboxRows, outboxAge  prometheus.Gauge
	relayed, relayFailures prometheus.Counter
	lag                    *prometheus.GaugeVec
	latency                prometheus.Histogram
	documents              *prometheus.CounterVec
	bulkRequests           *prometheus.CounterVec
	bulkSeconds            prometheus.Histogram
	bulkBytes              prometheus.Gauge
	inFlight               prometheus.Gauge
	failures               *prometheus.GaugeVec
	restarts               *prometheus.CounterVec
	repairs                *prometheus.CounterVec
	rebuild                *prometheus.GaugeVec
	refreshWait            prometheus.Histogram
	embedded               *prometheus.CounterVec
	unembedded             prometheus.Gauge

	all []prometheus.Collector
}

// Outcomes of a document, the label of vitrine_index_documents_total.
const (
	outcomeIndexed      = "indexed"
	outcomeTombstone    = "tombstone"
	outcomeConflict     = "conflict" // 409: a newer version was there already
	outcomeRefused      = "refused"  // 400
	outcomeThrottled    = "throttled"
	outcomeFailed       = "failed" // 5xx of one item
	outcomePartial      = "partial"
	outcomeDeadLettered = "dead_lettered"
	outcomeBadEvent     = "bad_event"
)

// Outcomes of a text, the label of vitrine_embedding_texts_total.
const (
	embeddingComputed = "computed"
	embeddingCached   = "cached" // it has been embedded before
	embeddingRefused  = "refused"
	embeddingFailed   = "failed" // it is tried again
)

// NewMetrics makes a fresh set of figures.
func NewMetrics() *Metrics {
	m := &Metrics{}
	m.outboxRows = m.gauge("vitrine_outbox_rows", "Outbox rows that are not published yet.")
	m.outboxAge = m.gauge("vitrine_outbox_oldest_seconds", "Age of the oldest outbox row that is not published yet.")
	m.relayed = m.counter("vitrine_relay_published_total", "Changes published to Kafka.")
	m.relayFailures = m.counter("vitrine_relay_failures_total", "Failed attempts to publish outbox rows.")
	m.lag = m.gaugeVec("vitrine_index_lag_events", "Events of a partition that are not indexed yet.", "partition")
	m.latency = m.histogram("vitrine_index_latency_seconds", "From the commit of a change to its document in the index, without the wait for a refresh.",
		prometheus.ExponentialBuckets(0.005, 2, 14))
	m.documents = m.counterVec("vitrine_index_documents_total", "Documents by outcome of one indexing attempt.", "outcome")
	m.bulkRequests = m.counterVec("vitrine_index_bulk_requests_total", "Bulk requests by status; 0 means no answer.", "status")
	m.bulkSeconds = m.histogram("vitrine_index_bulk_seconds", "Time of a bulk request.", prometheus.ExponentialBuckets(0.01, 2, 12))
	m.bulkBytes = m.gauge("vitrine_index_bulk_bytes", "Current target size of a bulk request.")
	m.inFlight = m.gauge("vitrine_index_bulk_in_flight", "Bulk requests in flight.")
	m.failures = m.gaugeVec("vitrine_index_failures", "Assets with a refused document, by kind: missing from the index, or indexed partially.", "kind")
	m.restarts = m.counterVec("vitrine_index_consumer_restarts_total", "Restarts of the Kafka consumer.", "reason")
	m.repairs = m.counterVec("vitrine_index_repairs_total", "Differences between library and index that were found and repaired.", "kind")
	m.rebuild = m.gaugeVec("vitrine_index_rebuild_documents", "Documents of the running rebuild.", "kind")
	m.refreshWait = m.histogram("vitrine_index_wait_seconds", "Time searches waited for their caller's own writes.", prometheus.ExponentialBuckets(0.005, 2, 10))
	m.embedded = m.counterVec("vitrine_embedding_texts_total", "Texts by outcome of one embedding attempt.", "outcome")
	m.unembedded = m.gauge("vitrine_embedding_backlog_documents", "Documents without a vector at the last check.")
	return m
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for _, c := range m.all {
		c.Collect(ch)
	}
}

// setLag replaces the lag of all partitions.
func (m *Metrics) setLag(list []kafkaclient.PartitionOffsets) {
	for _, p := range list {
		m.lag.WithLabelValues(strconv.Itoa(p.Partition)).Set(float64(p.Lag()))
	}
}

func (m *Metrics) gauge(name, help string) prometheus.Gauge {
	c := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.all = append(m.all, c)
	return c
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.all = append(m.all, c)
	return c
}

func (m *Metrics) gaugeVec(name, help, label string) *prometheus.GaugeVec {
	c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
	m.all = append(m.all, c)
	return c
}

func (m *Metrics) counterVec(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	m.all = append(m.all, c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	c := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.all = append(m.all, c)
	return c
}
