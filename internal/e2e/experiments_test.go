package e2e

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
)

// settled is a picture whose file tells a cfg and a seed.
func settled(t *testing.T, n int, cfg float64) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 48, 32))
	for i := range 32 {
		img.Set(i, i, color.RGBA{uint8(n), 200, uint8(i), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return withText(b.Bytes(), "parameters", fmt.Sprintf("a portrait\nSteps: 20, Sampler: Euler a, CFG scale: %g, Seed: %d, Size: 48x32, Model: canaryModel, Version: v1.10.1", cfg, 1000+n))
}

// TestExperiments_EndInARanking runs an experiment from its creation to its summary: nine runs
// with three values of cfg, two evaluators, comparisons with ties, and one more run that
// nobody compared.
func TestExperiments_EndInARanking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	made, err := api.CreateExperiment(ctx, client.CreateExperimentInput{DisplayName: "CFG for portraits", IndependentVariable: "CFG", Hypothesis: "7 is best."})
	noError(t, err)
	if made.Path != "cfgforportraits" {
		t.Errorf("its path is %s", made.Path)
	}
	if _, err := api.CreateExperiment(ctx, client.CreateExperimentInput{DisplayName: "CFG for portraits"}); problemCode(err) != "NAME_TAKEN" {
		t.Errorf("a second one: %v", err)
	}
	runs := w.registerRuns(t, made)
	w.judgeRuns(made.CollectionH, runs[:9])
	upset, err := api.CompareRuns(ctx, client.CompareRunsInput{CollectionH: made.CollectionH, ItemA: runs[0].CollectionItemH, ItemB: runs[1].CollectionItemH, Winners: map[string]string{"likeness": "item_a"}, Evaluator: "bob"})
	if err != nil || upset.ComparisonCount != 37 {
		t.Errorf("%+v %v", upset, err)
	}
	s, err := api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: made.CollectionH})
	noError(t, err)
	if s.RunCount != 10 || s.ScoredRuns != 9 || s.ContradictedRuns != 1 || s.ComparisonCount != 37 || len(s.Conditions) != 3 || s.Conditions[0].RunCount != 4 || s.OutcomeTags[0].RunCount != 9 ||
		strings.Join(s.Evaluators, " ") != "ann bob" || len(s.Flags) != 1 || s.Flags[0].Set != 2 || s.Flags[0].Of != 18 {
		t.Errorf("%+v", s)
	}
	if len(s.Dimensions) != 1 || s.Dimensions[0].Dimension != "likeness" {
		t.Fatalf("%+v", s.Dimensions)
	}
	checkRanking(t, s.Dimensions[0], runs)
	w.checkGrid(made.CollectionH)
	w.checkMembersAreRuns(made.Path, runs)
	w.checkRunSearches(made, runs)
	removed, err := api.RemoveFromCollection(ctx, client.RemoveFromCollectionInput{CollectionPath: made.Path, AssetHs: []string{runs[0].AssetH}})
	noError(t, err)
	if s, err = api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: made.Path}); err != nil || s.RunCount != 9 || s.ComparisonCount != 28 {
		t.Errorf("without a run: %d runs, %d comparisons: %v", s.RunCount, s.ComparisonCount, err)
	}
	_, err = api.UndoOperation(ctx, client.UndoOperationInput{OperationID: removed.OperationID})
	noError(t, err)
	_, err = api.UndoOperation(ctx, client.UndoOperationInput{OperationID: upset.OperationID})
	noError(t, err)
	if s, err = api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: made.Path}); err != nil || s.RunCount != 10 || s.ComparisonCount != 36 {
		t.Errorf("after undoing: %d runs, %d comparisons: %v", s.RunCount, s.ComparisonCount, err)
	}
}

// registerRuns registers ten runs with three values of cfg. The first one claims what its file
// contradicts, and the last one is registered twice.
func (w world) registerRuns(t *testing.T, made client.CreateExperimentOutput) (runs []client.RegisterRunOutput) {
	t.Helper()
	api, ctx := w.Client(""), t.Context()
	for i := range 10 {
		cfg := []float64{3, 7, 12}[i%3]
		asset := w.StoreFile("", fmt.Sprintf("run-%d.png", i), "image/png", settled(t, 20+i, cfg)).Asset.AssetH
		in := client.RegisterRunInput{CollectionH: made.CollectionH, AssetH: asset, ConditionID: fmt.Sprint("cfg ", cfg), RunParams: map[string]any{"cfg": cfg}, OutcomeTags: []string{"finished"}}
		if i == 0 { // a claim that the file contradicts
			in.RunParams, in.OutcomeTags = map[string]any{"cfg": 4, "steps": "20", "lora weight": 0.5}, []string{"finished", "best hands"}
		}
		run, err := api.RegisterRun(ctx, in)
		noError(t, err)
		runs = append(runs, run)
	}
	if d := runs[0].Differences; len(d) != 1 || d[0].Field != "cfg_scale" || fmt.Sprintf("%v %v", d[0].Claimed, d[0].Extracted) != "4 3" {
		t.Errorf("differences: %+v", d)
	}
	if len(runs[1].Differences) != 0 {
		t.Errorf("differences of a claim that is right: %+v", runs[1].Differences)
	}
	again, err := api.RegisterRun(ctx, client.RegisterRunInput{CollectionH: made.Path, AssetH: runs[9].AssetH, ConditionID: "cfg 3"})
	if err != nil || again.Created || again.CollectionItemH != runs[9].CollectionItemH {
		t.Errorf("registered again: %+v %v", again, err)
	}
	return runs
}

