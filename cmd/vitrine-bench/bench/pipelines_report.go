package bench

import (
	"fmt"
	"io"
)

// The figures of pipelines.
const (
	KeyFused  = "fused"
	KeySetTag = "set_tag"
	KeyStream = "stream"
)

// PipelinesCriteria are the figures of pipelines, in the order of the report.
var PipelinesCriteria = []Criterion{
	{Key: KeyFused, Title: "A pipeline as one query over the same stage by stage", Unit: "×", Reported: true, Ours: "one query", Floor: "each stage",
		Meaning: "The time of a dry run whose search, condition, order and limit are one query of the index, divided by that of the same run with each stage for itself over rows of PostgreSQL: from its start to its trace, with its own rows and its job. Both end with the same assets."},
	{Key: KeySetTag, Title: "Tagging every asset over a bare UPDATE and bulk requests", Unit: "×", Reported: true, Ours: "pipeline", Floor: "SQL and raw _bulk",
		Meaning: "The time from the start of `search | set_tag` until searches find every asset by the tag, divided by that of one UPDATE of the same rows and of bulk requests of as many documents, prepared beforehand. " +
			"The run also commits part by part, records journal, audit trail, events and outbox for each asset, and can be undone."},
	{Key: KeyStream, Title: "Memory of a large set", Unit: "MB", Reported: true, Ours: "peak",
		Meaning: "`collection | where | sort | limit 10000 | set_tag` over a tenth of the rows and over all: the most that objects of the process took, garbage included, above what they took before. The value is that of all rows."},
}

// PipelinesReport is the outcome of measuring pipelines.
type PipelinesReport struct {
	Setting Setting  `json:"setting"`
	Figures []Figure `json:"figures"`
	Stream  int      `json:"stream"` // rows of the largest set
}

// Met reports whether every figure meets its bar.
func (r PipelinesReport) Met() bool { return met(r.Figures) }

// Print writes the report as a table for a terminal.
func (r PipelinesReport) Print(w io.Writer) error { return Report{Figures: r.Figures}.Print(w) }

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r PipelinesReport) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Pipelines", command: command, sides: "the service and its floor", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Library", fmt.Sprintf("%d generated assets with documents, and %d rows without; seed %d", s.Count, r.Stream, s.Seed)}},
		figures: r.Figures,
	}.markdown()
}
