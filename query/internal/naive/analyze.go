package naive

import (
	"regexp"
	"strings"
	"unicode"

	"vitrine/mappings"
)

// The prompt analyzer in Go, for the characters the tests use: ASCII, accented
// Latin letters, Han and Hiragana.

var (
	modelTag = regexp.MustCompile(`<(?:lora|lyco|hypernet|ti):([^:<>]{1,300})(?::[^<>]{0,64})?>`)
	emphasis = regexp.MustCompile(`:[+-]?\d{0,6}(?:\.\d{0,6})?(\s*[)\]])`)
	brackets = regexp.MustCompile(`[()\[\]{}]|\bBREAK\b`)
)

// token is one token of the tokenizer: parts between its inner marks, and
// whether it touches the token before it, which makes a pair of characters.
type token struct {
	parts []string
	cjk   bool
	joins bool
}

func tokens(s string) []token {
	s = modelTag.ReplaceAllString(s, " $1 ")
	s = emphasis.ReplaceAllString(s, "$1")
	s = brackets.ReplaceAllString(s, " ")
	var out []token
	var word strings.Builder
	flush := func() {
		if parts := strings.FieldsFunc(word.String(), func(r rune) bool { return r == '_' || r == '.' }); len(parts) > 0 {
			out = append(out, token{parts: parts})
		}
		word.Reset()
	}
	touching := false
	runes := []rune(Fold(s))
	for i, r := range runes {
		cjk := unicode.In(r, unicode.Han, unicode.Hiragana)
		switch {
		case cjk:
			flush()
			out = append(out, token{parts: []string{string(r)}, cjk: true, joins: touching})
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || (r == '.' && dotJoins(runes, i)):
			word.WriteRune(r)
		default:
			flush()
		}
		touching = cjk
	}
	flush()
	return out
}

// dotJoins: a dot between two letters or two digits is inside the word.
func dotJoins(s []rune, i int) bool {
	if i == 0 || i+1 == len(s) {
		return false
	}
	a, b := s[i-1], s[i+1]
	return (unicode.IsLetter(a) && unicode.IsLetter(b)) || (unicode.IsDigit(a) && unicode.IsDigit(b))
}

// analyzed is a text as the index has it: the terms at each position.
type analyzed struct{ at []map[string]bool }

// gap stands between two values of one field.
const gap = 100

func analyze(values ...string) analyzed {
	a := analyzed{}
	for i, v := range values {
		if i > 0 {
			for range gap {
				a.at = append(a.at, map[string]bool{})
			}
		}
		for _, t := range tokens(v) {
			first := len(a.at)
			for _, p := range t.parts {
				a.at = append(a.at, map[string]bool{p: true})
			}
			if len(t.parts) > 1 {
				a.at[first][whole(t.parts)] = true
			}
			if t.cjk && t.joins {
				prev := a.at[first-1]
				for c := range prev {
					if len([]rune(c)) == 1 {
						prev[c+t.parts[0]] = true
						break
					}
				}
			}
		}
	}
	return a
}

// whole names a token with inner marks; which marks does not matter to the tests,
// because its parts are indexed beside it.
func whole(parts []string) string { return strings.Join(parts, "\x00") }

// path is one reading of a query text: terms at consecutive positions.
type path []string

// paths reads a query text: each token with inner marks whole or in parts, each
// run of characters as its pairs.
func paths(s string) []path {
	all := []path{nil}
	ts := tokens(s)
	for i := 0; i < len(ts); i++ {
		t := ts[i]
		var steps []path
		switch {
		case t.cjk:
			run := []string{t.parts[0]}
			for i+1 < len(ts) && ts[i+1].cjk && ts[i+1].joins {
				i++
				run = append(run, ts[i].parts[0])
			}
			steps = []path{pairs(run)}
		case len(t.parts) > 1:
			steps = []path{t.parts, {whole(t.parts)}}
		default:
			steps = []path{t.parts}
		}
		var next []path
		for _, p := range all {
			for _, s := range steps {
				next = append(next, append(append(path(nil), p...), s...))
			}
		}
		all = next
	}
	return all
}

func pairs(run []string) path {
	if len(run) == 1 {
		return run
	}
	var p path
	for i := range run[1:] {
		p = append(p, run[i]+run[i+1])
	}
	return p
}

var readings = map[string][]path{}

// phrase reports whether the words of s stand in a text one after the other.
func (a analyzed) phrase(s string) bool {
	ps, ok := readings[s]
	if !ok {
		ps = paths(s)
		readings[s] = ps
	}
	for _, p := range ps {
		if len(p) == 0 {
			return false
		}
		for i := range a.at {
			if a.startsAt(i, p) {
				return true
			}
		}
	}
	return false
}

func (a analyzed) startsAt(i int, p path) bool {
	for j, term := range p {
		if i+j >= len(a.at) || !a.at[i+j][term] {
			return false
		}
	}
	return true
}

// terms reports whether any word of a text fulfils ok.
func (a analyzed) terms(ok func(string) bool) bool {
	for _, at := range a.at {
		for t := range at {
			if ok(t) || ok(strings.ReplaceAll(t, "\x00", "_")) {
				return true
			}
		}
	}
	return false
}

func analyzeDocument(d *mappings.Document) map[string]analyzed {
	return map[string]analyzed{
		"title": analyze(d.Title), "description": analyze(d.Description), "prompt": analyze(d.Prompt),
		"negative_prompt": analyze(d.NegativePrompt), "filename": analyze(d.Filename), "tags": analyze(d.Tags...), "model_names": analyze(d.ModelNames...),
	}
}

// Fold lowers a text and takes the accents off its letters, for the letters the
// tests use.
func Fold(s string) string { return folding.Replace(strings.ToLower(s)) }

var folding = strings.NewReplacer("é", "e", "ä", "a", "ß", "ss")