// judgeRuns has two evaluators score each run, of whom bob sees one a little worse, and ann
// compare each with every other.
func (w world) judgeRuns(experiment string, runs []client.RegisterRunOutput) {
	t, api, ctx := w.T, w.Client(""), w.T.Context()
	t.Helper()
	quality := []int{2, 5, 3} // by cfg
	for i, r := range runs {
		for _, who := range []string{"ann", "bob"} {
			v := quality[i%3]
			if who == "bob" && i == 4 {
				v--
			}
			_, err := api.ScoreRun(ctx, client.ScoreRunInput{CollectionItemH: r.CollectionItemH, Scores: map[string]int{"Likeness": v}, Flags: map[string]bool{"extra fingers": i == 0}, Evaluator: who})
			noError(t, err)
		}
		for j := range i {
			winner := "tie"
			if quality[i%3] != quality[j%3] {
				winner = []string{"item_a", "item_b"}[btoi(quality[j%3] > quality[i%3])]
			}
			_, err := api.CompareRuns(ctx, client.CompareRunsInput{CollectionH: experiment, ItemA: r.CollectionItemH, ItemB: runs[j].CollectionItemH, Winners: map[string]string{"likeness": winner}, Evaluator: "ann"})
			noError(t, err)
		}
	}
}

// checkRanking checks the figures of a dimension that both evaluators scored and ann compared,
// in the nine runs that are not the last.
func checkRanking(t *testing.T, d client.ExperimentDimension, runs []client.RegisterRunOutput) {
	t.Helper()
	if d.ScoreCount != 18 || *d.CiLow >= *d.Mean || *d.CiHigh <= *d.Mean || d.Agreement == nil || d.Agreement.Alpha < 0.9 || d.Agreement.Alpha >= 1 {
		t.Errorf("%+v %+v", d, d.Agreement)
	}
	if e := d.Effect; e == nil || e.Variable != "cfg_scale" || len(e.Groups) != 3 || e.Groups[0].Value != "3" || e.Groups[2].Value != "12" || e.PMethod != "permutation" || e.PValue > 0.02 {
		t.Errorf("the effect: %+v", d.Effect)
	}
	r := d.Ranking
	if r == nil || r.Connected || len(r.Groups) != 1 || r.Groups[0].Size != 9 || len(r.CompareNext) == 0 || r.CompareNext[0].Reason != "joins_groups" || r.CompareNext[0].ItemB != runs[9].CollectionItemH {
		t.Fatalf("the ranking: %+v", r)
	}
	for i, item := range r.Groups[0].Items {
		if want := []string{"cfg 7", "cfg 12", "cfg 3"}[i/3]; item.ConditionID != want {
			t.Errorf("place %d is of %s, want %s", i, item.ConditionID, want)
		}
	}
}

// checkRunSearches finds runs by their experiment, also once it was moved.
func (w world) checkRunSearches(made client.CreateExperimentOutput, runs []client.RegisterRunOutput) {
	w.T.Helper()
	var all []string
	for _, r := range runs {
		all = append(all, r.AssetH)
	}
	w.findsImages("experiment:"+made.Path, all...)
	w.findsImages("has:experiment cfg:3 -experiment:nothing", all[0], all[3], all[6], all[9])
	api, ctx := w.Client(""), w.T.Context()
	below, err := api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Part", ParentPath: made.Path})
	if err == nil {
		_, err = api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: below.Path, AssetHs: []string{w.asset.Asset.AssetH}})
	}
	if err == nil {
		_, err = api.CreateCollection(ctx, client.CreateCollectionInput{Name: "Archive"})
	}
	if err == nil {
		_, err = api.MoveCollection(ctx, client.MoveCollectionInput{SourcePath: made.CollectionH, NewParentPath: "archive"})
	}
	if err != nil {
		w.T.Fatal(err)
	}
	w.findsImages("experiment:Archive/"+made.Path, all...)
	w.findsImages("experiment:"+made.CollectionH, all...)
	w.findsImages("experiment:" + made.Path)
	w.findsImages("experiment:archive/" + below.Path)
	if _, err := api.MoveCollection(ctx, client.MoveCollectionInput{SourcePath: made.CollectionH}); err != nil {
		w.T.Fatal(err)
	}
}

