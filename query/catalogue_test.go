package query

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
)

var update = flag.Bool("update", false, "write what the catalogue's queries are read as into testdata/cases.txt; read the difference before committing it")

const catalogueFile = "testdata/cases.txt"

// reading is what the catalogue says of one query, line by line.
func reading(text string) []string {
	q, err := Parse(text, Options{})
	var f *library.Error
	if errors.As(err, &f) {
		return []string{"= " + f.Code}
	}
	lines := []string{q.Canonical()}
	var accepted, refused []string
	for _, w := range q.Warnings {
		if w.text() {
			accepted = append(accepted, w.Key())
		} else {
			refused = append(refused, w.Key())
		}
	}
	if len(accepted) > 0 {
		lines = append(lines, "? "+strings.Join(accepted, " "))
	}
	if len(refused) > 0 {
		lines = append(lines, "! "+strings.Join(refused, " "))
	}
	return lines
}

// catalogueCase is one query of the catalogue with the lines below it.
type catalogueCase struct {
	line  int
	query string
	want  []string
}

func catalogue(t testing.TB) []catalogueCase {
	t.Helper()
	b, err := os.ReadFile(catalogueFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []catalogueCase
	for i, line := range strings.Split(string(b), "\n") {
		switch {
		case strings.HasPrefix(line, ">"):
			cases = append(cases, catalogueCase{line: i + 1, query: strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")})
		case strings.HasPrefix(line, "    "):
			last := &cases[len(cases)-1]
			last.want = append(last.want, strings.TrimSpace(line))
		}
	}
	return cases
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	if *update {
		updateCatalogue(t)
	}
	cases := catalogue(t)
	if len(cases) < 300 {
		t.Errorf("the catalogue has %d cases; it must not shrink below 300", len(cases))
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, reading(c.query)); diff != "" {
			t.Errorf("%s:%d: %q (-want +got):\n%s", catalogueFile, c.line, c.query, diff)
		}
		_, err := Parse(c.query, Options{Strict: true})
		refused := strings.HasPrefix(c.want[len(c.want)-1], "! ") || strings.HasPrefix(c.want[0], "= ")
		if (err != nil) != refused {
			t.Errorf("%s:%d: %q: strict reading gives %v", catalogueFile, c.line, c.query, err)
		}
	}
}

func updateCatalogue(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(catalogueFile)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out = append(out, line)
		if text, ok := strings.CutPrefix(line, ">"); ok {
			for _, l := range reading(strings.TrimPrefix(text, " ")) {
				out = append(out, "    "+l)
			}
		}
	}
	if err := os.WriteFile(catalogueFile, []byte(strings.Join(out, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCatalogue_ConformanceCases(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../shared/query-cases.json")
	if err != nil {
		t.Skip("the conformance cases are not beside this checkout (../shared/query-cases.json); testdata/cases.txt covers the rules")
	}
	var cases []struct {
		ID, Query, Tree string
		Warnings        []string
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		q, err := Parse(c.Query, Options{})
		if err != nil {
			t.Errorf("%s %s: %v", c.ID, c.Query, err)
			continue
		}
		if q.Canonical() != c.Tree {
			t.Errorf("%s %s\n got %s\nwant %s", c.ID, c.Query, q.Canonical(), c.Tree)
		}
		got := make([]string, 0)
		for _, w := range q.Warnings {
			got = append(got, w.Key())
		}
		if diff := cmp.Diff(c.Warnings, got); diff != "" {
			t.Errorf("%s %s: warnings (-want +got)\n%s", c.ID, c.Query, diff)
		}
	}
}
