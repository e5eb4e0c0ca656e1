package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Proposal is a template for texts that differ in a few words.
type Proposal struct {
	Text    string              // a valid template
	Members []int               // the places of the texts that are its renders
	Values  map[string][]string // of each variable, in the order of Members
}

// maxProposedWords is how many words a text has at most to be looked at.
const maxProposedWords = 600

// Propose groups texts that differ in a few words, and proposes a template for each group:
// what is common to its texts, with variables where they differ. Groups come with the
// largest first; a text that is like no other is in a group of its own. Every member of
// a group with variables is a render of its template.
func Propose(list []string) []Proposal {
	var groups []*proposal
	for i, text := range list {
		s := spell(text)
		if len(s.words) == 0 || len(s.words) > maxProposedWords {
			continue
		}
		if !slices.ContainsFunc(groups, func(g *proposal) bool { return g.add(i, s) }) {
			groups = append(groups, &proposal{first: s, fixed: indices(len(s.words)), members: []int{i}, texts: []spelled{s}})
		}
	}
	var out []Proposal
	for _, g := range groups {
		out = append(out, g.finish())
	}
	slices.SortStableFunc(out, func(a, b Proposal) int { return len(b.Members) - len(a.Members) })
	return out
}

// spelled is a text with its words, which know their places in it.
type spelled struct {
	runes []rune
	words []word
}

func spell(text string) spelled {
	s := spelled{runes: []rune(norm.NFC.String(text))}
	s.words, _ = words(text, 0)
	return s
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// proposal is a group while it grows: its first text, and which of its words are in
// every text of the group, in order.
type proposal struct {
	first   spelled
	fixed   []int
	members []int
	texts   []spelled
}

// add adds a text to the group if enough of it is common to all.
func (g *proposal) add(i int, s spelled) bool {
	common := g.common(s)
	if len(common) < MinFixedWords && len(common) < len(g.first.words) || 2*len(common) < max(len(g.first.words), len(s.words)) {
		return false
	}
	g.fixed = common
	g.members, g.texts = append(g.members, i), append(g.texts, s)
	return true
}

// common returns those of the fixed words that a text has too, in their order: the longest
// common subsequence.
func (g *proposal) common(s spelled) []int {
	n, m := len(g.fixed), len(s.words)
	length := make([][]int16, n+1)
	for i := range length {
		length[i] = make([]int16, m+1)
	}
	same := func(i, j int) bool { return g.first.words[g.fixed[i]].text == s.words[j].text }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if same(i, j) {
				length[i][j] = max(length[i][j], length[i+1][j+1]+1)
			}
		}
	}
	var out []int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j) && length[i][j] == length[i+1][j+1]+1:
			out = append(out, g.fixed[i])
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// finish makes the template. Where a variable would stand for nothing in one of the texts and
// one fixed word is between it and the next, it takes that word in.
func (g *proposal) finish() Proposal {
	for {
		slots := g.slots()
		again := false
		for k := 0; k+1 < len(slots); k++ {
			if (slots[k].empty() || slots[k+1].empty()) && slots[k+1].after == slots[k].after+1 && len(g.fixed) > MinFixedWords {
				g.fixed = slices.Delete(g.fixed, slots[k].after, slots[k].after+1)
				again = true
				break
			}
		}
		if !again {
			return g.write(slots)
		}
	}
}

// slot is a place between fixed words where the texts differ: before the fixed word number
// after. values has what each text has there.
type slot struct {
	after  int
	values []string
}

func (s slot) empty() bool { return slices.Contains(s.values, "") }

// slots finds where the texts differ.
func (g *proposal) slots() []slot {
	at := make([][]int, len(g.texts)) // where each text has the fixed words
	for k, s := range g.texts {
		at[k] = g.places(s)
	}
	var out []slot
	for f := 0; f <= len(g.fixed); f++ {
		values, some := make([]string, len(g.texts)), false
		for k, s := range g.texts {
			from, to := 0, len(s.words)
			if f > 0 {
				from = at[k][f-1] + 1
			}
			if f < len(g.fixed) {
				to = at[k][f]
			}
			values[k] = s.between(from, to)
			some = some || values[k] != ""
		}
		if some {
			out = append(out, slot{f, values})
		}
	}
	return out
}

