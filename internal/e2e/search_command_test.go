package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// TestSearchCommand_PrintsNameSizeAndDateOfEachHit holds what people see of a search on
// the command line: with words, without, and where nothing is found.
func TestSearchCommand_PrintsNameSizeAndDateOfEachHit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ query, want, last string }{
		{"lighthouse", w.asset.Asset.AssetH[:12], "1 of 1, "},
		{"", "lighthouse.png", "1 of 1, "},
		{"tag:nothing", "", "0 of 0, "},
	} {
		out, errs, status := w.run(nil, "search", c.query)
		if status != 0 || !strings.Contains(out, c.want) || !strings.Contains(out, c.last) {
			t.Errorf("search %q ended with %d and printed %q, %q", c.query, status, out, errs)
		}
		if c.want != "" && !sizeAndDate.MatchString(out) {
			t.Errorf("search %q printed no size or date: %q", c.query, out)
		}
	}
}

var sizeAndDate = regexp.MustCompile(` [1-9]\d*x[1-9]\d*  \d{4}-\d\d-\d\d \d\d:\d\d `)
