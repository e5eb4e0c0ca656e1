package relevance

import (
	"math"
	"math/rand/v2"
	"slices"
)

// depth is how many hits of each engine are looked at.
const depth = 100

// Score is how one engine answered one query. All numbers are from 0 to 1.
type Score struct {
	NDCG   float64 // nDCG of the first ten, with gains of 2^grade - 1
	MRR    float64 // 1/rank of the first hit among ten of grade 2 or more
	Recall float64 // share of what has grade 2 or more, or of the most that has room, among the first 100
	First  float64 // whether the first hit has the best grade
}

// good is the grade from which a hit counts as found.
const good = 2

// judge scores a ranking of assets by their grades.
func judge(ranked []int, grades []uint8) Score {
	var s Score
	ideal := slices.Clone(grades)
	slices.Sort(ideal)
	slices.Reverse(ideal)
	at := func(i int) uint8 {
		if i < len(ranked) {
			return grades[ranked[i]]
		}
		return 0
	}
	gained, possible := 0.0, 0.0
	for i := range min(10, len(ideal)) {
		discount := math.Log2(float64(i + 2))
		gained += gain(at(i)) / discount
		possible += gain(ideal[i]) / discount
		if s.MRR == 0 && at(i) >= good {
			s.MRR = 1 / float64(i+1)
		}
	}
	if possible > 0 {
		s.NDCG = gained / possible
	}
	relevant, found := 0, 0
	for _, g := range grades {
		if g >= good {
			relevant++
		}
	}
	for i := range min(depth, len(ranked)) {
		if at(i) >= good {
			found++
		}
	}
	if relevant > 0 {
		s.Recall = float64(found) / float64(min(relevant, depth))
	}
	if at(0) == best {
		s.First = 1
	}
	return s
}

func gain(grade uint8) float64 { return math.Exp2(float64(grade)) - 1 }

// mean averages one number of some scores; 0 for none.
func mean(list []Score, of func(Score) float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range list {
		sum += of(s)
	}
	return sum / float64(len(list))
}

// resamples is how many libraries of queries the bootstrap draws.
const resamples = 2000

// interval returns the bounds between which the mean difference of pairs lies with
// 95 % confidence, by bootstrap over the queries. The same pairs give the same
// bounds.
func interval(differences []float64) (low, high float64) {
	if len(differences) == 0 {
		return 0, 0
	}
	r := rand.New(rand.NewPCG(1, uint64(len(differences))))
	means := make([]float64, resamples)
	for i := range means {
		for range differences {
			means[i] += differences[r.IntN(len(differences))]
		}
		means[i] /= float64(len(differences))
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000]
}
