package backup

import (
	"slices"
	"testing"
	"time"
)

// TestKeep_KeepsTheNewestOfEachPeriod for backups of every six hours over 100 days.
func TestKeep_KeepsTheNewestOfEachPeriod(t *testing.T) {
	t.Parallel()
	var all []Manifest
	for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(time.Date(2026, 4, 11, 0, 0, 0, 0, time.UTC)); at = at.Add(6 * time.Hour) {
		all = append(all, Manifest{ID: at.Format("01-02T15"), At: at})
	}
	for _, c := range []struct {
		keep Keep
		want []string
	}{
		{Keep{Last: 1}, []string{"04-10T18"}},
		{Keep{Last: 3}, []string{"04-10T06", "04-10T12", "04-10T18"}},
		{Keep{Daily: 3}, []string{"04-08T18", "04-09T18", "04-10T18"}},
		{Keep{Weekly: 2}, []string{"04-05T18", "04-10T18"}},
		{Keep{Monthly: 12}, []string{"01-31T18", "02-28T18", "03-31T18", "04-10T18"}},
		{Keep{Last: 2, Daily: 2, Weekly: 2, Monthly: 2}, []string{"03-31T18", "04-05T18", "04-09T18", "04-10T12", "04-10T18"}},
	} {
		drop := c.keep.choose(all)
		var kept []string
		for _, m := range all {
			if !slices.ContainsFunc(drop, func(d Manifest) bool { return d.ID == m.ID }) {
				kept = append(kept, m.ID)
			}
		}
		if !slices.Equal(kept, c.want) {
			t.Errorf("%+v keeps %v, want %v", c.keep, kept, c.want)
		}
	}
	if drop := (Keep{}).choose(all); len(drop) > 0 {
		t.Errorf("a retention that keeps all drops %d", len(drop))
	}
	if drop := (Keep{Monthly: 1}).choose(all[:1]); len(drop) > 0 {
		t.Error("the only backup was dropped")
	}
}
