package bench

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go"

	"vitrine/internal/testenv"
	"vitrine/service"
)

// The run is too small for its times to mean anything; what counts is that every
// figure is there, that the page tells them, and that nothing is left behind.
func TestBench_ARunGivesFiveFiguresAndLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	at := testenv.Stack(t)
	steps := 0
	cfg := Config{Count: 60, Natural: 20, Rounds: 1, Repeats: 1, WarmUp: 10, Commits: 2, Kafka: "4", Step: func(string, ...any) { steps++ },
		Servers: service.Config{PostgresURL: at.PostgresURL, Brokers: at.KafkaBrokers, OpenSearchURL: []string{at.OpenSearchURL},
			Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	report, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Figures) != len(Criteria) || steps == 0 {
		t.Fatalf("%d figures, %d steps", len(report.Figures), steps)
	}
	for i, f := range report.Figures {
		nothing := f.Value == 0 && f.Key != KeyMCP // a difference, which is none where so few calls were made
		if f.Key != Criteria[i].Key || nothing || f.Repeats == 0 || len(f.Rows) == 0 {
			t.Errorf("figure %d: %+v", i, f)
		}
		for _, r := range f.Rows {
			if r.Ours.N == 0 || r.Ours.P50 <= 0 || (Criteria[i].Floor != "") != (r.Floor.N > 0) {
				t.Errorf("%s, %s: %+v", f.Key, r.Name, r)
			}
		}
	}
	var table strings.Builder
	if err := report.Print(&table); err != nil {
		t.Fatal(err)
	}
	page := report.Markdown("vitrine-bench --quick", "# Old\n"+ownWords+"\nBecause.\n")
	for _, c := range Criteria {
		if !strings.Contains(table.String(), c.Title) || !strings.Contains(page, "## "+c.Title) || !strings.Contains(page, c.Meaning) {
			t.Errorf("%s is not response of:\n%s\n%s", c.Key, table.String(), page)
		}
	}
	if !strings.HasSuffix(page, ownWords+"\nBecause.\n") || strings.Contains(page, "# Old") {
		t.Errorf("the page does not keep just what people wrote: %s", page)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "vitrine_bench_*")); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
		t.Errorf("left in the folder for temporary files: %v, %v", entries, err)
	}
}

// An interrupted run ends like any other: close is all that cleans up.
func TestBench_ClosingRemovesDatabaseIndicesAndTopics(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	at := testenv.Stack(t)
	e, err := open(t.Context(), Config{Servers: service.Config{PostgresURL: at.PostgresURL, Brokers: at.KafkaBrokers, OpenSearchURL: []string{at.OpenSearchURL},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after []any
	list := func(out *[]any) {
		if err := e.index(t.Context(), "GET", "/_cat/indices/"+e.cfg.Prefix+"*?format=json&h=index", nil, out); err != nil {
			t.Fatal(err)
		}
	}
	list(&before)
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	list(&after)
	if len(before) == 0 || len(after) > 0 {
		t.Errorf("indices before %v, after %v", before, after)
	}
	if err := execute(t.Context(), e.cfg.PostgresURL, "SELECT 1"); err == nil {
		t.Error("the database is still there")
	}
	conn, err := kafka.Dial("tcp", at.KafkaBrokers[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	topics, err := conn.ReadPartitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range topics {
		if strings.HasPrefix(p.Topic, e.cfg.Prefix) {
			t.Errorf("the topic %s is still there", p.Topic)
		}
	}
}

func TestBench_ASummaryLooksToTheBadSide(t *testing.T) {
	var list []float64
	for i := range 100 {
		list = append(list, float64((i*37)%100+1)) // 1 to 100 in disorder
	}
	for _, c := range []struct {
		moreIsBetter bool
		want         Summary
	}{{false, Summary{100, 50.5, 95, 100}}, {true, Summary{100, 50.5, 6, 1}}} {
		if got := summarize(list, c.moreIsBetter); got != c.want {
			t.Errorf("more is better %v: %+v, want %+v", c.moreIsBetter, got, c.want)
		}
	}
	if list[0] != 1 || list[1] != 38 {
		t.Error("the series itself was sorted")
	}
}

func TestBench_AFigureIsJudgedByItsOwnBar(t *testing.T) {
	for _, c := range []struct {
		figure Figure
		want   string
	}{
		{Figure{Key: KeySearch, Value: 1.1}, "goal reached"}, {Figure{Key: KeySearch, Value: 1.3}, "met"}, {Figure{Key: KeySearch, Value: 1.31}, "missed"},
		{Figure{Key: KeyIndexer, Value: 0.9}, "goal reached"}, {Figure{Key: KeyIndexer, Value: 0.7}, "met"}, {Figure{Key: KeyIndexer, Value: 0.69}, "missed"},
		{Figure{Key: KeyCommit, Value: 500, P95: 1400}, "missed"}, {Figure{Key: KeyCommit, Value: 500, P95: 1200}, "goal reached"},
		{Figure{Key: KeyWords, Value: 1.16}, "missed"}, {Figure{Key: KeyMeaning, Value: 1.35}, "met"}, {Figure{Key: KeyCompile, Value: 61}, "missed"},
		{Figure{Key: KeyRival, Value: 2.9}, "missed"}, {Figure{Key: KeyRecall, Value: 0.94}, "missed"}, {Figure{Key: KeyRecall, Value: 0.99}, "goal reached"},
		{Figure{Key: KeyGrowth, Value: 100}, "reported"},
	} {
		if got := c.figure.Verdict(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.figure, got, c.want)
		}
	}
	if !(SearchReport{Figures: []Figure{{Key: KeyGrowth, Value: 100}}}).Met() {
		t.Error("a figure without a bar misses it")
	}
	if (Report{Figures: []Figure{{Key: KeyMCP, Value: 0.1}, {Key: KeyImport, Value: 0.5}}}).Met() {
		t.Error("a report with a missed bar is not met")
	}
}

func TestBench_TooFewOrTooManyAssetsAreRefused(t *testing.T) {
	for _, n := range []int{0, 19, 1_000_001} {
		if _, err := Run(t.Context(), Config{Count: n}); err == nil {
			t.Errorf("%d assets were taken", n)
		}
	}
	for _, n := range []int{0, 99, 1_000_001} {
		if _, err := RunSearch(t.Context(), SearchConfig{Count: n}); err == nil {
			t.Errorf("%d assets were taken for searches", n)
		}
	}
}
