package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Print writes the report as a table for a terminal.
func (r Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tvalue\tbar\tgoal\tverdict\trepeats")
	for _, f := range r.Figures {
		c := f.Criterion()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\n", c.Title, f.value(), c.bar(), c.limit(c.Goal), f.Verdict(), f.Repeats)
	}
	for _, f := range r.Figures {
		c := f.Criterion()
		fmt.Fprintf(t, "\n%s\t%s p50\tp95\tworst\t%s p50\tp95\tworst\t%s\n", c.Key, c.Ours, c.Floor, c.compared())
		for _, row := range f.Rows {
			fmt.Fprintln(t, "  "+strings.Join(append([]string{row.Name}, row.cells(c)...), "\t"))
		}
	}
	if err := t.Flush(); err != nil || r.Repeated == 0 {
		return err
	}
	_, err := fmt.Fprintln(w, "\n"+disturbed(r.Repeated))
	return err
}

// disturbed warns of figures that are worth little.
func disturbed(repeated int) string {
	return fmt.Sprintf("%d searches failed and were asked again: this machine was too busy to measure on.", repeated)
}

// Markdown returns the report as a page; command is what wrote it, and before the
// page as it is, if there is one.
func (r Report) Markdown(command, before string) string {
	s := r.Setting
	return page{
		title: "Performance", command: command, sides: "the service and its floor", before: before,
		lines: [][2]string{s.dateLine(), s.machineLine(), s.togetherLine(), s.versionsLine(),
			{"Library", fmt.Sprintf("%d generated files of at most %d px, and %d of natural size; seed %d", s.Count, s.Edge, s.Natural, s.Seed)}},
		figures: r.Figures, repeated: r.Repeated,
	}.markdown()
}

// page is a report for a reader who was not there.
type page struct {
	title    string
	command  string // measures the same again
	sides    string // what took turns
	lines    [][2]string
	figures  []Figure
	repeated int    // searches that failed and were asked again
	before   string // the page that this one replaces
}

// ownWords begins what people wrote below the figures: a new run keeps it.
const ownWords = "\n## What the figures say\n"

func (p page) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nWritten by `%s`; run it again to measure your machine. All figures are of one run in which %s took turns.\n\n", p.title, p.command, p.sides)
	for _, line := range p.lines {
		fmt.Fprintf(&b, "- %s: %s\n", line[0], line[1])
	}
	b.WriteString("\n")
	figuresTable(&b, p.figures)
	if p.repeated > 0 {
		b.WriteString("\n**" + disturbed(p.repeated) + "**\n")
	}
	b.WriteString("\n" + howToRead)
	for _, f := range p.figures {
		b.WriteString("\n" + f.markdown())
	}
	if i := strings.Index(p.before, ownWords); i >= 0 {
		b.WriteString(p.before[i:])
	}
	return b.String()
}

func (s Setting) dateLine() [2]string { return [2]string{"Date", s.Date} }

func (s Setting) machineLine() [2]string {
	return [2]string{"Machine", fmt.Sprintf("%s, %d processors, %d GB, %s; load %s at the start", s.Processor, s.Processors, s.MemoryGB, s.System, s.Load)}
}

func (Setting) togetherLine() [2]string {
	return [2]string{"Everything on it", "the service, PostgreSQL, Kafka, OpenSearch and the measuring client share its processors"}
}

func (s Setting) versionsLine() [2]string {
	return [2]string{"Versions", fmt.Sprintf("Vitrine %s, Go %s, PostgreSQL %s, OpenSearch %s, Kafka %s", s.Vitrine, strings.TrimPrefix(s.Go, "go"), s.PostgreSQL, s.OpenSearch, known(s.Kafka))}
}

const howToRead = "Medians (p50), the value that 95 of 100 measurements are at least as good as (p95), and the worst one.\n"

func figuresTable(b *strings.Builder, list []Figure) {
	b.WriteString("| Figure | Value | Bar | Goal | Verdict | Repeats |\n|---|---|---|---|---|---|\n")
	for _, f := range list {
		c := f.Criterion()
		fmt.Fprintf(b, "| %s | **%s** | %s | %s | %s | %d |\n", c.Title, f.value(), c.bar(), c.limit(c.Goal), f.Verdict(), f.Repeats)
	}
}

func (f Figure) markdown() string {
	var b strings.Builder
	c := f.Criterion()
	fmt.Fprintf(&b, "## %s\n\n%s\n\n| | %s p50 | p95 | worst |", c.Title, c.Meaning, c.Ours)
	columns := 3
	if c.Floor != "" {
		fmt.Fprintf(&b, " %s p50 | p95 | worst | %s |", c.Floor, c.compared())
		columns = 7
	}
	b.WriteString("\n|---" + strings.Repeat("|---", columns) + "|\n")
	for _, row := range f.Rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(append([]string{row.Name + ", " + row.Unit}, row.cells(c)...), " | "))
	}
	return b.String()
}

// cells are a row's numbers.
func (r Row) cells(c Criterion) []string {
	out := []string{number(r.Ours.P50), number(r.Ours.P95), number(r.Ours.Worst)}
	if c.Floor == "" {
		return out
	}
	compared := fmt.Sprintf("%.2f", r.Ratio)
	switch c.Unit {
	case "ms":
		compared = fmt.Sprintf("%+.2f ms", r.Ratio)
	case "recall":
		compared = fmt.Sprintf("%.3f", r.Ratio)
	}
	return append(out, number(r.Floor.P50), number(r.Floor.P95), number(r.Floor.Worst), compared)
}

// compared names the last column.
func (c Criterion) compared() string {
	switch {
	case c.Compared != "":
		return c.Compared
	case c.Floor == "":
		return ""
	case c.Unit == "ms":
		return "difference"
	}
	return "ratio"
}

func (f Figure) value() string {
	c := f.Criterion()
	switch {
	case f.P95 != 0:
		return fmt.Sprintf("%.0f ms, p95 %.0f ms", f.Value, f.P95)
	case c.Unit == "ms":
		return fmt.Sprintf("%+.2f ms", f.Value)
	case c.Unit == "s":
		return fmt.Sprintf("%.1f s", f.Value)
	case c.Unit == "µs":
		return fmt.Sprintf("%.1f µs", f.Value)
	case c.Unit == "recall":
		return fmt.Sprintf("%.3f", f.Value)
	}
	return fmt.Sprintf("%.2f", f.Value)
}

func (c Criterion) bar() string {
	if c.Reported {
		return "–"
	}
	bar := c.limit(c.Bar)
	if c.P95Bar != 0 {
		bar += ", p95 " + c.limit(c.P95Bar)
	}
	return bar
}

// limit writes a bound as it is meant.
func (c Criterion) limit(v float64) string {
	sign, unit := "≤ ", ""
	switch {
	case c.Reported:
		return "–"
	case c.AtLeast:
		sign = "≥ "
	}
	if c.Unit == "ms" || c.Unit == "µs" || c.Unit == "s" {
		unit = " " + c.Unit
	}
	return sign + strconv.FormatFloat(v, 'f', -1, 64) + unit
}

// number writes a measurement with three digits that matter.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func known(version string) string {
	if version == "" {
		return "of unknown version"
	}
	return version
}
