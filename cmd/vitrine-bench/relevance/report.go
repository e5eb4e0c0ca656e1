package relevance

import (
	"math"
	"slices"
)

// Report is what a run found. All scores are means of a class on one half.
type Report struct {
	Count   int    `json:"count"`
	Queries int    `json:"queries"`
	Seed    uint64 `json:"seed"`
	Model   string `json:"model"`
	Public  []int  `json:"public"` // documents of each public collection

	Lacks      []string `json:"lacks"` // what was not measured, and why
	Retrievers []string `json:"retrievers"`
	Rows       []Row    `json:"rows"`
	Bars       []Bar    `json:"bars"`

	Repairs map[string]Repair `json:"repairs"` // by class, both halves: nothing was chosen by them

	scores map[key][]Score
}

// Repair counts queries for which the answer suggested a spelling: of those with a
// slip the one that was meant, of the others any.
type Repair struct {
	Queries  int `json:"queries"`
	Repaired int `json:"repaired"`
}

func (r *Report) repaired(q *Query, yes bool) {
	n := r.Repairs[q.Class]
	n.Queries++
	if yes {
		n.Repaired++
	}
	r.Repairs[q.Class] = n
}

// Row is one class on one half.
type Row struct {
	Half    string           `json:"half"`
	Class   string           `json:"class"`
	Queries int              `json:"queries"`
	Scores  map[string]Score `json:"scores"` // by retriever

	// Of smart against the best other retriever, by the measure of the class.
	Rival     string  `json:"rival,omitempty"`
	Lead      float64 `json:"lead"`
	LeadLow   float64 `json:"lead_low"` // with 95 % confidence
	LeadHigh  float64 `json:"lead_high"`
	OverBM25  float64 `json:"over_bm25"`
	BM25Low   float64 `json:"bm25_low"`
	BM25High  float64 `json:"bm25_high"`
	rivalMean float64
}

// Bar is something that the product must reach on the held-out half.
type Bar struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"`
	AtLeast float64 `json:"at_least"`
	Met     bool    `json:"met"`
}

type key struct{ retriever, half, class string }

func newReport(cfg Config, set *Set) Report {
	r := Report{Count: cfg.Count, Queries: len(set.Queries), Seed: cfg.Seed, Lacks: []string{}, Public: []int{}, Repairs: map[string]Repair{}, scores: map[key][]Score{}}
	if cfg.Embedder != nil {
		r.Model = cfg.Embedder.Info().Model
	}
	return r
}

func (r *Report) lack(what string) {
	if !slices.Contains(r.Lacks, what) {
		r.Lacks = append(r.Lacks, what)
	}
}

// add scores a retriever's rankings.
func (r *Report) add(retriever string, set *Set, ranked [][]int) {
	if !slices.Contains(r.Retrievers, retriever) {
		r.Retrievers = append(r.Retrievers, retriever)
	}
	for i, q := range set.Queries {
		k := key{retriever, q.Half, q.Class}
		r.scores[k] = append(r.scores[k], judge(ranked[i], set.grades[i]))
	}
}

// Measure is the number that a class is judged by: nDCG where assets have grades,
// else how high the one asset stands.
func Measure(class string) (name string, of func(Score) float64) {
	switch {
	case slices.Contains(Exact, class):
		return "first", func(s Score) float64 { return s.First }
	case slices.Contains(Known, class):
		return "MRR@10", func(s Score) float64 { return s.MRR }
	}
	return "nDCG@10", func(s Score) float64 { return s.NDCG }
}

// rivals are the retrievers that smart is measured against: each is one way to search.
var rivals = []string{RetrieverWords, RetrieverBM25, RetrieverEnglish, RetrieverKNN, RetrieverRRF, RetrieverPostgres, RetrieverSQLite}

// conclude makes the rows and the bars.
func (r *Report) conclude() {
	for _, half := range []string{Open, HeldOut} {
		for _, class := range slices.Concat(Judged, Slips, Known, Exact, Public) {
			if row, ok := r.row(half, class); ok {
				r.Rows = append(r.Rows, row)
			}
		}
	}
	r.Bars = r.bars()
}

