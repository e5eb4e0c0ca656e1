package experiments

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/spreadsheet"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type gridInput struct {
	op.TenantInput
	InExperiment
	X      string `json:"x" minLength:"1" maxLength:"100" doc:"What differs from column to column: a setting such as cfg, or seed, model, prompt, condition, variant, a key of run_params."`
	Y      string `json:"y,omitempty" maxLength:"100" doc:"What differs from row to row. Default: one row."`
	Format string `json:"format,omitempty" enum:"json,csv" default:"json" doc:"csv adds the table as CSV, one line per run."`
}

// GridRun is a run in a cell of a grid.
type GridRun struct {
	Run       string             `json:"collection_item_h"`
	AssetHash library.AssetHash  `json:"asset_h"`
	Variant   string             `json:"variant_label,omitempty"`
	Seed      string             `json:"seed,omitempty"`
	Thumbnail string             `json:"thumbnail_url"`
	Means     map[string]float64 `json:"means" doc:"Dimension to mean score."`
}

// GridRow is a row of a grid.
type GridRow struct {
	Value string      `json:"value" doc:"Of y. Empty: not known."`
	Cells [][]GridRun `json:"cells" doc:"Runs per column."`
}

type gridOutput struct {
	CollectionH library.CollectionHash `json:"collection_h"`
	Path        string                 `json:"path"`
	X           string                 `json:"x"`
	Y           string                 `json:"y"`
	Columns     []string               `json:"columns" doc:"Values of x. Empty: not known."`
	Rows        []GridRow              `json:"rows"`
	CSV         string                 `json:"csv,omitempty"`
}

func (s *Service) getExperimentGrid() op.Operation {
	return op.Define(op.Meta{
		Name: "GetExperimentGrid", Title: "Get an experiment as a grid", Domain: op.Experiments,
		Doc:    "Returns the runs of an experiment as a table over two parameters (an XYZ plot), with previews and mean scores.",
		Method: "GET", Path: "/api/v1/experiments/{collection_h}/grid", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"collection_h": exampleExperiment, "x": "cfg", "y": "sampler"},
	}, s.grid)
}

func (s *Service) grid(ctx context.Context, actor library.Actor, in gridInput) (gridOutput, error) {
	d, err := s.Experiments.Read(ctx, actor, in.CollectionH)
	if err != nil {
		return gridOutput{}, err
	}
	links := s.Links.For(actor)
	out, err := makeGrid(d, in.X, in.Y, func(r library.Run) string { return links.Thumbnail(actor.Tenant, r.Asset) })
	if err != nil {
		return out, err
	}
	if in.Format == "csv" {
		out.CSV, err = out.csv(newTable(d).dimensions)
	}
	return out, err
}

// maxCells bounds a grid; most cells of one with more are empty.
const maxCells = 20_000

// makeGrid sorts the runs of an experiment into a table.
func makeGrid(d store.ExperimentData, x, y string, thumbnail func(library.Run) string) (gridOutput, error) {
	out := gridOutput{CollectionH: d.Hash, Path: d.Path, X: library.ParamName(x), Y: library.ParamName(y), Rows: []GridRow{}}
	t, xs, ys := newTable(d), map[string]int{}, map[string]int{}
	for _, r := range d.Runs {
		xs[valueOf(r, out.X)], ys[valueOf(r, out.Y)] = 0, 0
	}
	if len(xs)*len(ys) > maxCells {
		return out, library.Invalid(library.FieldError{Field: "y", Code: "range", Message: fmt.Sprintf("The grid would have %d columns and %d rows; at most %d cells are allowed.", len(xs), len(ys), maxCells),
			Hint: "Choose parameters with fewer values, or leave y out."})
	}
	out.Columns = append([]string{}, sortedValues(sortedKeys(xs))...)
	for i, v := range out.Columns {
		xs[v] = i
	}
	for i, v := range sortedValues(sortedKeys(ys)) {
		ys[v] = i
		row := GridRow{Value: v, Cells: make([][]GridRun, len(out.Columns))}
		for i := range row.Cells {
			row.Cells[i] = []GridRun{}
		}
		out.Rows = append(out.Rows, row)
	}
	for _, r := range d.Runs {
		row, column := ys[valueOf(r, out.Y)], xs[valueOf(r, out.X)]
		run := GridRun{Run: r.Hash, AssetHash: r.Asset, Variant: r.Claim.VariantLabel, Seed: valueOf(r, "seed"), Thumbnail: thumbnail(r), Means: map[string]float64{}}
		for name, means := range t.means {
			if m, ok := means[r.Hash]; ok {
				run.Means[name] = m
			}
		}
		out.Rows[row].Cells[column] = append(out.Rows[row].Cells[column], run)
	}
	return out, nil
}

// sortedValues sorts values of a variable: numbers by their value, before texts; what is not
// known comes last.
func sortedValues(values []string) []string {
	number := func(s string) float64 {
		if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(n) {
			return n
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(values, func(a, b string) int {
		if (a == "") != (b == "") {
			return len(b) - len(a)
		}
		return cmp.Or(cmp.Compare(number(a), number(b)), strings.Compare(strings.ToLower(a), strings.ToLower(b)))
	})
	return values
}

// csv writes the grid with one line per run.
func (g gridOutput) csv(dimensions []string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	header := []string{"x: " + g.X, "y: " + g.Y, "collection_item_h", "asset_h", "variant_label", "seed", "thumbnail_url"}
	lines := [][]string{append(header, dimensions...)}
	for _, row := range g.Rows {
		for i, cell := range row.Cells {
			for _, r := range cell {
				line := []string{g.Columns[i], row.Value, r.Run, string(r.AssetHash), r.Variant, r.Seed, r.Thumbnail}
				for _, name := range dimensions {
					value := ""
					if m, ok := r.Means[name]; ok {
						value = strconv.FormatFloat(m, 'f', -1, 64)
					}
					line = append(line, value)
				}
				lines = append(lines, line)
			}
		}
	}
	for _, line := range lines {
		for i := range line {
			line[i] = plainCell(line[i])
		}
	}
	err := w.WriteAll(lines)
	return b.String(), err
}

// plainCell keeps a spreadsheet from taking a text for a formula.
func plainCell(s string) string {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return spreadsheet.Text(s)
}