// checkMembersAreRuns puts an asset into an experiment like into any collection.
func (w world) checkMembersAreRuns(path string, runs []client.RegisterRunOutput) {
	w.T.Helper()
	api, ctx := w.Client(""), w.T.Context()
	count := func(want int64) {
		w.T.Helper()
		if s, err := api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: path}); err != nil || int64(s.RunCount) != want {
			w.T.Errorf("%d runs, want %d: %v", s.RunCount, want, err)
		}
	}
	added, err := api.AddToCollection(ctx, client.AddToCollectionInput{CollectionPath: path, AssetHs: []string{w.asset.Asset.AssetH, runs[0].AssetH}})
	if err != nil {
		w.T.Fatal(err)
	}
	count(int64(len(runs)) + 1)
	w.findsImages("experiment:"+path+" "+w.asset.Asset.AssetH, w.asset.Asset.AssetH)
	if _, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: added.OperationID}); err != nil {
		w.T.Fatal(err)
	}
	count(int64(len(runs)))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkGrid reads the runs as a table over cfg and seed, and as CSV.
func (w world) checkGrid(experiment string) {
	w.T.Helper()
	grid, err := w.Client("").GetExperimentGrid(w.T.Context(), client.GetExperimentGridInput{CollectionH: experiment, X: "cfg", Y: "steps", Format: "csv"})
	if err != nil {
		w.T.Fatal(err)
	}
	if strings.Join(grid.Columns, " ") != "3 7 12" || len(grid.Rows) != 1 || grid.Rows[0].Value != "20" || len(grid.Rows[0].Cells[0]) != 4 || grid.Rows[0].Cells[0][0].ThumbnailURL == "" {
		w.T.Errorf("the grid is %+v", grid)
	}
	lines, err := csv.NewReader(strings.NewReader(grid.Csv)).ReadAll()
	if err != nil || len(lines) != 11 || lines[0][0] != "x: cfg_scale" || lines[0][7] != "likeness" || lines[5][0] != "7" || lines[5][7] != "5" {
		w.T.Errorf("%v\n%s", err, grid.Csv)
	}
}

// TestExperiments_ScoresAnnotateTheSampler scores a run with a graph and one without, and
// changes and undoes the scores.
func TestExperiments_ScoresAnnotateTheSampler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	api, ctx := w.Client(""), t.Context()
	graph := w.StoreFile("", "graph.png", "image/png", repainted(431, 431, "nothing.png")).Asset.AssetH
	made, err := api.CreateExperiment(ctx, client.CreateExperimentInput{DisplayName: "Samplers"})
	if err != nil {
		t.Fatal(err)
	}
	run := func(asset string) string {
		r, err := api.RegisterRun(ctx, client.RegisterRunInput{CollectionH: made.CollectionH, AssetH: asset})
		if err != nil {
			t.Fatal(err)
		}
		return r.CollectionItemH
	}
	score := func(run string, scores map[string]int, comments string) client.ScoreRunOutput {
		out, err := api.ScoreRun(ctx, client.ScoreRunInput{CollectionItemH: run, Scores: scores, Comments: comments})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := score(run(graph), map[string]int{"light": 2}, "gloomy as a cellar")
	if first.WorkflowNodeID != library.WorkflowNodeID(library.AssetHash(graph), "3") {
		t.Errorf("the annotation is on %s", first.WorkflowNodeID)
	}
	if found := w.Search("", `annotation:"gloomy as a cellar"`, first.IndexToken); !found.Has(graph) {
		t.Error("the comments are not found")
	}
	second := score(first.CollectionItemH, map[string]int{"anatomy": 5}, "")
	if second.AnnotationID != first.AnnotationID || second.Scores["light"] != 2 || second.Scores["anatomy"] != 5 {
		t.Errorf("scored again: %+v", second)
	}
	if n, err := api.GetAnnotation(ctx, client.GetAnnotationInput{AnnotationID: first.AnnotationID}); err != nil || n.Version != 2 || n.Kind != "evaluation" || !strings.Contains(n.Content, `"anatomy":5`) {
		t.Errorf("the annotation is %+v %v", n, err)
	}
	if _, err := api.UndoOperation(ctx, client.UndoOperationInput{OperationID: second.OperationID}); err != nil {
		t.Fatal(err)
	}
	if n, err := api.GetAnnotation(ctx, client.GetAnnotationInput{AnnotationID: first.AnnotationID}); err != nil || n.Version != 3 || strings.Contains(n.Content, "anatomy") {
		t.Errorf("undone, the annotation is %+v %v", n, err)
	}
	if s, err := api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: "samplers"}); err != nil || len(s.Dimensions) != 1 || *s.Dimensions[0].Mean != 2 || s.Dimensions[0].CiLow != nil {
		t.Errorf("undone: %+v %v", s.Dimensions, err)
	}
	plain := score(run(w.asset.Asset.AssetH), map[string]int{"light": 4}, "")
	if plain.WorkflowNodeID != plain.CollectionItemH {
		t.Errorf("without a graph the annotation is on %s", plain.WorkflowNodeID)
	}
	if list, err := api.GetAnnotations(ctx, client.GetAnnotationsInput{WorkflowNodeID: plain.CollectionItemH}); err != nil || list.Total != 1 || list.Data[0].AnnotationID != plain.AnnotationID {
		t.Errorf("the run's annotations: %+v %v", list, err)
	}
}

