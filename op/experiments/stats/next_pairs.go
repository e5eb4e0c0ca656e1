package stats

import (
	"cmp"
	"math"
	"slices"
)

// Pair is a comparison that is worth making.
type Pair struct {
	A, B int
	// Joins reports that it connects items that no comparison connects yet.
	Joins bool
	// Probability that A wins, of pairs that do not join.
	Probability float64
}

// candidates bounds the items whose pairs are looked at: those whose places are the least
// certain.
const candidates = 60

// NextPairs returns up to most pairs of n items to compare next: first those that connect
// items without a common ranking, then those whose result is the least certain, by the
// variance of the difference and the chance of either outcome.
func NextPairs(n int, r Ranking, most int) []Pair {
	list := joiningPairs(n, r, most)
	var rest []Pair
	weight := map[[2]int]float64{}
	for _, g := range r.Groups {
		items := slices.Clone(g.Items)
		slices.SortStableFunc(items, func(a, b Strength) int { return cmp.Compare(b.High-b.Low, a.High-a.Low) })
		items = items[:min(len(items), candidates)]
		for i, a := range items {
			for _, b := range items[i+1:] {
				p := 1 / (1 + math.Exp(b.LogStrength-a.LogStrength))
				variance := g.covariance(a.Item, a.Item) + g.covariance(b.Item, b.Item) - 2*g.covariance(a.Item, b.Item)
				pair := Pair{A: a.Item, B: b.Item, Probability: p}
				weight[[2]int{a.Item, b.Item}] = p * (1 - p) * variance
				rest = append(rest, pair)
			}
		}
	}
	slices.SortStableFunc(rest, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(weight[[2]int{y.A, y.B}], weight[[2]int{x.A, x.B}]), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return append(list, rest[:max(min(most-len(list), len(rest)), 0)]...)
}

// joiningPairs connects the middle of the largest group with that of every other one, and
// with items that were never compared.
func joiningPairs(n int, r Ranking, most int) (list []Pair) {
	grouped := make([]bool, n)
	var middles []int
	for _, g := range r.Groups {
		for _, s := range g.Items {
			grouped[s.Item] = true
		}
		middles = append(middles, g.Items[len(g.Items)/2].Item)
	}
	for i := range n {
		if !grouped[i] {
			middles = append(middles, i)
		}
	}
	for _, m := range middles[min(1, len(middles)):] {
		if len(list) < most {
			list = append(list, Pair{A: middles[0], B: m, Joins: true})
		}
	}
	return list
}
