package relevance_test

import (
	"strings"
	"testing"

	"vitrine/cmd/vitrine-bench/relevance"
	"vitrine/embed"
	"vitrine/internal/testenv"
)

// small is the share of a bar that suffices in a class of twenty queries, where one
// query more or less changes the mean by some percent.
const small = 0.9

// whole are the bars that are held also by few queries.
func whole(b relevance.Bar) bool {
	return strings.HasPrefix(b.Name, "mean") || strings.HasSuffix(b.Name, "comes first")
}

// TestRelevance_SmartSearchHoldsItsBars measures a small set. The figures of the page
// docs/measurements/relevance.md are of a large one.
func TestRelevance_SmartSearchHoldsItsBars(t *testing.T) {
	s := testenv.Stack(t)
	e, err := embed.Open(embed.Config{Driver: embed.Builtin, Dir: testenv.Model(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r, err := relevance.Run(t.Context(), relevance.Config{OpenSearchURL: []string{s.OpenSearchURL}, PostgresURL: s.PostgresURL, Embedder: e,
		Count: 500, Queries: 140, Known: 16, Step: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Lacks {
		t.Log(l)
	}
	for _, b := range r.Bars {
		if !b.Met && (whole(b) || b.Value < small*b.AtLeast) {
			t.Errorf("%s: %.3f instead of %.2f", b.Name, b.Value, b.AtLeast)
		}
	}
	if len(r.Bars) < 14 || testing.Verbose() || t.Failed() {
		t.Log(r.Markdown("the test", ""))
	}
}

func TestRelevance_TheTablesReplaceOnlyThemselves(t *testing.T) {
	r := relevance.Report{Retrievers: []string{relevance.RetrieverBM25}}
	first := r.Markdown("first", "# Title\n\nWritten by people.\n")
	first = strings.Replace(first, "Written", "Still written", 1) + "\nAnd behind.\n"
	second := r.Markdown("second", first)
	if !strings.HasPrefix(second, "# Title\n\nStill written by people.\n") || !strings.HasSuffix(second, "\nAnd behind.\n") {
		t.Errorf("the page lost what people wrote: %s", second)
	}
	if strings.Contains(second, "`first`") || strings.Count(second, "`second`") != 1 {
		t.Errorf("the old tables are not replaced: %s", second)
	}
}

func TestRelevance_ASetThatIsTooSmallIsRefused(t *testing.T) {
	if _, err := relevance.Run(t.Context(), relevance.Config{Count: 10}); err == nil {
		t.Errorf("ten assets: %v", err)
	}
}
