package service

import (
	"os"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/media/memory"
)

// Decoding a picture takes some megabytes that are garbage a moment later, beside
// a live heap of a few tens: at Go's usual pace an import collects garbage several
// times a second. A service may use more memory than that for less work. Near
// softLimit the collector becomes as eager as it usually is.
const (
	gcPercent = 400
	softLimit = 1 << 30
)

// setGCTarget sets the collector's pace, unless the operator has set it by
// GOGC or GOMEMLIMIT.
func setGCTarget() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}

// registerDecoding shows how decoding's memory is used.
func registerDecoding(reg prometheus.Registerer, b *memory.Budget) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_decode_bytes",
			Help: "Memory set aside for decoding pictures."}, func() float64 { return float64(b.Stats().Used) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vitrine_decode_waiting",
			Help: "Pictures that wait for memory to be decoded."}, func() float64 { return float64(b.Stats().Waiting) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "vitrine_decode_refused_total", ConstLabels: prometheus.Labels{"reason": "busy"},
			Help: "Pictures that were not decoded: too many others were, or this one takes too much memory."}, func() float64 { return float64(b.Stats().Busy) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "vitrine_decode_refused_total", ConstLabels: prometheus.Labels{"reason": "too_large"},
			Help: "Pictures that were not decoded: too many others were, or this one takes too much memory."}, func() float64 { return float64(b.Stats().TooLarge) }),
	)
}