// TestExperiments_AnswerMistakesWithTheField sends what no experiment takes.
func TestExperiments_AnswerMistakesWithTheField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	experiment, run, other := w.experiment("", "Mistakes", w.asset.Asset.AssetH, w.StoreFile("", "second.png", "image/png", settled(t, 90, 7)).Asset.AssetH)
	long := make(map[string]any)
	for i := range 21 {
		long[fmt.Sprint("dimension ", i)] = 3
	}
	for what, c := range map[string]struct {
		operation   string
		args        map[string]any
		code, field string
	}{
		"a score of 6":            {"ScoreRun", map[string]any{"collection_item_h": run, "scores": map[string]any{"light": 6}}, "VALIDATION_FAILED", "scores.light"},
		"a score of 0":            {"ScoreRun", map[string]any{"collection_item_h": run, "scores": map[string]any{"light": 0}}, "VALIDATION_FAILED", "scores.light"},
		"half a score":            {"ScoreRun", map[string]any{"collection_item_h": run, "scores": map[string]any{"light": 2.5}}, "VALIDATION_FAILED", "scores.light"},
		"no scores":               {"ScoreRun", map[string]any{"collection_item_h": run, "scores": map[string]any{}}, "VALIDATION_FAILED", "scores"},
		"too many scores":         {"ScoreRun", map[string]any{"collection_item_h": run, "scores": long}, "VALIDATION_FAILED", "scores"},
		"a kind of evaluator":     {"ScoreRun", map[string]any{"collection_item_h": run, "scores": map[string]any{"light": 3}, "evaluator_type": "cat"}, "VALIDATION_FAILED", "evaluator_type"},
		"a run with itself":       {"CompareRuns", map[string]any{"collection_h": experiment, "item_a": run, "item_b": run, "winners": map[string]any{"light": "tie"}}, "VALIDATION_FAILED", "item_b"},
		"a winner of neither":     {"CompareRuns", map[string]any{"collection_h": experiment, "item_a": run, "item_b": other, "winners": map[string]any{"light": nowhere["run"]}}, "VALIDATION_FAILED", "winners.light"},
		"a plain collection":      {"RegisterRun", map[string]any{"collection_h": w.collection, "asset_h": w.asset.Asset.AssetH}, "NOT_FOUND", ""},
		"a run of no experiment":  {"CompareRuns", map[string]any{"collection_h": experiment, "item_a": run, "item_b": nowhere["run"], "winners": map[string]any{"light": "tie"}}, "NOT_FOUND", ""},
		"an asset of no library":  {"RegisterRun", map[string]any{"collection_h": experiment, "asset_h": nowhere["asset"]}, "NOT_FOUND", ""},
		"a seed beyond all seeds": {"RegisterRun", map[string]any{"collection_h": experiment, "asset_h": w.asset.Asset.AssetH, "seed": -1}, "VALIDATION_FAILED", "seed"},
	} {
		for _, o := range w.Catalog.Operations {
			if o.Name != c.operation {
				continue
			}
			_, answer := w.rest(o, w.Key, c.args)
			fields, _ := answer["errors"].([]any)
			field := ""
			if len(fields) > 0 {
				field, _ = fields[0].(map[string]any)["field"].(string)
			}
			if answer["code"] != c.code || field != c.field {
				t.Errorf("%s: %v %q, want %s %q", what, answer["code"], field, c.code, c.field)
			}
		}
	}
}
