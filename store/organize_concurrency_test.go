package store_test

import (
	"fmt"
	"sync"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// TestExperiments_FiftyEvaluatorsAtOnceLoseAndDoubleNothing has 50 evaluators score the same
// two runs, compare them and write notes on them, all at once and each of them twice.
func TestExperiments_FiftyEvaluatorsAtOnceLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	const evaluators = 50
	s := open(t)
	ctx := t.Context()
	e := must[store.ExperimentChange](t)(s.Experiments.Create(ctx, s.a, library.Experiment{Collection: library.Collection{Name: "crowd"}}, ""))
	var runs []string
	var assets []library.AssetHash
	for i := range 2 {
		asset := add(t, s, s.a, file(fmt.Sprint("crowd", i))).Asset.Hash
		r := must[store.RunChange](t)(s.Experiments.Register(ctx, s.a, string(e.Hash), asset, library.RunClaim{}, nil))
		runs, assets = append(runs, r.Hash), append(assets, asset)
	}
	content := func(library.Experiment, library.RunScore) (string, error) { return `{"scored":true}`, nil }
	var wg sync.WaitGroup
	a, b := min(runs[0], runs[1]), max(runs[0], runs[1])
	for n := range evaluators {
		who := fmt.Sprint("evaluator", n)
		wg.Go(func() {
			for range 2 { // a client that repeats its calls
				for _, run := range runs {
					insist(t, func() error {
						_, err := s.Experiments.Score(ctx, s.a, library.RunScore{Run: run, Evaluator: who, EvaluatorType: "human", Scores: map[string]int{"light": 1 + n%5}}, content)
						return err
					})
				}
				insist(t, func() error {
					_, err := s.Experiments.Compare(ctx, s.a, string(e.Hash), library.RunComparison{A: a, B: b, Evaluator: who, EvaluatorType: "human", Winners: map[string]string{"light": runs[n%2]}})
					return err
				})
			}
			insist(t, func() error {
				_, _, err := s.Annotations.Create(ctx, s.a, string(assets[n%2]), library.Annotation{Content: who, ContentType: library.ContentText, Visibility: library.VisibilityTeam})
				return err
			})
		})
	}
	wg.Wait()
	d := must[store.ExperimentData](t)(s.Experiments.Read(ctx, s.a, string(e.Hash)))
	if len(d.Scores) != 2*evaluators || len(d.Comparisons) != evaluators {
		t.Errorf("%d scores and %d comparisons, want %d and %d", len(d.Scores), len(d.Comparisons), 2*evaluators, evaluators)
	}
	for _, score := range d.Scores {
		var n int
		if _, err := fmt.Sscanf(score.Evaluator, "evaluator%d", &n); err != nil || score.Scores["light"] != 1+n%5 {
			t.Errorf("%s scored %v", score.Evaluator, score.Scores)
		}
	}
	notes := noteCounts(t, s, assets)
	if notes[`evaluation {"scored":true}`] != 2*evaluators {
		t.Errorf("%d evaluations, want %d", notes[`evaluation {"scored":true}`], 2*evaluators)
	}
	for n := range evaluators {
		if got := notes[fmt.Sprintf("note evaluator%d", n)]; got != 1 {
			t.Errorf("note %d is there %d times", n, got)
		}
	}
}

// noteCounts counts the annotations of assets by their kind and content.
func noteCounts(t *testing.T, s bench, assets []library.AssetHash) map[string]int {
	t.Helper()
	notes := map[string]int{}
	for _, asset := range assets {
		list, err := s.Annotations.OfAsset(t.Context(), s.a, asset, store.MaxAnnotations)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range list {
			notes[string(n.Kind)+" "+n.Content]++
		}
	}
	return notes
}

// insist repeats what the store had no connection for, which did nothing, as clients do.
func insist(t *testing.T, call func() error) {
	for range 20 {
		err := call()
		if err == nil {
			return
		}
		if library.AsError(err).Kind != library.KindUnavailable {
			t.Error(err)
			return
		}
	}
	t.Error("the database was busy 20 times")
}
