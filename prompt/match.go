package prompt

import (
	"hash/fnv"
	"strings"
)

// MinFixedWords is how many words besides its variables a template needs for its renders
// to be recognized. One with fewer would claim prompts that have nothing to do with
// it; only its own whole text, and its text with all defaults, are its renders.
const MinFixedWords = 3

// Prompt is a text that may be a render.
type Prompt struct {
	text  string
	words []word
	tail  bool
}

// Read splits a text for Matcher.Matches.
func Read(text string) Prompt {
	p := Prompt{text: text}
	p.words, p.tail = words(text, 0)
	return p
}

// Matcher recognizes the renders of one template.
type Matcher struct {
	words  []word
	tail   bool
	vars   []matchVariable
	fixed  int
	rest   []int // how many fixed words there are from a word on
	repeat bool  // a variable has several places
	// whole are the texts, as key returns them, one of which a prompt must be; nil where
	// the words decide.
	whole []string
	raw   string // the template's text with single spaces, where whole is set
}

// matchVariable is what a variable's value must be.
type matchVariable struct {
	typ      Type
	options  [][]string // the words of each
	optional bool
}

// Matcher returns what recognizes the template's renders.
func (t *Template) Matcher() *Matcher {
	m := &Matcher{}
	m.words, m.tail = words(t.marked(), len(t.vars))
	m.rest = make([]int, len(m.words)+1)
	for i := len(m.words) - 1; i >= 0; i-- {
		m.rest[i] = m.rest[i+1]
		if m.words[i].variables == nil {
			m.rest[i]++
		}
	}
	seen := map[int]bool{}
	for _, w := range m.words {
		if w.variables == nil {
			m.fixed++
		}
		for _, v := range w.variables {
			m.repeat = m.repeat || seen[v]
			seen[v] = true
		}
	}
	for _, v := range t.vars {
		mv := matchVariable{typ: v.Type, optional: v.optional()}
		for _, o := range v.Options {
			list, _ := words(o, 0)
			mv.options = append(mv.options, texts(list))
		}
		m.vars = append(m.vars, mv)
	}
	if len(seen) > 0 && m.fixed < MinFixedWords {
		m.whole, m.raw = []string{}, spaced(t.text)
		if text, ok := t.Defaults(); ok {
			m.whole = append(m.whole, Read(text).key())
		}
	}
	return m
}

// marked returns the text with a character for each variable, as words splits it.
func (t *Template) marked() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.variable >= 0 {
			b.WriteRune(rune(sentinel + p.variable))
			continue
		}
		b.WriteString(strings.Map(func(r rune) rune {
			if r >= sentinel {
				return -1
			}
			return r
		}, p.text))
	}
	return b.String()
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// key returns the words of a prompt as one text.
func (p Prompt) key() string { return strings.Join(texts(p.words), " ") }

func texts(list []word) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = w.text
	}
	return out
}

// FixedWords returns how many words the template has besides its variables: the more, the
// less a match is by chance.
func (m *Matcher) FixedWords() int { return m.fixed }

// Matches reports whether a prompt is a render of the template: it has the template's words
// in their order, and where a variable stands at least one word that it takes, the same in
// all its places. Case, punctuation, weights and tags that load models make no difference.
func (m *Matcher) Matches(p Prompt) bool {
	if len(p.words) == 0 {
		return false
	}
	if m.whole != nil {
		key := p.key()
		for _, w := range m.whole {
			if w == key && key != "" {
				return true
			}
		}
		return m.raw == spaced(p.text)
	}
	s := search{m: m, p: p, steps: maxSteps}
	if m.repeat {
		s.bound = make([][]string, len(m.vars))
	} else {
		s.failed = make(map[[2]int]bool)
	}
	return s.from(0, 0)
}

// maxSteps bounds the work on one prompt. Where it does not suffice the prompt is no match.
const maxSteps = 50_000

// search tries to lay a template's words over a prompt's.
type search struct {
	m      *Matcher
	p      Prompt
	steps  int
	failed map[[2]int]bool // (template word, prompt word) from which there is no match; nil where values must repeat
	bound  [][]string      // the value of each variable that has one
}

// from reports whether the template's words from i on match the prompt's from j on.
func (s *search) from(i, j int) bool {
	for ; i < len(s.m.words) && s.m.words[i].variables == nil; i, j = i+1, j+1 {
		if j >= len(s.p.words) || s.p.words[j].text != s.m.words[i].text {
			return false
		}
	}
	if i == len(s.m.words) {
		return j == len(s.p.words)
	}
	at := [2]int{i, j}
	if s.failed[at] {
		return false
	}
	if s.variable(i, j) {
		return true
	}
	if s.failed != nil {
		s.failed[at] = true
	}
	return false
}

