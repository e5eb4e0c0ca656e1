package relevance

import (
	"math"
	"testing"
)

func TestMeasure_ARankingIsScoredByItsGrades(t *testing.T) {
	grades := []uint8{3, 0, 2, 1, 0} // of the assets 0 to 4
	third, fourth := 1/math.Log2(3), 1/math.Log2(4)
	ideal := 7 + 3*third + 1*fourth
	for name, c := range map[string]struct {
		ranked []int
		want   Score
	}{
		"the best order":       {[]int{0, 2, 3, 1, 4}, Score{NDCG: 1, MRR: 1, Recall: 1, First: 1}},
		"nothing":              {nil, Score{}},
		"the best one second":  {[]int{1, 0}, Score{NDCG: 7 * third / ideal, MRR: 0.5, Recall: 0.5}},
		"only a hint of it":    {[]int{3}, Score{NDCG: 1 / ideal}},
		"good, not best first": {[]int{2, 0, 3}, Score{NDCG: (3 + 7*third + fourth) / ideal, MRR: 1, Recall: 1}},
	} {
		got := judge(c.ranked, grades)
		if math.Abs(got.NDCG-c.want.NDCG) > 1e-12 || got.MRR != c.want.MRR || got.Recall != c.want.Recall || got.First != c.want.First {
			t.Errorf("%s: %+v instead of %+v", name, got, c.want)
		}
	}
}

func TestMeasure_RecallCountsNoMoreThanThereIsRoomFor(t *testing.T) {
	grades := make([]uint8, 2*depth)
	ranked := make([]int, depth)
	for i := range grades {
		grades[i] = good
	}
	for i := range ranked {
		ranked[i] = i
	}
	if got := judge(ranked, grades).Recall; got != 1 {
		t.Errorf("a hundred of two hundred good assets among the first hundred: recall %v", got)
	}
}

func TestMeasure_AnIntervalSurroundsTheMean(t *testing.T) {
	differences := make([]float64, 400)
	for i := range differences {
		differences[i] = 0.1 + float64(i%2)*0.2 // 0.1 and 0.3: the mean is 0.2, its deviation 0.005
	}
	low, high := interval(differences)
	if low < 0.185 || low > 0.195 || high < 0.205 || high > 0.215 {
		t.Errorf("%v to %v", low, high)
	}
	if l, h := interval(differences); l != low || h != high {
		t.Error("the same differences have other bounds the second time")
	}
}
