package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// GroupTest is a Kruskal–Wallis test: whether groups of values come from one distribution.
type GroupTest struct {
	H             float64 // corrected for ties
	DF            int
	N             int     // values in all groups
	PChi2         float64 // by the chi-squared approximation
	PPermutation  float64 // by permuting the values among the groups, where a group is small; else 0
	EffectSize    float64 // epsilon squared: 0 none, 1 the group says it all
	SmallestGroup int
}

// permutations is how many a permutation test draws.
const permutations = 9999

// smallGroup is the size of a group below which the chi-squared approximation is poor.
const smallGroup = 5

// P returns the p-value to go by: of the permutation test where a group is small.
func (t GroupTest) P() float64 {
	if t.Permuted() {
		return t.PPermutation
	}
	return t.PChi2
}

// Permuted reports whether P is of the permutation test.
func (t GroupTest) Permuted() bool { return t.SmallestGroup < smallGroup }

// KruskalWallis tests whether groups differ. Empty groups do not count. It is false for
// fewer than two groups, fewer than three values, and values that are all the same.
func KruskalWallis(groups [][]float64) (GroupTest, bool) {
	var all []float64
	var sizes []int
	for _, g := range groups {
		if len(g) > 0 {
			all, sizes = append(all, g...), append(sizes, len(g))
		}
	}
	t := GroupTest{DF: len(sizes) - 1, N: len(all), SmallestGroup: math.MaxInt}
	if t.DF < 1 || t.N < 3 {
		return t, false
	}
	for _, n := range sizes {
		t.SmallestGroup = min(t.SmallestGroup, n)
	}
	n := float64(t.N)
	r, ties := ranks(all)
	correction := 1 - ties/(n*n*n-n)
	if correction <= 0 {
		return t, false
	}
	t.H = kruskalH(r, sizes) / correction
	t.PChi2 = distuv.ChiSquared{K: float64(t.DF)}.Survival(t.H)
	t.EffectSize = min(max(t.H/(n-1), 0), 1)
	if t.Permuted() {
		t.PPermutation = permute(r, sizes)
	}
	return t, true
}

// kruskalH returns the statistic of ranks that lie group behind group, without correction.
func kruskalH(ranks []float64, sizes []int) float64 {
	n, sum, at := float64(len(ranks)), 0.0, 0
	for _, size := range sizes {
		group := 0.0
		for _, r := range ranks[at : at+size] {
			group += r
		}
		sum += group * group / float64(size)
		at += size
	}
	return 12/(n*(n+1))*sum - 3*(n+1)
}

// permute returns the share of permutations whose statistic is at least as large.
func permute(ranks []float64, sizes []int) float64 {
	r, shuffled := generator(), append([]float64(nil), ranks...)
	limit := kruskalH(ranks, sizes) - 1e-9
	extreme := 1
	for range permutations {
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if kruskalH(shuffled, sizes) >= limit {
			extreme++
		}
	}
	return float64(extreme) / (permutations + 1)
}