// variable tries the values of the variables at word i, from the shortest on.
func (s *search) variable(i, j int) bool {
	w := s.m.words[i]
	least := 1
	if len(w.variables) == 1 && w.prefix+w.suffix == "" && (s.m.vars[w.variables[0]].optional || s.gapAt(j)) {
		least = 0
	}
	for end := j + least; end <= len(s.p.words)-s.m.rest[i+1]; end++ {
		if s.steps--; s.steps < 0 {
			return false
		}
		if !s.nextFits(i+1, end) {
			continue
		}
		value, ok := glued(w, s.p.words[j:end])
		if !ok || !s.takes(w, value) {
			continue
		}
		if s.bind(w, value, func() bool { return s.from(i+1, end) }) {
			return true
		}
	}
	return false
}

// nextFits reports whether the next word of the template, if it is a fixed one, stands at a
// place of the prompt.
func (s *search) nextFits(i, j int) bool {
	if i == len(s.m.words) {
		return j == len(s.p.words)
	}
	next := s.m.words[i]
	return next.variables != nil || j < len(s.p.words) && s.p.words[j].text == next.text
}

// gapAt reports whether a tag was left out before word j, so that a value may have been
// nothing but a tag.
func (s *search) gapAt(j int) bool {
	if j == len(s.p.words) {
		return s.p.tail
	}
	return s.p.words[j].gap
}

// glued takes what is glued to variables off a value's words.
func glued(w word, list []word) (value []string, ok bool) {
	value = texts(list)
	if w.prefix+w.suffix == "" {
		return value, true
	}
	first, found := strings.CutPrefix(value[0], w.prefix)
	if !found {
		return nil, false
	}
	value[0] = first
	last, found := strings.CutSuffix(value[len(value)-1], w.suffix)
	if !found || last == "" && len(value) == 1 {
		return nil, false
	}
	value[len(value)-1] = last
	return value, true
}

// takes reports whether the variables of a word take a value. Of several that are glued
// together nothing is known.
func (s *search) takes(w word, value []string) bool {
	if len(w.variables) > 1 || len(value) == 0 {
		return true
	}
	switch v := s.m.vars[w.variables[0]]; v.typ {
	case TypeInteger:
		return len(value) == 1 && integer.MatchString(value[0])
	case TypeNumber: // 1.5 is two words, 1.5e-3 three
		return len(value) <= 3 && number.MatchString(strings.TrimSuffix(strings.Join(value, "."), "."))
	case TypeEnum:
		for _, o := range v.options {
			if equal(o, value) {
				return true
			}
		}
		return false
	}
	return true
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// bind goes on with a value for a variable, which must be what the variable has already.
func (s *search) bind(w word, value []string, then func() bool) bool {
	if s.bound == nil || len(w.variables) > 1 {
		return then()
	}
	v := w.variables[0]
	if have := s.bound[v]; have != nil {
		return equal(have, value) && then()
	}
	if value == nil {
		value = []string{}
	}
	s.bound[v] = value
	if then() {
		return true
	}
	s.bound[v] = nil
	return false
}

// gram is how many words an anchor has at most.
const gram = 3

// Anchor returns a number that is among the Anchors of every render of the template, and of
// few other prompts: the hash of some of its fixed words that follow each other. It is
// false for a template that has no render that could be recognized by words.
func (m *Matcher) Anchor() (int64, bool) {
	switch {
	case len(m.whole) > 0:
		return hash(wholeMark + m.whole[0]), true
	case m.whole != nil: // the text itself, with its braces
		return hash(wholeMark + Read(m.raw).key()), true
	case len(m.words) > 0 && m.fixed == len(m.words):
		return hash(wholeMark + strings.Join(texts(m.words), " ")), true
	}
	best, size, length := "", 0, 0
	for i := range m.words {
		for n := 1; n <= gram && i+n <= len(m.words) && m.words[i+n-1].variables == nil; n++ {
			text := strings.Join(texts(m.words[i:i+n]), " ")
			if n > size || n == size && len(text) > length {
				best, size, length = text, n, len(text)
			}
		}
	}
	return hash(best), size > 0
}

// wholeMark stands before the words of a whole text that is hashed.
const wholeMark = "="

// Anchors returns the numbers one of which a template must have as its Anchor to match.
func (p Prompt) Anchors() []int64 {
	if len(p.words) == 0 {
		return nil
	}
	list := texts(p.words)
	out := make([]int64, 0, gram*len(list)+1)
	out = append(out, hash(wholeMark+strings.Join(list, " ")))
	seen := make(map[int64]bool, gram*len(list))
	for i := range list {
		h := fnv.New64a()
		for n := range gram {
			if i+n == len(list) {
				break
			}
			if n > 0 {
				_, _ = h.Write([]byte{' '})
			}
			_, _ = h.Write([]byte(list[i+n]))
			if sum := int64(h.Sum64()); !seen[sum] {
				seen[sum] = true
				out = append(out, sum)
			}
		}
	}
	return out
}

func hash(text string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return int64(h.Sum64())
}
