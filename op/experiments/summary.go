package experiments

import (
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op/experiments/stats"
	"vitrine/store"
)

// Condition is the runs that share a condition_id.
type Condition struct {
	ID    string             `json:"condition_id" doc:"Empty: runs without one."`
	Runs  int                `json:"run_count"`
	Means map[string]float64 `json:"means" doc:"Dimension to mean score."`
}

// TagCount is how many runs have an outcome tag.
type TagCount struct {
	Tag  string `json:"tag"`
	Runs int    `json:"run_count"`
}

// FlagCount is how often evaluators set a flag.
type FlagCount struct {
	Flag string `json:"flag"`
	Set  int    `json:"set"`
	Of   int    `json:"of" doc:"How often it was answered."`
}

// Dimension is what scores and comparisons say under one dimension.
type Dimension struct {
	Name      string     `json:"dimension"`
	Scores    int        `json:"score_count"`
	Runs      int        `json:"scored_runs"`
	Mean      *float64   `json:"mean,omitempty" doc:"Mean over runs of their mean scores."`
	Low       *float64   `json:"ci_low,omitempty" doc:"95 % bootstrap interval (BCa over runs)."`
	High      *float64   `json:"ci_high,omitempty"`
	Agreement *Agreement `json:"agreement,omitempty" doc:"Absent if fewer than two evaluators scored a run, or all gave the same."`
	Effect    *Effect    `json:"effect,omitempty" doc:"Whether the independent variable matters. Absent if there are no two groups with scores that differ."`
	Ranking   *Ranking   `json:"ranking,omitempty" doc:"From comparisons."`
}

// Agreement is how far evaluators agree.
type Agreement struct {
	Alpha float64 `json:"alpha" doc:"Krippendorff's alpha, ordinal. 1: always; 0: as by chance."`
	Runs  int     `json:"runs" doc:"Scored by two evaluators or more."`
}

// Effect is a test of whether groups of runs differ.
type Effect struct {
	Variable    string      `json:"variable" doc:"What the runs are grouped by: the independent variable, else condition."`
	Groups      []GroupMean `json:"groups"`
	Test        string      `json:"test" enum:"kruskal_wallis"`
	H           float64     `json:"h" doc:"Corrected for ties."`
	DF          int         `json:"degrees_of_freedom"`
	P           float64     `json:"p_value"`
	Method      string      `json:"p_method" enum:"chi_squared,permutation" doc:"permutation where a group has fewer than 5 runs."`
	EffectSize  float64     `json:"effect_size" doc:"Epsilon squared, 0 to 1."`
	Assumptions string      `json:"assumptions"`
	Left        int         `json:"runs_left_out,omitempty" doc:"Runs whose value of the variable is not known."`
}

// GroupMean is the runs with one value of a variable.
type GroupMean struct {
	Value string  `json:"value"`
	Runs  int     `json:"run_count"`
	Mean  float64 `json:"mean"`
}

const effectAssumptions = "Runs are independent of each other; each counts once, by the mean of its evaluators. The test asks whether scores tend to be higher in some group, not which one; it is not corrected for testing several dimensions."

// summarize makes the summary of an experiment.
func summarize(d store.ExperimentData, limit int) summaryOutput {
	out := summaryOutput{Experiment: describe(d.Experiment), Runs: len(d.Runs), Conditions: []Condition{}, OutcomeTags: []TagCount{}, Flags: []FlagCount{}, Dimensions: []Dimension{},
		Comparisons: len(d.Comparisons), Evaluators: []string{}}
	t := newTable(d)
	for _, r := range d.Runs {
		if _, differences := r.Values(); len(differences) > 0 {
			out.Contradicted++
		}
		if t.scored[r.Hash] {
			out.Scored++
		}
	}
	out.Conditions, out.OutcomeTags, out.Flags, out.Evaluators = t.conditions(), tagCounts(d.Runs), flagCounts(d.Scores), t.evaluators
	var names []string
	names, out.LeftOut = t.mostUsed(maxDimensions)
	for _, name := range names {
		out.Dimensions = append(out.Dimensions, t.dimension(name, limit))
	}
	return out
}

// table has the scores of an experiment by dimension.
type table struct {
	store.ExperimentData
	place      map[string]int                // of a run among the runs
	ratings    map[string]map[string][]int   // dimension → run → scores
	means      map[string]map[string]float64 // dimension → run → mean score
	scored     map[string]bool
	dimensions []string // of scores and comparisons
	evaluators []string
}

func newTable(d store.ExperimentData) *table {
	t := &table{ExperimentData: d, place: map[string]int{}, ratings: map[string]map[string][]int{}, means: map[string]map[string]float64{}, scored: map[string]bool{}}
	names, people := map[string]bool{}, map[string]bool{}
	for i, r := range d.Runs {
		t.place[r.Hash] = i
	}
	for _, s := range d.Scores {
		people[s.Evaluator], t.scored[s.Run] = true, true
		for name, v := range s.Scores {
			if names[name] = true; t.ratings[name] == nil {
				t.ratings[name] = map[string][]int{}
			}
			t.ratings[name][s.Run] = append(t.ratings[name][s.Run], v)
		}
	}
	for name, runs := range t.ratings {
		t.means[name] = map[string]float64{}
		for run, list := range runs {
			t.means[name][run] = stats.Mean(floats(list))
		}
	}
	for _, c := range d.Comparisons {
		people[c.Evaluator] = true
		for name := range c.Winners {
			names[name] = true
		}
	}
	t.dimensions, t.evaluators = append([]string{}, sortedKeys(names)...), append([]string{}, sortedKeys(people)...)
	return t
}

