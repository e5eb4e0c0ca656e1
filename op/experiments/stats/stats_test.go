package stats_test

import (
	"math"
	"testing"

	"vitrine/op/experiments/stats"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestOrdinalAlpha_OfKrippendorffsExample has the reliability data of section D of K.
// Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units,
// alpha of ordinal data 0.815.
func TestOrdinalAlpha_OfKrippendorffsExample(t *testing.T) {
	const none = 0
	observers := [][]int{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3},
		{none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none},
	}
	units := make([][]int, 12)
	for _, row := range observers {
		for u, v := range row {
			if v != none {
				units[u] = append(units[u], v)
			}
		}
	}
	a, ok := stats.OrdinalAlpha(units)
	if !ok || a.Units != 11 {
		t.Fatalf("%+v %v", a, ok)
	}
	near(t, "alpha", a.Alpha, 0.815, 0.0005)
}

// TestRank_OfTheBaseballLeague has the results of the American League's eastern division in 1987, from
// A. Agresti, "Categorical Data Analysis": wins of each team over each other, and the
// log-strengths above Baltimore's that the model of Bradley and Terry gives.
func TestRank_OfTheBaseballLeague(t *testing.T) {
	wins := [7][7]int{ // Milwaukee, Detroit, Toronto, New York, Boston, Cleveland, Baltimore
		{0, 7, 9, 7, 7, 9, 11}, {6, 0, 7, 5, 11, 9, 9}, {4, 6, 0, 7, 7, 8, 12}, {6, 8, 6, 0, 6, 7, 10},
		{6, 2, 6, 7, 0, 7, 12}, {4, 4, 5, 6, 6, 0, 6}, {2, 4, 1, 3, 1, 7, 0}}
	var played []stats.Comparison
	for a, row := range wins {
		for b, n := range row {
			for range n {
				played = append(played, stats.Comparison{A: a, B: b, Won: a})
			}
		}
	}
	r := stats.Rank(7, played)
	if len(r.Groups) != 1 || r.Groups[0].Regularized || r.Groups[0].TieRatio != 0 {
		t.Fatalf("%+v", r)
	}
	strength := map[int]float64{}
	for i, s := range r.Groups[0].Items {
		strength[s.Item] = s.LogStrength
		if s.Item != i || s.Rank != i+1 || s.Low >= s.LogStrength || s.High <= s.LogStrength {
			t.Errorf("place %d: %+v", i, s)
		}
	}
	for team, want := range []float64{1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0} {
		near(t, "the strength of a team", strength[team]-strength[6], want, 0.0005)
	}
}

// TestKruskalWallis_OfMucociliaryEfficiency has the example of M. Hollander and D. A. Wolfe,
// "Nonparametric Statistical Methods" (1973), page 115: H is 0.7714 with two degrees of
// freedom.
func TestKruskalWallis_OfMucociliaryEfficiency(t *testing.T) {
	k, ok := stats.KruskalWallis([][]float64{{2.9, 3.0, 2.5, 2.6, 3.2}, {3.8, 2.7, 4.0, 2.4}, {2.8, 3.4, 3.7, 2.2, 2.0}})
	if !ok || k.DF != 2 || k.N != 14 || !k.Permuted() {
		t.Fatalf("%+v %v", k, ok)
	}
	near(t, "H", k.H, 0.7714, 0.0001)
	near(t, "p", k.PChi2, 0.68, 0.0005)
	near(t, "p of permutations", k.P(), k.PChi2, 0.05)
}

// TestKruskalWallis_SmallGroupsArePermutedExactly compares with all 20 ways to deal six values
// to two groups of three: the two most extreme ones are as far as these.
func TestKruskalWallis_SmallGroupsArePermutedExactly(t *testing.T) {
	k, ok := stats.KruskalWallis([][]float64{{1, 2, 3}, {4, 5, 6}, {}})
	if !ok {
		t.Fatal("no test")
	}
	near(t, "p", k.P(), 0.1, 0.01)
}

func TestStats_HaveNoResultWhereThereIsNone(t *testing.T) {
	if _, ok := stats.OrdinalAlpha([][]int{{3}, {}, {4}}); ok {
		t.Error("alpha of units that were rated once")
	}
	if _, ok := stats.OrdinalAlpha([][]int{{3, 3}, {3, 3}}); ok {
		t.Error("alpha of ratings that are all the same")
	}
	if _, ok := stats.KruskalWallis([][]float64{{1, 2, 3}}); ok {
		t.Error("a test of one group")
	}
	if _, ok := stats.KruskalWallis([][]float64{{2, 2}, {2, 2}}); ok {
		t.Error("a test of equal values")
	}
	if i, ok := stats.BootstrapMean([]float64{4}); ok || i.Estimate != 4 {
		t.Errorf("an interval of one value: %+v", i)
	}
	if i, ok := stats.BootstrapMean([]float64{4, 4, 4}); !ok || i.Low != 4 || i.High != 4 {
		t.Errorf("the interval of equal values: %+v", i)
	}
	if r := stats.Rank(3, nil); len(r.Groups) != 0 || r.Compared != 0 {
		t.Errorf("a ranking of nothing: %+v", r)
	}
}

// TestRank_ReportsWhatIsNotConnected ranks two groups and an item that nobody compared, and
// proposes what joins them first.
func TestRank_ReportsWhatIsNotConnected(t *testing.T) {
	c := func(a, b, won int) stats.Comparison { return stats.Comparison{A: a, B: b, Won: won} }
	r := stats.Rank(7, []stats.Comparison{c(0, 1, 0), c(1, 2, 1), c(2, 0, 2), c(0, 1, stats.Tie), c(4, 5, 5), c(3, 3, 3)})
	if len(r.Groups) != 2 || r.Compared != 5 || len(r.Groups[0].Items) != 3 || len(r.Groups[1].Items) != 2 {
		t.Fatalf("%+v", r)
	}
	if r.Groups[0].Regularized || !r.Groups[1].Regularized {
		t.Error("only the second group, in which one won always, needs a prior")
	}
	if best := r.Groups[1].Items[0]; best.Item != 5 || best.Wins != 1 || best.LogStrength <= 0 || best.High > 10 {
		t.Errorf("%+v", best)
	}
	pairs := stats.NextPairs(7, r, 5)
	if len(pairs) != 5 || !pairs[0].Joins || !pairs[1].Joins || !pairs[2].Joins || pairs[3].Joins {
		t.Errorf("%+v", pairs)
	}
	joined := map[int]bool{}
	for _, p := range pairs[:3] {
		joined[p.B] = true
	}
	if !joined[3] || !joined[6] || !(joined[4] || joined[5]) {
		t.Errorf("they leave something unconnected: %+v", pairs)
	}
}

// TestRank_AllTiesAreEqual has items that nobody can tell apart.
func TestRank_AllTiesAreEqual(t *testing.T) {
	r := stats.Rank(3, []stats.Comparison{{A: 0, B: 1, Won: stats.Tie}, {A: 1, B: 2, Won: stats.Tie}, {A: 2, B: 0, Won: stats.Tie}})
	for _, s := range r.Groups[0].Items {
		if s.Rank != 1 || s.Ties != 2 || math.Abs(s.LogStrength) > 1e-9 {
			t.Errorf("%+v", s)
		}
	}
}
