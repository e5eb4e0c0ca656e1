package indexer

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/internal/kafkaclient"
)

func TestMetrics_CanBeRegisteredAndGathered(t *testing.T) {
	t.Parallel()
	m := NewMetrics()
	m.setLag([]kafkaclient.PartitionOffsets{{Partition: 1, Committed: 3, End: 10}, {Partition: 2, Committed: -1, First: 4, End: 6}})
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
