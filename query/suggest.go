package query

import "strings"

// nearestField finds the field a mistyped name most likely means: at most two
// slips away, and fewer slips than half its letters. Empty when there is none.
func nearestField(name string) string {
	best, slips := "", 3
	name = strings.ToLower(name)
	try := func(f *Field, known string) {
		if d := distance(name, known, slips); d < slips && 2*d < len(name) {
			best, slips = f.Name, d
		}
	}
	for _, f := range fieldTable {
		try(f, f.Name)
		for _, a := range f.Aliases {
			try(f, a)
		}
	}
	return best
}

// nearest finds the candidate at most two slips from s, or that s begins.
func nearest(s string, candidates []string, form func(string) string) string {
	best, slips := "", 3
	for _, c := range candidates {
		known := form(c)
		if len(s) >= 3 && (strings.HasPrefix(known, s) || strings.HasPrefix(s, known)) {
			return c
		}
		if d := distance(s, known, slips); d < slips && 2*d < len(s) {
			best, slips = c, d
		}
	}
	return best
}

// maxName is the longest name that is worth comparing.
const maxName = 32

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make b of a (optimal string alignment); limit is enough to know.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit || len(a) > maxName || len(b) > maxName {
		return limit
	}
	var rows [3][maxName + 1]int
	before, prev, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := prev[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, prev[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
