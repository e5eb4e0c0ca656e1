package stats

import (
	"maps"
	"slices"
)

// Agreement is how far evaluators agree beyond chance.
type Agreement struct {
	Alpha float64 // 1: always; 0: as by chance; below: less than that
	Units int     // that two evaluators or more have rated
	Pairs int     // of ratings of one unit
}

// OrdinalAlpha returns Krippendorff's alpha of ordinal ratings: for each unit the ratings
// that it got, each from another evaluator. Units may have been rated by different
// evaluators and by any number of them. It is false where alpha is not defined: no unit
// was rated twice, or all ratings that can be paired are the same.
func OrdinalAlpha(units [][]int) (Agreement, bool) {
	coincidences := map[[2]int]float64{}
	totals := map[int]float64{}
	var a Agreement
	for _, ratings := range units {
		m := len(ratings)
		if m < 2 {
			continue
		}
		a.Units++
		a.Pairs += m * (m - 1) / 2
		for i, c := range ratings {
			totals[c]++
			for j, k := range ratings {
				if i != j {
					coincidences[[2]int{c, k}] += 1 / float64(m-1)
				}
			}
		}
	}
	values := slices.Sorted(maps.Keys(totals))
	distance := ordinalDistance(values, totals)
	n, observed, expected := 0.0, 0.0, 0.0
	for _, v := range values {
		n += totals[v]
	}
	for i, c := range values {
		for j, k := range values {
			d := distance(i, j)
			observed += coincidences[[2]int{c, k}] * d
			expected += totals[c] * totals[k] * d
		}
	}
	if expected == 0 {
		return a, false
	}
	a.Alpha = 1 - (n-1)*observed/expected
	return a, true
}

// ordinalDistance returns the squared distance of two values by their places: how many
// ratings lie between them, half of their own included.
func ordinalDistance(values []int, totals map[int]float64) func(i, j int) float64 {
	before := make([]float64, len(values)+1)
	for i, v := range values {
		before[i+1] = before[i] + totals[v]
	}
	return func(i, j int) float64 {
		lo, hi := min(i, j), max(i, j)
		d := before[hi+1] - before[lo] - (totals[values[lo]]+totals[values[hi]])/2
		return d * d
	}
}
