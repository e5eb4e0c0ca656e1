package bench

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/service"
)

// The run is too small for its times to mean anything; what counts is that the
// sides find the same, that every figure is there, and that the page tells them.
func TestSearchRun_ARunOverSearchesGivesEveryFigure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	at := testenv.Stack(t)
	report, err := RunSearch(t.Context(), SearchConfig{Count: 500, Repeats: 1, Step: t.Logf,
		Servers: service.Config{PostgresURL: at.PostgresURL, Brokers: at.KafkaBrokers, OpenSearchURL: []string{at.OpenSearchURL},
			Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil))}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Figures) != len(SearchCriteria) {
		t.Fatalf("%d figures", len(report.Figures))
	}
	for i, f := range report.Figures {
		c := SearchCriteria[i]
		if f.Key != c.Key || f.Value <= 0 || f.Repeats == 0 || len(f.Rows) == 0 {
			t.Errorf("figure %d: %+v", i, f)
		}
		for _, r := range f.Rows {
			if r.Ours.N == 0 || (c.Floor != "") != (r.Floor.N > 0) {
				t.Errorf("%s, %s: %+v", f.Key, r.Name, r)
			}
		}
		if f.Key == KeyRecall && f.Value != 1 { // so few vectors are all compared
			t.Errorf("of 500 assets only %v of the nearest are found", f.Value)
		}
	}
	page := report.Markdown("vitrine-bench search", "# Old\n"+ownWords+"\nBecause.\n")
	var table strings.Builder
	if err := report.Print(&table); err != nil {
		t.Fatal(err)
	}
	for _, c := range SearchCriteria {
		if !strings.Contains(page, "## "+c.Title) || !strings.Contains(page, c.Meaning) || !strings.Contains(table.String(), c.Title) {
			t.Errorf("%s is not response of:\n%s\n%s", c.Key, table.String(), page)
		}
	}
	if !strings.HasSuffix(page, ownWords+"\nBecause.\n") || strings.Contains(page, "# Old") {
		t.Errorf("what people wrote below the figures is not kept:\n%s", page)
	}
	t.Log(table.String())
}
