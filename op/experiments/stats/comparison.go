package stats

import (
	"cmp"
	"slices"
)

// Comparison is what an evaluator said of two items: A was better, B was better, or
// neither (a tie). Items are numbered from 0.
type Comparison struct {
	A, B int
	Won  int // A, B, or Tie
}

// Tie as the winner of a comparison means that neither item was better.
const Tie = -1

// Strength is the place of an item in a ranking.
type Strength struct {
	Item               int
	Rank               int // from 1, within its group
	LogStrength        float64
	Low, High          float64 // of LogStrength
	Wins, Losses, Ties int
}

// Group is a ranking of items that comparisons connect, directly or through others. Items
// of different groups cannot be ranked against each other.
type Group struct {
	Items []Strength // the strongest first
	// Regularized reports that the comparisons alone have no best fit, because some items
	// won all or none against the others; strengths are then drawn to each other by a normal
	// prior with a standard deviation of 1.
	Regularized bool
	// TieRatio is how often two equal items tie, as a share of how often one of them wins.
	TieRatio float64

	covariance func(i, j int) float64 // of items of the group, by their number
}

// Ranking is what comparisons say of the order of items.
type Ranking struct {
	Groups   []Group // the largest first; items that were never compared are in none
	Compared int     // items
}

// Rank ranks n items by pairwise comparisons, with the model of Bradley and Terry as Davidson
// extended it to ties: the odds of A, B and a tie are as a : b : ν·√(a·b). The mean
// log-strength of a group is 0. Comparisons of an item with itself do not count.
func Rank(n int, comparisons []Comparison) Ranking {
	var r Ranking
	for _, members := range components(n, comparisons, false) {
		if len(members) < 2 {
			continue
		}
		r.Compared += len(members)
		r.Groups = append(r.Groups, rankGroup(members, comparisons))
	}
	slices.SortStableFunc(r.Groups, func(a, b Group) int { return cmp.Compare(len(b.Items), len(a.Items)) })
	return r
}

func rankGroup(members []int, comparisons []Comparison) Group {
	place := make(map[int]int, len(members))
	for i, m := range members {
		place[m] = i
	}
	var own []Comparison
	for _, c := range comparisons {
		if a, ok := place[c.A]; ok && c.A != c.B {
			c.Won, c.A, c.B = map[int]int{c.A: a, c.B: place[c.B], Tie: Tie}[c.Won], a, place[c.B]
			own = append(own, c)
		}
	}
	fit := fitStrengths(len(members), own)
	g := Group{Regularized: fit.regularized, TieRatio: fit.tieRatio()}
	g.covariance = func(i, j int) float64 { return fit.covariance(place[i], place[j]) }
	for i, m := range members {
		s := Strength{Item: m, LogStrength: fit.theta(i)}
		margin := normalQuantile * fit.standardError(i)
		s.Low, s.High = s.LogStrength-margin, s.LogStrength+margin
		g.Items = append(g.Items, s)
	}
	count(g.Items, own)
	slices.SortStableFunc(g.Items, func(a, b Strength) int { return cmp.Compare(b.LogStrength, a.LogStrength) })
	for i := range g.Items {
		g.Items[i].Rank = i + 1
		if i > 0 && g.Items[i-1].LogStrength-g.Items[i].LogStrength < 1e-9 {
			g.Items[i].Rank = g.Items[i-1].Rank
		}
	}
	return g
}

func count(items []Strength, comparisons []Comparison) {
	for _, c := range comparisons {
		switch c.Won {
		case Tie:
			items[c.A].Ties++
			items[c.B].Ties++
		case c.A:
			items[c.A].Wins++
			items[c.B].Losses++
		default:
			items[c.B].Wins++
			items[c.A].Losses++
		}
	}
}

// components returns the groups of items that comparisons connect, in the order of their
// first item; of directed ones only those in which each item leads to each other one by
// wins and ties.
func components(n int, comparisons []Comparison, directed bool) [][]int {
	forward, backward := make([][]int, n), make([][]int, n)
	for _, c := range comparisons {
		if c.A == c.B {
			continue
		}
		if !directed || c.Won != c.B {
			forward[c.A], backward[c.B] = append(forward[c.A], c.B), append(backward[c.B], c.A)
		}
		if !directed || c.Won != c.A {
			forward[c.B], backward[c.A] = append(forward[c.B], c.A), append(backward[c.A], c.B)
		}
	}
	group := make([]int, n)
	var list [][]int
	for i := range n {
		if group[i] != 0 {
			continue
		}
		from, to := reach(i, forward), reach(i, backward)
		var members []int
		for j := range n {
			if from[j] && to[j] && group[j] == 0 {
				group[j] = len(list) + 1
				members = append(members, j)
			}
		}
		list = append(list, members)
	}
	return list
}

// reach returns which items edges lead to from one.
func reach(from int, edges [][]int) []bool {
	seen := make([]bool, len(edges))
	seen[from] = true
	for open := []int{from}; len(open) > 0; {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, next := range edges[at] {
			if !seen[next] {
				seen[next] = true
				open = append(open, next)
			}
		}
	}
	return seen
}
