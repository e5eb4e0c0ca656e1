package relevance

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The classes of queries.
const (
	ClassTags      = "tags"
	ClassSentence  = "sentence"
	ClassSynonym   = "synonym"
	ClassTypo      = "typo"
	ClassCJK       = "Chinese and Japanese"
	ClassFilter    = "filter and text"
	ClassExclusion = "exclusion"

	ClassSlip = "one word with a slip"

	ClassHalf       = "half a prompt"
	ClassShuffled   = "a prompt's words shuffled"
	ClassParaphrase = "a prompt in other words"

	ClassID       = "asset_h"
	ClassTitle    = "title"
	ClassFilename = "file name"
)

// Judged, Slips, Known and Exact are the classes in the order of the report: with
// grades; with grades and nothing but a slip; for one known asset; and for the
// whole of a name.
var (
	Judged = []string{ClassTags, ClassSentence, ClassSynonym, ClassTypo, ClassCJK, ClassFilter, ClassExclusion}
	Slips  = []string{ClassSlip}
	Known  = []string{ClassHalf, ClassShuffled, ClassParaphrase}
	Exact  = []string{ClassID, ClassTitle, ClassFilename}
)

// The halves of the set: weights are chosen on the open one and judged on the other.
const (
	Open    = "open"
	HeldOut = "held out"
)

// Query is one query with all that is needed to ask it anywhere and to judge the
// answer.
type Query struct {
	Class string
	Half  string
	Text  string // as it is typed into the product, with filters and exclusions

	// The same for engines without the product's language.
	Words      string
	Excluded   []string // words that must not occur
	Conditions []condition

	Intended string // what a query with a slip was meant to be; else ""

	want, without []*concept
	known         int // the asset looked for; -1 in judged classes
}

// condition is a filter that every engine expresses in its own way.
type condition struct {
	field, relation, value string // tool, status, tag, width or created; = or >=
}

// holds reports whether an asset fulfils it.
func (c condition) holds(a *asset) bool {
	switch c.field {
	case "tool":
		return a.prompt != "" && strings.EqualFold(a.tool, c.value)
	case "status":
		return string(a.status) == c.value
	case "tag":
		return slices.Contains(a.tags, c.value)
	case "width":
		return fmt.Sprintf("%05d", a.width) >= c.value
	}
	return a.created.Format("2006-01-02") >= c.value
}

// typed is the condition in the product's language.
func (c condition) typed() string {
	if c.relation == "=" {
		return c.field + ":" + c.value
	}
	return c.field + ":>=" + strings.TrimLeft(c.value, "0")
}

// Set is a library with queries and, for each query, the grade of every asset.
type Set struct {
	Queries []*Query
	assets  []*asset
	grades  [][]uint8
}

// Generate draws a set: a library, and per half so many judged queries and so many
// searches of each kind for a known asset. The halves ask for different assets.
func Generate(count, queries, known int, seed uint64) *Set {
	s := &Set{assets: drawAssets(rand.New(rand.NewPCG(seed, 1)), count)}
	for h, half := range []string{Open, HeldOut} {
		r := rand.New(rand.NewPCG(seed, uint64(2+h)))
		w := &writer{Rand: r, set: s, half: half, parity: h, asked: map[string]bool{}}
		for i := range queries {
			w.add(Judged[i%len(Judged)])
		}
		for _, class := range slices.Concat(Slips, Known, Exact) {
			for range known {
				w.add(class)
			}
		}
	}
	s.grades = make([][]uint8, len(s.Queries))
	for i, q := range s.Queries {
		s.grades[i] = make([]uint8, len(s.assets))
		for n, a := range s.assets {
			s.grades[i][n] = s.grade(q, a)
		}
	}
	return s
}

// of returns the set with the queries of some classes alone; none means all.
func (s *Set) of(classes ...string) *Set {
	if len(classes) == 0 {
		return s
	}
	part := &Set{assets: s.assets}
	for i, q := range s.Queries {
		if slices.Contains(classes, q.Class) {
			part.Queries, part.grades = append(part.Queries, q), append(part.grades, s.grades[i])
		}
	}
	return part
}

// writer writes the queries of one half.
type writer struct {
	*rand.Rand
	set    *Set
	half   string
	parity int
	asked  map[string]bool
}

// attempts bounds how often an asset is drawn for a query that few assets allow.
const attempts = 2000

// add writes a query of a class about an asset of this half. A library that allows
// none, because it is small, has one query less.
func (w *writer) add(class string) {
	for range attempts {
		n := w.IntN(len(w.set.assets)/2)*2 + w.parity
		q := &Query{Class: class, Half: w.half, known: -1}
		if w.write(q, n) && !w.asked[class+q.Text] {
			w.asked[class+q.Text] = true
			w.set.Queries = append(w.set.Queries, q)
			return
		}
	}
}

// write writes a query that the n-th asset answers, unless it allows none.
func (w *writer) write(q *Query, n int) bool {
	a := w.set.assets[n]
	if slices.Contains(Known, q.Class) || slices.Contains(Exact, q.Class) {
		q.known = n
		return w.writeKnown(q, a)
	}
	if (a.language != english) != (q.Class == ClassCJK) || a.prompt == "" {
		return false
	}
	size := 2 + w.IntN(2)
	switch q.Class {
	case ClassTags:
		size = 2 + w.IntN(3)
	case ClassSentence:
		size = 3 + w.IntN(2)
	case ClassExclusion:
		size = 2
	}
	q.want = append(scene{a.scene[0]}, some(w.Rand, a.scene[1:], size-1)...)
	if q.Class == ClassSlip {
		q.want = some(w.Rand, a.scene, 1)
		q.Words = q.want[0].usual()
		return !strings.Contains(q.Words, " ") && w.slip(q)
	}
	if len(q.want) < size {
		return false
	}
	return w.phrase(q, a)
}