// places returns where a text has the fixed words: each as early as it can be.
func (g *proposal) places(s spelled) []int {
	out, j := make([]int, len(g.fixed)), 0
	for i, f := range g.fixed {
		for s.words[j].text != g.first.words[f].text {
			j++
		}
		out[i] = j
		j++
	}
	return out
}

// between returns the words from one to another as they are written, without the
// punctuation around them.
func (s spelled) between(from, to int) string {
	if from >= to {
		return ""
	}
	return string(s.runes[s.words[from].start:s.words[to-1].end])
}

// write writes the template: the first text with variables at the slots.
func (g *proposal) write(slots []slot) Proposal {
	p := Proposal{Members: g.members, Values: map[string][]string{}}
	var b strings.Builder
	var variables []string // a character for each, and how it is written
	text, at, places := g.first, 0, g.places(g.first)
	for i, s := range slots {
		from, to := 0, len(text.words)
		left, right := 0, len(text.runes) // the end of the fixed word before, the start of the one behind
		if s.after > 0 {
			from = places[s.after-1] + 1
			left = text.words[from-1].end
		}
		if s.after < len(g.fixed) {
			to = places[s.after]
			right = text.words[to].start
		}
		before, behind := string(text.runes[left:right]), ""
		if from < to {
			before, behind = string(text.runes[left:text.words[from].start]), string(text.runes[text.words[to-1].end:right])
		}
		name := fmt.Sprintf("v%d", i+1)
		p.Values[name] = s.values
		b.WriteString(string(text.runes[at:left]) + trimGap(before, left > 0, false) + string(rune(sentinel+i)) + trimGap(behind, right < len(text.runes), true))
		at = right
		variables = append(variables, string(rune(sentinel+i)), s.variable(name))
	}
	b.WriteString(string(text.runes[at:]))
	p.Text = Clean(strings.NewReplacer(variables...).Replace(escape(b.String())))
	return p.check(g.texts)
}

// variable writes the slot as a variable.
func (s slot) variable(name string) string {
	if s.empty() {
		return "{{" + name + "|}}"
	}
	return "{{" + name + "}}"
}

// trimGap returns what of the characters between a fixed word and a variable stays: those on
// the side of the word up to the space or comma nearest to the variable. Brackets and weights of
// what the variable stands for go with it. There is something between them at least, if
// there is a word.
func trimGap(gap string, word, behind bool) string {
	separators := " \t\n,;."
	if behind {
		if i := strings.IndexAny(gap, separators); i >= 0 {
			return gap[i:]
		}
	} else if i := strings.LastIndexAny(gap, separators); i >= 0 {
		return gap[:i+1]
	}
	if !word {
		return ""
	}
	return " "
}

// check keeps the members that are renders of the template, which are all but those that
// the template language cannot tell.
func (p Proposal) check(texts []spelled) Proposal {
	t, errs := Parse(p.Text)
	if len(errs) > 0 {
		return Proposal{Text: Clean(escape(string(texts[0].runes))), Members: p.Members[:1], Values: map[string][]string{}}
	}
	m := t.Matcher()
	out := Proposal{Text: p.Text, Values: map[string][]string{}}
	for k, member := range p.Members {
		if len(t.vars) > 0 && !m.Matches(Read(string(texts[k].runes))) {
			continue
		}
		out.Members = append(out.Members, member)
		for name, values := range p.Values {
			out.Values[name] = append(out.Values[name], values[k])
		}
	}
	return out
}

// escape keeps two braces from being read as a variable.
func escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		run := 0
		for i+run < len(text) && text[i+run] == '{' {
			run++
		}
		if run == 2 && (i == 0 || text[i-1] != '\\') && nameFollows(text[i+2:]) {
			b.WriteByte('\\')
		}
		n := max(run, 1)
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

// nameFollows reports whether a text begins like the inside of a variable.
func nameFollows(s string) bool {
	s = strings.TrimLeft(s, " \t")
	for _, r := range s {
		return unicode.IsLetter(r) || r == '_'
	}
	return false
}
