package query

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// slop is how far apart the words of a phrase may be. The index counts a run of
// n Chinese or Japanese characters as n positions, a query as n-1 pairs, so what
// follows such a run stands one further off.
func slop(s string) int {
	n, run := 0, 0
	for _, r := range s {
		switch {
		case isCJK(r):
			run++
		case run >= 2 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			n++
			run = 0
		case run == 1:
			run = 0
		}
	}
	return n
}

// expandCompounds writes a phrase so that its words have one reading each. A word with
// inner marks, such as red_hair, is looked for whole and in parts. The index
// matches such alternatives at the beginning and the end of a phrase, but between
// two words only the first of them, the whole, behind which it has a gap where the
// last part stands: "girl red_hair smiling" would never be found. There the parts
// are written alone.
func expandCompounds(s string) string {
	if strings.IndexFunc(s, isWordJoiner) < 0 {
		return s
	}
	words := wordSpans(s)
	if len(words) < 3 {
		return s
	}
	b := []byte(s)
	for _, w := range words[1 : len(words)-1] {
		splitCompound(b[w.start:w.end])
	}
	return string(b)
}

// isWordJoiner reports whether a character between two letters or digits does not end
// the word.
func isWordJoiner(r rune) bool { return r == '_' || r == '.' || r == '\'' }

// wordSpans finds the words of a text as its analysis does, but takes a colon as a
// part of them, so that weights and model tags stay what they are.
func wordSpans(s string) []span {
	var out []span
	start := -1
	for i, r := range s {
		switch in := unicode.IsLetter(r) || unicode.IsDigit(r) || isWordJoiner(r) || r == ':'; {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			out, start = append(out, span{start, i}), -1
		}
	}
	if start >= 0 {
		out = append(out, span{start, len(s)})
	}
	return out
}

// splitCompound makes blanks of the joints of a word. A possessive 's stays: the
// analysis takes it off.
func splitCompound(w []byte) {
	if bytes.ContainsRune(w, ':') {
		return
	}
	for i, c := range w {
		possessive := c == '\'' && i+2 == len(w) && w[i+1]|0x20 == 's'
		if c < utf8.RuneSelf && isWordJoiner(rune(c)) && !possessive {
			w[i] = ' '
		}
	}
}
