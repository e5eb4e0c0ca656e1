package bench

import "testing"

func TestOutreach_ARunGivesEveryFigure(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	report, err := RunOutreach(t.Context(), OutreachConfig{Servers: benchServers(t), Count: 400, Repeats: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, report.Figures, OutreachCriteria, report.Markdown("vitrine-bench outreach", ""))
}
