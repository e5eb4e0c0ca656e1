package main

import (
	"fmt"
	"testing"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/sample"
	"vitrine/service/servicetest"
)

// TestDemo_ShowsAFinishedExperiment makes the experiment of the demo twice, in a library with
// the first files of the sample.
func TestDemo_ShowsAFinishedExperiment(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	dir, api, ctx := t.TempDir(), e.Client(""), t.Context()
	if _, err := sample.Write(ctx, dir, sample.Options{Count: 60, Seed: 1, MaxEdge: 64}, nil); err != nil {
		t.Fatal(err)
	}
	report, err := importer.Run(ctx, api, []string{dir}, importer.Options{Tags: []string{"sample"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := untilSearchable(ctx, api, report); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := demoExperiments(ctx, api); err != nil {
			t.Fatal(err)
		}
	}
	s, err := api.GetExperimentSummary(ctx, client.GetExperimentSummaryInput{CollectionH: demoExperiment})
	if err != nil || len(s.Dimensions) != 2 || len(s.Evaluators) != 3 || s.ScoredRuns != s.RunCount || s.RunCount < 10 {
		t.Fatalf("%+v %v", s, err)
	}
	for _, d := range s.Dimensions {
		if d.Agreement == nil || d.Agreement.Alpha < 0.5 || d.Effect == nil || d.Effect.Variable != "sampler" || d.Ranking == nil || !d.Ranking.Connected || d.CiLow == nil {
			t.Errorf("%s: %+v %+v %+v", d.Dimension, d.Agreement, d.Effect, d.Ranking)
		}
	}
	servicetest.Eventually(t, "the notes are found", func() error {
		found, err := api.SearchAssets(ctx, client.SearchAssetsInput{Query: `annotation:"since the light was moved"`})
		if err == nil && found.Total != 1 {
			err = fmt.Errorf("%d assets", found.Total)
		}
		return err
	})
	grid, err := api.GetExperimentGrid(ctx, client.GetExperimentGridInput{CollectionH: demoExperiment, X: "sampler", Y: "cfg"})
	if err != nil || len(grid.Columns) < 2 || len(grid.Rows) < 3 {
		t.Errorf("%d columns, %d rows, %v", len(grid.Columns), len(grid.Rows), err)
	}
}
