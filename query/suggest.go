package query

import "strings"

// nearestField finds the field a mistyped name most likely means: at most two
// slips away, and fewer slips than half its letters. Empty when there is none.
func nearestField(name string) string {
	best, slips := "", 3
	name = strings.ToLower(name)
	for _, f := range fieldTable {
		for _, known := range append([]string{f.Name}, f.Aliases...) {
			if d := distance(name, known, slips); d < slips && 2*d < len(name) {
				best, slips = f.Name, d
			}
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

// distance counts the letters to insert, drop, change or swap with their
// neighbour to make b of a (optimal string alignment); limit is enough to know.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
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
		before, prev = prev, row
	}
	return prev[len(b)]
}
