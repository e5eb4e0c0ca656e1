package bench

import (
	"math"
	"slices"
	"time"
)

// Summary is what is told of a series of measurements.
type Summary struct {
	N     int     `json:"n"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"` // 95 of 100 measurements are at least this good
	Worst float64 `json:"worst"`
}

// milliseconds summarizes times, of which less is better.
func milliseconds(times []time.Duration) Summary {
	list := make([]float64, len(times))
	for i, d := range times {
		list[i] = float64(d) / float64(time.Millisecond)
	}
	return summarize(list, false)
}

// summarize returns the median of a series, and its values on the bad side: the
// high ones, or the low ones where more is better.
func summarize(list []float64, moreIsBetter bool) Summary {
	if len(list) == 0 {
		return Summary{}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	if moreIsBetter {
		slices.Reverse(list)
	}
	return Summary{N: len(list), P50: median(list), P95: list[int(math.Ceil(0.95*float64(len(list))))-1], Worst: list[len(list)-1]}
}

// median of a sorted list, in either direction.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
