package bench

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/service"
)

func benchServers(t *testing.T) service.Config {
	t.Helper()
	at := testenv.Stack(t)
	return service.Config{PostgresURL: at.PostgresURL, Brokers: at.KafkaBrokers, OpenSearchURL: []string{at.OpenSearchURL}, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// checkFigures fails unless a report has a figure with values for each criterion.
func checkFigures(t *testing.T, figures []Figure, criteria []Criterion, page string) {
	t.Helper()
	if len(figures) != len(criteria) {
		t.Fatalf("%d figures of %d", len(figures), len(criteria))
	}
	for i, f := range figures {
		if f.Key != criteria[i].Key || f.Value <= 0 || f.Repeats == 0 || len(f.Rows) == 0 || !strings.Contains(page, "## "+criteria[i].Title) {
			t.Errorf("figure %d: %+v", i, f)
		}
		for _, r := range f.Rows {
			if r.Ours.N == 0 || r.Ours.P50 <= 0 || (criteria[i].Floor != "") != (r.Floor.N > 0) {
				t.Errorf("%s, %s: %+v", f.Key, r.Name, r)
			}
		}
	}
}

func TestFolder_ARunGivesEveryFigureAndLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	report, err := RunFolder(t.Context(), FolderConfig{Servers: benchServers(t), Count: 24, Drawn: 12, Edge: 64})
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, report.Figures, FolderCriteria, report.Markdown("vitrine-bench import", ""))
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
}

func TestOrganize_ARunGivesEveryFigure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	report, err := RunOrganize(t.Context(), OrganizeConfig{Servers: benchServers(t), Count: 100, Collections: 30, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, report.Figures, OrganizeCriteria, report.Markdown("vitrine-bench organize", ""))
}

func TestPipelines_ARunGivesEveryFigure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	report, err := RunPipelines(t.Context(), PipelinesConfig{Servers: benchServers(t), Count: 100, Stream: 1000, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, report.Figures, PipelinesCriteria, report.Markdown("vitrine-bench pipelines", ""))
}

func TestWebhooks_ARunGivesEveryFigure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	report, err := RunWebhooks(t.Context(), WebhooksConfig{Servers: benchServers(t), Events: 20, Endpoints: 2, Dead: 3})
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, report.Figures, WebhooksCriteria, report.Markdown("vitrine-bench webhooks", ""))
}
