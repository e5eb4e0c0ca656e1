package relevance

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The lines between which a page has the tables. What stands outside is written
// by people.
const (
	beginTables = "<!-- measured: begin -->"
	endTables   = "<!-- measured: end -->"
)

// Markdown puts the tables into a page: between its marks, or at its end where it
// has none. command is what measured them.
func (r *Report) Markdown(command, page string) string {
	tables := beginTables + "\n`" + command + "`: " + r.tables() + endTables
	before, rest, begun := strings.Cut(page, beginTables)
	_, after, ended := strings.Cut(rest, endTables)
	if !begun || !ended {
		return strings.TrimRight(page, "\n") + "\n\n" + tables + "\n"
	}
	return before + tables + after
}

func (r *Report) tables() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d assets, %d queries, seed %d, model %s.\n", r.Count, r.Queries, r.Seed, orNone(r.Model))
	for _, l := range r.Lacks {
		fmt.Fprintf(&b, "\n%s\n", l)
	}
	for _, half := range []string{HeldOut, Open} {
		if len(r.Public) > 0 {
			fmt.Fprintf(&b, "\n### Public texts, the %s half: nDCG@10\n\nCollections of %s documents.\n\n", half, strings.Trim(fmt.Sprint(r.Public), "[]"))
			r.table(&b, half, Public, true, func(s Score) string { return fmt.Sprintf("%.3f", s.NDCG) })
		}
		fmt.Fprintf(&b, "\n### nDCG@10, the %s half\n\n", half)
		r.table(&b, half, slices.Concat(Judged, Slips), true, func(s Score) string { return fmt.Sprintf("%.3f", s.NDCG) })
		fmt.Fprintf(&b, "\n### MRR@10 / recall@100, the %s half\n\n", half)
		r.table(&b, half, Judged, false, func(s Score) string { return fmt.Sprintf("%.3f / %.3f", s.MRR, s.Recall) })
		fmt.Fprintf(&b, "\n### One known asset, the %s half: MRR@10\n\n", half)
		r.table(&b, half, Known, true, func(s Score) string { return fmt.Sprintf("%.3f", s.MRR) })
		fmt.Fprintf(&b, "\n### The whole of a name, the %s half: share of queries whose first hit is the asset\n\n", half)
		r.table(&b, half, Exact, false, func(s Score) string { return fmt.Sprintf("%.3f", s.First) })
	}
	r.slips(&b)
	b.WriteString("\n### Bars, on the held-out half\n\n| Bar | Reached | Needed | |\n|---|---|---|---|\n")
	for _, bar := range r.Bars {
		fmt.Fprintf(&b, "| %s | %.3f | %.2f | %s |\n", bar.Name, bar.Value, bar.AtLeast, map[bool]string{true: "met", false: "**missed**"}[bar.Met])
	}
	return b.String()
}

// slips prints what becomes of words with a slip, and how often one is seen where
// there is none.
func (r *Report) slips(b *strings.Builder) {
	b.WriteString("\n### Words with a slip\n\n| Class | Queries | Repaired by did_you_mean | Mode fuzzy: MRR@10 / recall@100 |\n|---|---|---|---|\n")
	for _, row := range r.Rows {
		if n := r.Repairs[row.Class]; row.Half == HeldOut && (row.Class == ClassTypo || row.Class == ClassSlip) {
			fuzzy := row.Scores[RetrieverFuzzy]
			fmt.Fprintf(b, "| %s | %d | %.3f | %.3f / %.3f |\n", row.Class, n.Queries, float64(n.Repaired)/float64(max(n.Queries, 1)), fuzzy.MRR, fuzzy.Recall)
		}
	}
	b.WriteString("\nSuggestions though nothing was misspelled:")
	for i, class := range []string{ClassTags, ClassSentence, ClassSynonym} {
		n := r.Repairs[class]
		fmt.Fprintf(b, "%s %d of %d (%s)", []string{"", ",", ","}[i], n.Repaired, n.Queries, class)
	}
	b.WriteString(".\n")
}

func orNone(model string) string {
	if model == "" {
		return "none"
	}
	return model
}

// table writes one line per class and one column per retriever, and by how much smart
// leads in the measure of the class where that is what the cells show.
func (r *Report) table(b *strings.Builder, half string, classes []string, leads bool, cell func(Score) string) {
	retrievers := slices.DeleteFunc(slices.Clone(r.Retrievers), func(retriever string) bool { return retriever == RetrieverFuzzy })
	columns := append([]string{"Class", "Queries"}, retrievers...)
	if leads {
		columns = append(columns, "Smart against the best other", "Smart against BM25")
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, row := range r.Rows {
		if row.Half != half || !slices.Contains(classes, row.Class) {
			continue
		}
		fmt.Fprintf(b, "| %s | %d |", row.Class, row.Queries)
		for _, retriever := range retrievers {
			fmt.Fprintf(b, " %s |", cell(row.Scores[retriever]))
		}
		if !leads || row.Rival == "" {
			b.WriteString(strings.Repeat(" |", len(columns)-2-len(retrievers)) + "\n")
			continue
		}
		fmt.Fprintf(b, " %+.3f (%+.3f to %+.3f, %s) | %+.3f (%+.3f to %+.3f) |\n", row.Lead, row.LeadLow, row.LeadHigh, row.Rival, row.OverBM25, row.BM25Low, row.BM25High)
	}
	if slices.Contains(classes, ClassTags) {
		b.WriteString("| **mean** | |")
		for _, retriever := range retrievers {
			of := func(f func(Score) float64) float64 { return r.Mean(half, retriever, f) }
			fmt.Fprintf(b, " %s |", cell(Score{NDCG: of(func(s Score) float64 { return s.NDCG }), MRR: of(func(s Score) float64 { return s.MRR }),
				Recall: of(func(s Score) float64 { return s.Recall })}))
		}
		b.WriteString(strings.Repeat(" |", len(columns)-2-len(retrievers)) + "\n")
	}
}

// Print writes the tables for a person at a terminal.
func (r *Report) Print(w io.Writer) error {
	_, err := io.WriteString(w, r.tables())
	return err
}
