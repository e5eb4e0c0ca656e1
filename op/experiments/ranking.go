package experiments

import (
	"fmt"

	"vitrine/library"
	"vitrine/op/experiments/stats"
)

// Ranking is the order of runs that comparisons give.
type Ranking struct {
	Comparisons int         `json:"comparison_count"`
	Compared    int         `json:"compared_runs"`
	Connected   bool        `json:"connected" doc:"false: runs of different groups, or never compared, cannot be ranked against each other."`
	Groups      []RankGroup `json:"groups" doc:"The largest first."`
	Next        []NextPair  `json:"compare_next" doc:"Pairs whose comparison says the most."`
	Note        string      `json:"note,omitempty"`
	Model       string      `json:"model"`
}

// RankGroup is a ranking of runs that comparisons connect.
type RankGroup struct {
	Items       []RankedRun `json:"items" doc:"The best first."`
	Size        int         `json:"size" doc:"Runs, those that are not listed included."`
	Regularized bool        `json:"regularized" doc:"true: comparisons alone have no best fit, as some runs won all or none; a normal prior (standard deviation 1) holds the strengths."`
	TieRatio    float64     `json:"tie_ratio" doc:"How often equal runs tie, per win of one of them."`
}

// RankedRun is a run in a ranking.
type RankedRun struct {
	Run          string            `json:"collection_item_h"`
	AssetHash    library.AssetHash `json:"asset_h"`
	ConditionID  string            `json:"condition_id,omitempty"`
	VariantLabel string            `json:"variant_label,omitempty"`
	Rank         int               `json:"rank"`
	Strength     float64           `json:"log_strength" doc:"The difference of two is the log of the odds that one beats the other. The mean of a group is 0."`
	Low          float64           `json:"ci_low" doc:"95 % interval."`
	High         float64           `json:"ci_high"`
	Wins         int               `json:"wins"`
	Losses       int               `json:"losses"`
	Ties         int               `json:"ties"`
}

// NextPair is a pair of runs that is worth comparing.
type NextPair struct {
	A           string   `json:"item_a"`
	B           string   `json:"item_b"`
	Reason      string   `json:"reason" enum:"joins_groups,uncertain"`
	Probability *float64 `json:"win_probability,omitempty" doc:"That item_a is better, as far as is known."`
}

const (
	rankingModel = "Bradley-Terry with ties (Davidson). Every comparison of every evaluator counts as independent."
	maxRanked    = 300 // runs: fitting takes the cube of their number
	nextPairs    = 5
)

// ranking ranks the runs by the comparisons of a dimension; nil without any.
func (t *table) ranking(name string, limit int) *Ranking {
	var list []stats.Comparison
	compared := map[int]bool{}
	for _, c := range t.Comparisons {
		winner, ok := c.Winners[name]
		if !ok {
			continue
		}
		x := stats.Comparison{A: t.place[c.A], B: t.place[c.B], Won: stats.Tie}
		if winner != library.Tie {
			x.Won = t.place[winner]
		}
		compared[x.A], compared[x.B] = true, true
		list = append(list, x)
	}
	if len(list) == 0 {
		return nil
	}
	out := &Ranking{Comparisons: len(list), Compared: len(compared), Groups: []RankGroup{}, Next: []NextPair{}, Model: rankingModel}
	if len(compared) > maxRanked {
		out.Note = fmt.Sprintf("At most %d compared runs are ranked. Compare the best of each condition in an experiment of their own.", maxRanked)
		return out
	}
	r := stats.Rank(len(t.Runs), list)
	out.Connected = len(r.Groups) == 1 && r.Compared == len(t.Runs)
	if !out.Connected {
		out.Note = fmt.Sprintf("The comparisons make %d separate groups, and %d runs were never compared. compare_next lists what connects them.", len(r.Groups), len(t.Runs)-r.Compared)
	}
	for _, g := range r.Groups {
		out.Groups = append(out.Groups, t.rankGroup(g, limit))
	}
	for _, p := range stats.NextPairs(len(t.Runs), r, nextPairs) {
		next := NextPair{A: t.Runs[p.A].Hash, B: t.Runs[p.B].Hash, Reason: "joins_groups"}
		if !p.Joins {
			next.Reason, next.Probability = "uncertain", &p.Probability
		}
		out.Next = append(out.Next, next)
	}
	return out
}

func (t *table) rankGroup(g stats.Group, limit int) RankGroup {
	out := RankGroup{Items: []RankedRun{}, Size: len(g.Items), Regularized: g.Regularized, TieRatio: g.TieRatio}
	for _, s := range g.Items[:min(limit, len(g.Items))] {
		r := t.Runs[s.Item]
		out.Items = append(out.Items, RankedRun{Run: r.Hash, AssetHash: r.Asset, ConditionID: r.Claim.ConditionID, VariantLabel: r.Claim.VariantLabel,
			Rank: s.Rank, Strength: s.LogStrength, Low: s.Low, High: s.High, Wins: s.Wins, Losses: s.Losses, Ties: s.Ties})
	}
	return out
}
