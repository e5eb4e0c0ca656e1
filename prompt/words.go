package prompt

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// word is a word of a prompt as texts are compared: in lower case, without weights, tags
// that load models, braces and other punctuation.
type word struct {
	text string
	// gap is set where a tag was left out directly before the word.
	gap bool
	// start and end are where it stands in the text, in characters of its NFC form.
	start, end int

	// In a template the word may have variables: it is the one at place variable, or is
	// glued to it: text is empty then.
	variables      []int
	prefix, suffix string // what is glued to the first and the last of them
}

// sentinel stands for the variable at place 0 in the text of a template, and the following
// characters for the others. All are in a private area of Unicode that no font shares.
const sentinel = 0xF0000

// words splits a prompt into words. In a template, characters from sentinel on are
// variables; n is how many there are, 0 for a prompt. tail reports that a tag was left out
// behind the last word.
func words(text string, n int) (list []word, tail bool) {
	s := scanner{in: []rune(norm.NFC.String(text)), variables: n}
	for s.at < len(s.in) {
		r := s.in[s.at]
		switch {
		case r == '<' && s.tag():
			s.gap = true
		case r == ':' && s.weightAfter(), r == ')' && s.weightBehind(), s.weightBefore():
		case s.inWord(r):
			s.word()
		case unicode.Is(unicode.So, r): // emoji and the like
			s.add(word{text: string(r), start: s.at, end: s.at + 1})
			s.at++
		default:
			s.at++
		}
	}
	return s.out, s.gap
}

type scanner struct {
	in        []rune
	at        int
	variables int
	gap       bool
	out       []word
}

func (s *scanner) add(w word) {
	w.gap, s.gap = s.gap, false
	s.out = append(s.out, w)
}

// variable returns the place of the variable that a character stands for, or -1.
func (s *scanner) variable(r rune) int {
	if r >= sentinel && int(r-sentinel) < s.variables {
		return int(r - sentinel)
	}
	return -1
}

// inWord reports whether a character belongs to a word.
func (s *scanner) inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || s.variable(r) >= 0
}

// alone reports whether a character is a word by itself: of a script that has no spaces.
func alone(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// word reads a run of letters, digits and variables.
func (s *scanner) word() {
	start := s.at
	if alone(s.in[s.at]) {
		s.at++
		s.add(word{text: string(s.in[start:s.at]), start: start, end: s.at})
		return
	}
	for s.at < len(s.in) && s.inWord(s.in[s.at]) && !alone(s.in[s.at]) {
		s.at++
	}
	w := word{start: start, end: s.at}
	var letters strings.Builder
	for _, r := range s.in[start:s.at] {
		if v := s.variable(r); v >= 0 {
			if len(w.variables) == 0 {
				w.prefix = letters.String()
			}
			w.variables = append(w.variables, v)
			letters.Reset()
			continue
		}
		letters.WriteRune(unicode.ToLower(r))
	}
	if w.variables == nil {
		w.text = letters.String()
		if w.text == "break" && string(s.in[start:s.at]) == "BREAK" { // ends a chunk of tokens
			return
		}
	} else {
		w.suffix = letters.String()
	}
	s.add(w)
}

// tag skips a tag such as <lora:name:0.8>, which loads a model.
func (s *scanner) tag() bool {
	colon := false
	for i := s.at + 1; i < len(s.in) && i < s.at+400; i++ {
		switch r := s.in[i]; {
		case r == '>':
			if colon {
				s.at = i + 1
			}
			return colon
		case r == '<' || r == '\n':
			return false
		case r == ':':
			colon = true
		case !colon && !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'):
			return false
		}
	}
	return false
}

// weightAfter skips the number of (word:1.2), [a:b:0.5] and word::1.2, with its colons.
func (s *scanner) weightAfter() bool {
	i := s.at + 1
	double := i < len(s.in) && s.in[i] == ':'
	if double {
		i++
	}
	end := s.number(s.spaces(i))
	if end < 0 {
		return false
	}
	closed := s.spaces(end)
	if !double && !(closed < len(s.in) && (s.in[closed] == ')' || s.in[closed] == ']')) {
		return false
	}
	s.at = end
	return true
}

// weightBehind skips the parenthesis and the number of (words)1.2.
func (s *scanner) weightBehind() bool {
	end := s.number(s.at + 1)
	if end < 0 || s.at+1 < len(s.in) && s.variable(s.in[s.at+1]) >= 0 {
		return false
	}
	s.at = end
	return true
}

// weightBefore skips the number of 1.2::words::, with its colons.
func (s *scanner) weightBefore() bool {
	r := s.in[s.at]
	if !unicode.IsDigit(r) && r != '.' && r != '-' || s.at > 0 && s.inWord(s.in[s.at-1]) {
		return false
	}
	end := s.number(s.at)
	if end < 0 || end+1 >= len(s.in) || s.in[end] != ':' || s.in[end+1] != ':' {
		return false
	}
	s.at = end + 2
	return true
}

// number returns the end of a number, or of the variable of a template, that begins at a
// place and is not a part of a word; -1 where there is none.
func (s *scanner) number(i int) int {
	if i < len(s.in) && s.variable(s.in[i]) >= 0 {
		return i + 1
	}
	if i < len(s.in) && (s.in[i] == '-' || s.in[i] == '+') {
		i++
	}
	start, digits := i, 0
	for i < len(s.in) && i < start+16 && (s.in[i] >= '0' && s.in[i] <= '9' || s.in[i] == '.') {
		if s.in[i] != '.' {
			digits++
		}
		i++
	}
	if digits == 0 || i < len(s.in) && s.inWord(s.in[i]) {
		return -1
	}
	return i
}

func (s *scanner) spaces(i int) int {
	for i < len(s.in) && (s.in[i] == ' ' || s.in[i] == '\t' || s.in[i] == '\n') {
		i++
	}
	return i
}