func (r *Report) row(half, class string) (Row, bool) {
	row := Row{Half: half, Class: class, Scores: map[string]Score{}}
	_, of := Measure(class)
	for _, retriever := range r.Retrievers {
		list := r.scores[key{retriever, half, class}]
		row.Queries = len(list)
		row.Scores[retriever] = Score{NDCG: mean(list, func(s Score) float64 { return s.NDCG }), MRR: mean(list, func(s Score) float64 { return s.MRR }),
			Recall: mean(list, func(s Score) float64 { return s.Recall }), First: mean(list, func(s Score) float64 { return s.First })}
	}
	smart := r.scores[key{RetrieverSmart, half, class}]
	if row.Queries == 0 || len(smart) == 0 {
		return row, row.Queries > 0
	}
	row.rivalMean = -1
	for _, retriever := range rivals {
		if m := of(row.Scores[retriever]); slices.Contains(r.Retrievers, retriever) && m > row.rivalMean {
			row.Rival, row.rivalMean = retriever, m
		}
	}
	row.Lead, row.LeadLow, row.LeadHigh = lead(smart, r.scores[key{row.Rival, half, class}], of)
	row.OverBM25, row.BM25Low, row.BM25High = lead(smart, r.scores[key{RetrieverBM25, half, class}], of)
	return row, true
}

// lead is by how much one retriever is better than another, with its bounds.
func lead(ours, theirs []Score, of func(Score) float64) (by, low, high float64) {
	differences := make([]float64, len(ours))
	for i := range ours {
		differences[i] = of(ours[i]) - of(theirs[i])
		by += differences[i] / float64(len(ours))
	}
	low, high = interval(differences)
	return by, low, high
}

// Mean averages a measure over the judged classes of a half, each counting alike.
func (r *Report) Mean(half, retriever string, of func(Score) float64) float64 {
	sum, n := 0.0, 0.0
	for _, row := range r.Rows {
		if row.Half == half && slices.Contains(Judged, row.Class) {
			sum, n = sum+of(row.Scores[retriever]), n+1
		}
	}
	return sum / max(n, 1)
}

// What smart must reach on the held-out half.
const (
	tolerance  = 0.99 // of the best other retriever, in every class
	overBM25   = 1.10 // of BM25, in the mean of all judged classes
	repairedBy = 0.85 // of the queries with a slip
)

func (r *Report) bars() (list []Bar) {
	bar := func(name string, value, atLeast float64) {
		list = append(list, Bar{name, value, atLeast, value >= atLeast-1e-9})
	}
	for _, row := range r.Rows {
		if _, of := Measure(row.Class); row.Half != HeldOut || row.Rival == "" || slices.Contains(Slips, row.Class) {
			continue
		} else if slices.Contains(Exact, row.Class) {
			bar(row.Class+": the asset comes first", row.Scores[RetrieverSmart].First, 1)
		} else {
			bar(row.Class+": smart against the best other", ratio(of(row.Scores[RetrieverSmart]), row.rivalMean), tolerance)
			if slices.Contains(Public, row.Class) {
				bar(row.Class+": smart against RRF", ratio(of(row.Scores[RetrieverSmart]), of(row.Scores[RetrieverRRF])), tolerance)
			}
		}
	}
	if slices.Contains(r.Retrievers, RetrieverSmart) {
		_, of := Measure(ClassTags)
		bar("mean of the judged classes: smart against BM25", ratio(r.Mean(HeldOut, RetrieverSmart, of), r.Mean(HeldOut, RetrieverBM25, of)), overBM25)
	}
	for _, class := range []string{ClassSlip, ClassTypo} {
		n := r.Repairs[class]
		bar(class+": repaired", float64(n.Repaired)/float64(max(n.Queries, 1)), repairedBy)
	}
	return list
}

// ratio is 1 where there is nothing to reach.
func ratio(ours, theirs float64) float64 {
	if theirs <= 0 {
		return 1
	}
	return math.Round(1e4*ours/theirs) / 1e4
}

// Met reports whether every bar is met.
func (r *Report) Met() bool {
	return !slices.ContainsFunc(r.Bars, func(b Bar) bool { return !b.Met })
}
