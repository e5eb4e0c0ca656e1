package query

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func keys(ws []Warning) []string {
	out := make([]string, 0, len(ws))
	for _, w := range ws {
		out = append(out, w.Key())
	}
	return out
}

func TestConformanceCases(t *testing.T) {
	b, err := os.ReadFile("../../shared/query-cases.json")
	if err != nil {
		t.Skip("the shared conformance cases are not beside this checkout; testdata/cases.txt covers the rules")
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
		if diff := cmp.Diff(c.Warnings, keys(q.Warnings)); diff != "" {
			t.Errorf("%s %s: warnings (-want +got)\n%s", c.ID, c.Query, diff)
		}
	}
}
