package prospectcsv

import (
	"encoding/csv"
	"strings"
	"testing"
)

// TestCell_NoSpreadsheetTakesItForAFormula reads cells as a spreadsheet does, and back.
func TestCell_NoSpreadsheetTakesItForAFormula(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"=1+1", "+49 30 1", "-2", "@ada", "\t=1", "\r\n=1", "  =HYPERLINK(\"http://x\")", "＝1", "|calc", "%x", "ada", "", "a,b", `a"b`, "a\nb", "'quoted'", "'=1", "O'Hara", "\u00a0=1"} {
		read, err := csv.NewReader(strings.NewReader(cell(s) + "\r\n")).Read()
		if err != nil || len(read) != 1 {
			t.Errorf("%q is written as %q: %v", s, cell(s), err)
			continue
		}
		first := strings.TrimLeft(read[0], " \u00a0")
		if first != "" && strings.ContainsAny(first[:1], "=+-@\t\r|%") || strings.HasPrefix(first, "＝") {
			t.Errorf("a spreadsheet reads %q as a formula", read[0])
		}
		if got := text(read[0]); strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) != strings.TrimSpace(got) && s != "'=1" {
			t.Errorf("%q comes back as %q", s, got)
		}
	}
}
