package relevance

import (
	"strings"
)

// minSlip is the length from which words are mistyped here: in a shorter one a
// slip mostly makes another word.
const minSlip = 5

// slip mistypes one word of a query, and keeps what was meant.
func (w *writer) slip(q *Query) bool {
	words := strings.Fields(q.Words)
	var long []int
	for i, s := range words {
		if len(s) >= minSlip && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" {
			long = append(long, i)
		}
	}
	if len(long) == 0 {
		return false
	}
	at := long[w.IntN(len(long))]
	wrong := w.mistype(words[at])
	if isWord[wrong] {
		return false
	}
	q.Intended = q.Words
	words[at] = wrong
	q.Words = strings.Join(words, " ")
	q.Text = q.Words
	return true
}

// isWord has the words of the lexicon.
var isWord = func() map[string]bool {
	all := map[string]bool{}
	for _, list := range lexicon {
		for _, c := range list {
			for _, e := range c.english {
				for _, s := range strings.Fields(e) {
					all[s] = true
				}
			}
		}
	}
	return all
}()

// near has the keys beside each key, for fingers that land beside the right one.
var near = map[byte]string{'a': "sq", 'b': "vn", 'c': "xv", 'd': "sf", 'e': "wr", 'f': "dg", 'g': "fh", 'h': "gj", 'i': "uo", 'j': "hk", 'k': "jl", 'l': "k",
	'm': "n", 'n': "bm", 'o': "ip", 'p': "o", 'q': "w", 'r': "et", 's': "ad", 't': "ry", 'u': "yi", 'v': "cb", 'w': "qe", 'x': "zc", 'y': "tu", 'z': "x"}

// mistype makes one slip anywhere behind the first letter, which people rarely
// get wrong: two letters swapped, one left out, doubled, or hit beside.
func (w *writer) mistype(s string) string {
	i := 1 + w.IntN(len(s)-2)
	switch w.IntN(4) {
	case 0:
		return s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
	case 1:
		return s[:i] + s[i+1:]
	case 2:
		return s[:i] + s[i:i+1] + s[i:]
	}
	keys := near[s[i]]
	return s[:i] + string(keys[w.IntN(len(keys))]) + s[i+1:]
}