// mostUsed splits the dimensions: those with the most scores and comparisons, and the
// others, at most 100. Both are in the order of their names.
func (t *table) mostUsed(most int) (used, others []string) {
	counts := map[string]int{}
	for _, s := range t.Scores {
		for name := range s.Scores {
			counts[name]++
		}
	}
	for _, c := range t.Comparisons {
		for name := range c.Winners {
			counts[name]++
		}
	}
	list := slices.Clone(t.dimensions)
	slices.SortStableFunc(list, func(a, b string) int { return counts[b] - counts[a] })
	used, others = list[:min(most, len(list))], list[min(most, len(list)):]
	slices.Sort(used)
	slices.Sort(others)
	return used, others[:min(len(others), 100)]
}

func floats(list []int) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

func (t *table) conditions() []Condition {
	list, at := []Condition{}, map[string]int{}
	sums := map[string]map[string][]float64{}
	for _, r := range t.Runs {
		id := r.Claim.ConditionID
		if _, ok := at[id]; !ok {
			at[id], sums[id] = len(list), map[string][]float64{}
			list = append(list, Condition{ID: id, Means: map[string]float64{}})
		}
		list[at[id]].Runs++
		for name, means := range t.means {
			if m, ok := means[r.Hash]; ok {
				sums[id][name] = append(sums[id][name], m)
			}
		}
	}
	for i := range list {
		for name, values := range sums[list[i].ID] {
			list[i].Means[name] = stats.Mean(values)
		}
	}
	return list
}

func tagCounts(runs []library.Run) []TagCount {
	counts := map[string]int{}
	for _, r := range runs {
		for _, tag := range r.Claim.OutcomeTags {
			counts[tag]++
		}
	}
	list := []TagCount{}
	for _, tag := range sortedKeys(counts) {
		list = append(list, TagCount{tag, counts[tag]})
	}
	slices.SortStableFunc(list, func(a, b TagCount) int { return b.Runs - a.Runs })
	return list
}

func flagCounts(scores []library.RunScore) []FlagCount {
	counts := map[string]FlagCount{}
	for _, s := range scores {
		for name, set := range s.Flags {
			c := counts[name]
			c.Flag, c.Of = name, c.Of+1
			if set {
				c.Set++
			}
			counts[name] = c
		}
	}
	list := []FlagCount{}
	for _, name := range sortedKeys(counts) {
		list = append(list, counts[name])
	}
	return list
}

// dimension summarizes one dimension.
func (t *table) dimension(name string, limit int) Dimension {
	out := Dimension{Name: name}
	var means []float64
	var units [][]int
	for _, r := range t.Runs {
		if list := t.ratings[name][r.Hash]; len(list) > 0 {
			out.Scores += len(list)
			means, units = append(means, t.means[name][r.Hash]), append(units, list)
		}
	}
	if out.Runs = len(means); out.Runs > 0 {
		interval, ok := stats.BootstrapMean(means)
		out.Mean = &interval.Estimate
		if ok {
			out.Low, out.High = &interval.Low, &interval.High
		}
	}
	if a, ok := stats.OrdinalAlpha(units); ok {
		out.Agreement = &Agreement{a.Alpha, a.Units}
	}
	out.Effect, out.Ranking = t.effect(name), t.ranking(name, limit)
	return out
}

// effect tests whether the independent variable matters for a dimension.
func (t *table) effect(name string) *Effect {
	e := &Effect{Variable: "condition", Test: "kruskal_wallis", Method: "chi_squared", Assumptions: effectAssumptions, Groups: []GroupMean{}}
	if v := strings.TrimSpace(t.IndependentVariable); v != "" && t.known(library.ParamName(v)) {
		e.Variable = library.ParamName(v)
	}
	values := map[string][]float64{}
	for _, r := range t.Runs {
		mean, ok := t.means[name][r.Hash]
		if !ok {
			continue
		}
		v := valueOf(r, e.Variable)
		if v == "" {
			e.Left++
			continue
		}
		values[v] = append(values[v], mean)
	}
	var groups [][]float64
	for _, v := range sortedValues(sortedKeys(values)) {
		groups = append(groups, values[v])
		e.Groups = append(e.Groups, GroupMean{shorten(v), len(values[v]), stats.Mean(values[v])})
	}
	k, ok := stats.KruskalWallis(groups)
	if !ok {
		return nil
	}
	e.H, e.DF, e.P, e.EffectSize = k.H, k.DF, k.P(), k.EffectSize
	if k.Permuted() {
		e.Method = "permutation"
	}
	return e
}

// known reports whether any run has a value of a variable.
func (t *table) known(variable string) bool {
	return slices.ContainsFunc(t.Runs, func(r library.Run) bool { return valueOf(r, variable) != "" })
}

// valueOf returns the value of a variable of a run as text; empty where it is not known.
func valueOf(r library.Run, variable string) string {
	values, _ := r.Values()
	return library.RunText(values[variable].Value)
}
