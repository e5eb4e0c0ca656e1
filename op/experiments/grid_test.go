package experiments

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

func runWith(i int, params map[string]any) library.Run {
	return library.Run{Hash: fmt.Sprintf("%040d", i), Asset: library.AssetHash(fmt.Sprintf("%040x", i)), Claim: library.RunClaim{Params: params, VariantLabel: "=HYPERLINK(1)"}}
}

// TestGrid_SortsValuesAndKeepsWhatIsNotKnown makes a table of few runs.
func TestGrid_SortsValuesAndKeepsWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	d := store.ExperimentData{Runs: []library.Run{runWith(1, map[string]any{"CFG Scale": 10.0, "style": "b"}), runWith(2, map[string]any{"cfg": 9.0, "style": "A"}),
		runWith(3, map[string]any{"cfg": 9.5}), runWith(4, nil), runWith(5, map[string]any{"cfg": 9.0, "style": "A"})},
		Scores: []library.RunScore{{Run: fmt.Sprintf("%040d", 2), Evaluator: "a", Scores: map[string]int{"light": 3}}, {Run: fmt.Sprintf("%040d", 2), Evaluator: "b", Scores: map[string]int{"light": 4}}}}
	g, err := makeGrid(d, "cfg", "Style", func(library.Run) string { return "url" })
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, r := range g.Rows {
		rows = append(rows, r.Value)
	}
	if strings.Join(g.Columns, "|") != "9|9.5|10|" || strings.Join(rows, "|") != "A|b|" {
		t.Errorf("columns %q, rows %q", g.Columns, rows)
	}
	if cell := g.Rows[0].Cells[0]; len(cell) != 2 || cell[0].Means["light"] != 3.5 || len(cell[1].Means) != 0 {
		t.Errorf("the cell of cfg 9 and style A: %+v", cell)
	}
	if cell := g.Rows[2].Cells[3]; len(cell) != 1 || cell[0].Run != d.Runs[3].Hash {
		t.Errorf("the cell of what is not known: %+v", cell)
	}
	text, err := g.csv([]string{"light"})
	if err != nil || !strings.Contains(text, ",'=HYPERLINK(1),") || strings.Count(text, "\n") != 6 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestGrid_OfTooManyCellsIsRefused has 2,000 runs that all differ.
func TestGrid_OfTooManyCellsIsRefused(t *testing.T) {
	t.Parallel()
	var d store.ExperimentData
	for i := range 2000 {
		d.Runs = append(d.Runs, runWith(i, map[string]any{"a": float64(i), "b": float64(i)}))
	}
	if _, err := makeGrid(d, "a", "b", func(library.Run) string { return "" }); err == nil || library.AsError(err).Kind != library.KindInvalid {
		t.Errorf("four million cells: %v", err)
	}
	if g, err := makeGrid(d, "a", "", func(library.Run) string { return "" }); err != nil || len(g.Rows) != 1 || len(g.Columns) != 2000 {
		t.Errorf("one row: %v", err)
	}
}

// TestSummary_OfManyDimensionsShowsTheMostUsed has more dimensions than a summary shows.
func TestSummary_OfManyDimensionsShowsTheMostUsed(t *testing.T) {
	t.Parallel()
	d := store.ExperimentData{Runs: []library.Run{runWith(1, nil), runWith(2, nil)}}
	for i := range 30 {
		name := fmt.Sprintf("dimension %02d", i)
		d.Scores = append(d.Scores, library.RunScore{Run: d.Runs[0].Hash, Evaluator: name, Scores: map[string]int{name: 3, "light": 4}})
	}
	s := summarize(d, 20)
	if len(s.Dimensions) != maxDimensions || len(s.LeftOut) != 11 || s.Dimensions[maxDimensions-1].Name != "light" || s.Dimensions[maxDimensions-1].Scores != 30 {
		t.Errorf("%d dimensions, %d left out", len(s.Dimensions), len(s.LeftOut))
	}
}