// phrase puts what a query wants into words.
func (w *writer) phrase(q *Query, a *asset) bool {
	list := make([]string, len(q.want))
	for i, c := range q.want {
		list[i] = c.usual()
		switch {
		case q.Class == ClassCJK:
			list[i] = c.in(a.language)
		case q.Class == ClassSynonym:
			list[i] = pick(w.Rand, c.english[1:]...)
		case q.Class == ClassTags && w.IntN(3) == 0:
			list[i] = strings.ReplaceAll(list[i], " ", "_")
		}
	}
	q.Words = strings.Join(list, " ")
	switch q.Class {
	case ClassTags:
		q.Words = strings.Join(list, pick(w.Rand, ", ", " "))
	case ClassSentence:
		q.Words = w.sentence(q.want)
	case ClassTypo:
		return w.slip(q)
	case ClassFilter:
		return w.filter(q, a)
	case ClassExclusion:
		return w.exclude(q, a)
	}
	q.Text = q.Words
	return true
}

// sentence asks as one would ask a person.
func (w *writer) sentence(want scene) string {
	var b strings.Builder
	b.WriteString(pick(w.Rand, "a picture of", "show me", "looking for", "an image with") + " a " + word(w.Rand, want[0]))
	for _, c := range want[1:] {
		b.WriteString(map[string]string{"attribute": pick(w.Rand, " who has ", " with "), "style": pick(w.Rand, " done as ", " made in the manner of "),
			"setting": pick(w.Rand, " at the ", " in the "), "light": pick(w.Rand, " at ", " in "), "mood": " that feels "}[c.kind] + word(w.Rand, c))
	}
	return b.String()
}

// filter adds conditions that the asset fulfils.
func (w *writer) filter(q *Query, a *asset) bool {
	all := []condition{{"tool", "=", strings.ToLower(a.tool)}, {"status", "=", string(a.status)},
		{"width", ">=", fmt.Sprintf("%05d", a.width)}, {"created", ">=", a.created.AddDate(0, 0, -w.IntN(200)).Format("2006-01-02")}}
	for _, t := range a.tags {
		if slices.Contains(shelves, t) {
			all = append(all, condition{"tag", "=", t})
		}
	}
	q.Conditions = some(w.Rand, all, 1+w.IntN(2))
	typed := make([]string, len(q.Conditions))
	for i, c := range q.Conditions {
		typed[i] = c.typed()
	}
	q.Text = pick(w.Rand, q.Words+" "+strings.Join(typed, " "), strings.Join(typed, " ")+" "+q.Words)
	return true
}

// exclude adds something that other answers show and the asset does not.
func (w *writer) exclude(q *Query, a *asset) bool {
	for range attempts {
		other := w.set.assets[w.IntN(len(w.set.assets))]
		if c := pick(w.Rand, other.scene[1:]...); other.scene.has(q.want[1]) && !a.scene.has(c) {
			q.without, q.Excluded = []*concept{c}, []string{c.usual()}
			q.Text = q.Words + " -" + c.usual()
			if strings.Contains(c.usual(), " ") {
				q.Text = q.Words + ` -"` + c.usual() + `"`
			}
			return true
		}
	}
	return false
}

// wordPattern finds the words of a prompt with their weights' numbers left out.
var wordPattern = regexp.MustCompile(`[\p{L}][\p{L}\p{N}_'-]*`)

// writeKnown writes a search for one asset: by what is remembered of its prompt,
// or by the whole of a name.
func (w *writer) writeKnown(q *Query, a *asset) bool {
	words := wordPattern.FindAllString(a.prompt, -1)
	remembered := a.prompt != "" && a.language == english && len(words) >= 6
	switch q.Class {
	case ClassID:
		q.Text = string(a.hash)
	case ClassTitle:
		q.Text = a.title
	case ClassFilename:
		q.Text = a.filename
	case ClassHalf:
		from := w.IntN(2) * (len(a.prompt) / 2)
		if remembered {
			q.Text = wholeWords(a.prompt, from, from+len(a.prompt)/2)
		}
	case ClassShuffled:
		if remembered {
			q.Text = strings.Join(some(w.Rand, words, len(words)), " ")
		}
	case ClassParaphrase:
		if remembered {
			q.Text = strings.TrimSuffix(writeSentence(w.Rand, a.scene), ".")
		}
	}
	q.Words = q.Text
	return q.Text != "" && utf8.RuneCountInString(q.Text) < 400
}

// wholeWords cuts a piece out of a text without cutting a word.
func wholeWords(text string, from, to int) string {
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	return strings.TrimSpace(text[from:to])
}

// grade returns how well an asset answers a query: 3 for everything that is asked
// for, down to 0 for less than a third of it. What is excluded or filtered out
// answers nothing. To those who remember a prompt, other pictures of the very same
// scene are as good as the one they look for.
func (s *Set) grade(q *Query, a *asset) uint8 {
	if q.known >= 0 {
		target := s.assets[q.known]
		if a == target || slices.Contains(Known, q.Class) && slices.Equal(a.scene, target.scene) {
			return best
		}
		return 0
	}
	for _, c := range q.Conditions {
		if !c.holds(a) {
			return 0
		}
	}
	for _, c := range q.without {
		if a.scene.has(c) {
			return 0
		}
	}
	shown := 0
	for _, c := range q.want {
		if a.scene.has(c) {
			shown++
		}
	}
	return uint8(best * shown / len(q.want))
}

// best is the highest grade.
const best = 3
