// Package stats computes what the summary of an experiment says: means with bootstrap
// intervals, agreement of evaluators, rankings from pairwise comparisons, and whether
// groups differ. It knows numbers alone, no runs and no store. Whatever draws random
// numbers begins with the same seed, so the same data has the same answer.
package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Level is the confidence level of every interval.
const Level = 0.95

// generator returns the random numbers of one computation.
func generator() *rand.Rand { return rand.New(rand.NewPCG(0x5eed, 1)) }

// Mean returns the arithmetic mean of some values; NaN of none.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// ranks returns the ranks of values from 1, equal ones sharing the mean of theirs, and the
// sum of t³ − t over the groups of t equal values.
func ranks(values []float64) (list []float64, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	list = make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			list[k] = float64(i+j+1) / 2
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return list, ties
}

// finite reports whether a number is neither NaN nor infinite.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
