package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table prints rows in columns.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, columns ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)}
	fmt.Fprintln(t.w, strings.ToUpper(strings.Join(columns, "\t")))
	return t
}

func (t *table) row(values ...any) {
	for i, v := range values {
		if i > 0 {
			fmt.Fprint(t.w, "\t")
		}
		fmt.Fprint(t.w, v)
	}
	fmt.Fprintln(t.w)
}

func (t *table) flush() error { return t.w.Flush() }
