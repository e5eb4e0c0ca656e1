package bench

import (
	"fmt"
	"io"
)

// The figures of outreach.
const (
	KeyProspects     = "prospects"
	KeyProspectsBare = "prospects_bare"
)

// OutreachCriteria are the figures of outreach, in the order of the report.
var OutreachCriteria = []Criterion{
	{Key: KeyProspects, Title: "Searching prospects over searching assets", Unit: "×", Reported: true, Ours: "SearchProspects", Floor: "SearchAssets",
		Meaning: "The time of SearchProspects, divided by that of SearchAssets with as many assets in the same run, both over REST, with 20 results a page and the same kind of question. The largest of the rows counts; the goal is 1."},
	{Key: KeyProspectsBare, Title: "Searching prospects over the bare request", Unit: "×", Reported: true, Ours: "REST", Floor: "OpenSearch",
		Meaning: "The time of SearchProspects, divided by that of the same search sent to OpenSearch itself. Words change from one search to the next, so that no cache answers."},
}

// OutreachReport is the outcome of measuring outreach.
type OutreachReport struct {
	Setting Setting  `json:"setting"`
	Figures []Figure `json:"figures"`
}

// Met reports whether every figure meets its bar.
func (r OutreachReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r OutreachReport) Print(w io.Writer) error { return Report{Figures: r.Figures}.Print(w) }

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r OutreachReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Outreach", command: command, sides: "the two sides", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Library", fmt.Sprintf("%d generated prospects and %d generated assets of one tenant; seed %d", s.Count, s.Count, s.Seed)}},
		figures: r.Figures,
	}.markdown()
}
