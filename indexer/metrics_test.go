package indexer

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestMetricsCanBeRegisteredAndGathered(t *testing.T) {
	m := NewMetrics()
	m.setLag([]partitionOffsets{{partition: 1, committed: 3, end: 10}, {partition: 2, committed: -1, first: 4, end: 6}})
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(m)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lag float64
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "vitrine_") || f.GetHelp() == "" {
			t.Errorf("%s has no help or another product's name", f.GetName())
		}
		if f.GetName() == "vitrine_index_lag_events" {
			for _, x := range f.GetMetric() {
				lag += x.GetGauge().GetValue()
			}
		}
	}
	if lag != 9 {
		t.Errorf("lag of 7 and 2 events is %v", lag)
	}
}
