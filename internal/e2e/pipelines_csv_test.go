package e2e

import (
	"encoding/csv"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/pipelinecsv"
)

// TestPipelineCSV_SummariesAreTablesWithoutFormulas gets the results of a run as CSV, of an asset
// whose title a spreadsheet would run.
func TestPipelineCSV_SummariesAreTablesWithoutFormulas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stages := []map[string]any{
		{"type": "ids", "config": map[string]any{"asset_ids": []any{w.asset.Asset.AssetH}}},
		{"type": "set_field", "config": map[string]any{"field": "title", "value": "=cmd|' /C calc'!A0"}},
		{"type": "group_by", "id": "titles", "config": map[string]any{"field": "title", "then": "mime_type"}},
		{"type": "count", "config": map[string]any{}},
	}
	run, err := w.Client("").ExecutePipeline(t.Context(), client.ExecutePipelineInput{Stages: stages})
	if err != nil || run.State != "completed" {
		t.Fatalf("the run: %+v, %v", run, err)
	}
	get := func(key, query string) (int, [][]string, http.Header) {
		t.Helper()
		status, answer, header := w.Raw(http.MethodGet, "/api/v1/pipelines/runs/"+run.RunID+"/summary.csv"+query, key, nil, nil)
		rows, err := csv.NewReader(strings.NewReader(string(answer))).ReadAll()
		if status == 200 && err != nil {
			t.Fatalf("%s: %v: %s", query, err, answer)
		}
		return status, rows, header
	}
	titles := [][]string{{"title", "mime_type", "count"}, {"'=cmd|' /C calc'!A0", "image/png", "1"}}
	for query, want := range map[string][][]string{"": {{"count"}, {"1"}}, "?stage=3": {{"count"}, {"1"}}, "?stage=2": titles, "?stage=titles": titles} {
		status, rows, header := get(w.Key, query)
		if status != 200 || !reflect.DeepEqual(rows, want) || !strings.HasPrefix(header.Get("Content-Type"), "text/csv") || header.Get(pipelinecsv.OmittedHeader) != "0" {
			t.Errorf("%q: %d %q %v", query, status, rows, header)
		}
	}
	for query, want := range map[string]int{"?stage=0": 404, "?stage=4": 400, "?stage=nothing": 400} {
		if status, _, _ := get(w.Key, query); status != want {
			t.Errorf("%s is answered with %d, want %d", query, status, want)
		}
	}
	if status, _, _ := get(w.NewKey(w.Tenant, library.PermRead, library.PermSearch), ""); status != 403 {
		t.Errorf("a key that does not see private assets got %d", status)
	}
	for _, id := range []string{"%00", "%FF", "none", "a%2Fb"} {
		if status, answer, _ := w.Raw(http.MethodGet, "/api/v1/pipelines/runs/"+id+"/summary.csv", w.Key, nil, nil); status != 404 {
			t.Errorf("the run %s is answered with %d %s", id, status, answer)
		}
	}
	other := w.NewTenant("Other")
	if status, _, _ := get(w.NewKey(other, library.Permissions...), ""); status != 404 {
		t.Errorf("a key of another tenant got %d", status)
	}
}
