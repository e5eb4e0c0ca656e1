package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/prompt"
)

// library is a set of templates as uploads are compared with it.
type promptLibrary struct {
	matchers map[int64][]*prompt.Matcher
	of       map[*prompt.Matcher]int
}

// renders returns which templates a text is a render of: those with the most fixed words.
func (l promptLibrary) renders(text string) (list []int) {
	p := prompt.Read(text)
	most := 0
	for _, a := range p.Anchors() {
		for _, m := range l.matchers[a] {
			if m.FixedWords() < most || !m.Matches(p) {
				continue
			}
			if m.FixedWords() > most {
				most, list = m.FixedWords(), nil
			}
			list = append(list, l.of[m])
		}
	}
	return list
}

// drawnPrompts are templates, the words that they consist of and those that fill their variables.
type drawnPrompts struct {
	r             *rand.Rand
	fixed, values []string
	templates     []*prompt.Template
	library       promptLibrary
}

// TestMatcher_FindsRendersAmongManyOtherPrompts compares renders of 200 templates, written as
// tools and people write them, and other prompts, a third of them almost renders, with all
// templates. VITRINE_RANDOM_FACTOR=5 makes it 2,000 renders among 100,000 others.
func TestMatcher_FindsRendersAmongManyOtherPrompts(t *testing.T) {
	r := rand.New(rand.NewPCG(randtest.Fresh(t), 9))
	d := &drawnPrompts{r: r, library: promptLibrary{matchers: map[int64][]*prompt.Matcher{}, of: map[*prompt.Matcher]int{}}}
	for i := range 600 {
		d.fixed, d.values = append(d.fixed, fmt.Sprintf("w%c%c%d", 'a'+i%26, 'a'+i/26, i%7)), append(d.values, fmt.Sprintf("v%c%c", 'a'+i%26, 'a'+i/26))
	}
	d.drawTemplates(t, 200)
	found, wrong, others := 0, 0, randtest.Cases(t, 20_000)
	renders := others / 50
	for n := range renders {
		i := n % len(d.templates)
		switch got := d.library.renders(disguise(r, d.render(t, i))); {
		case slices.Equal(got, []int{i}):
			found++
		case len(got) > 0:
			wrong++
		}
	}
	var spent time.Duration
	for n := range others {
		text := strings.Join(d.words(slices.Concat(d.fixed, d.values), 5+r.IntN(70)), " ")
		if n%3 == 0 { // a render without one of its words
			list := strings.Fields(d.render(t, r.IntN(len(d.templates))))
			i := r.IntN(len(list))
			for list[i][0] != 'w' {
				i = (i + 1) % len(list)
			}
			text = strings.Join(slices.Replace(list, i, i+1, pickWord(r)...), " ")
		}
		begin := time.Now()
		if got := d.library.renders(disguise(r, text)); len(got) > 0 {
			wrong++
			t.Logf("%q is taken for a render of %q", text, d.templates[got[0]].Text())
		}
		spent += time.Since(begin)
	}
	t.Logf("%d of %d renders found, %d false links among %d others, %v per prompt", found, renders, wrong, others, spent/time.Duration(others))
	if float64(found) < 0.98*float64(renders) || wrong > 0 {
		t.Errorf("%d of %d renders found, %d false links", found, renders, wrong)
	}
}

// words draws words, some of them often.
func (d *drawnPrompts) words(from []string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = from[int(float64(len(from))*d.r.Float64()*d.r.Float64())]
	}
	return list
}

// drawTemplates draws templates with up to three variables, and adds them to the library.
func (d *drawnPrompts) drawTemplates(t *testing.T, n int) {
	t.Helper()
	r, l := d.r, d.library
	for i := range n {
		list := d.words(d.fixed, 4+r.IntN(20))
		slices.Sort(list)
		list = slices.Compact(list)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for v := range 1 + r.IntN(3) {
			list = slices.Insert(list, r.IntN(len(list)+1), fmt.Sprintf("{{x%d}}", v))
		}
		template := parse(t, strings.Join(list, []string{" ", ", "}[r.IntN(2)]))
		d.templates = append(d.templates, template)
		if m := template.Matcher(); m.FixedWords() >= prompt.MinFixedWords {
			a, _ := m.Anchor()
			l.matchers[a] = append(l.matchers[a], m)
			l.of[m] = i
		}
	}
}

// render renders a template with words for its variables.
func (d *drawnPrompts) render(t *testing.T, i int) string {
	t.Helper()
	given := map[string]any{}
	for _, v := range d.templates[i].Variables() {
		given[v.Name] = strings.Join(d.words(d.values, 1+d.r.IntN(6)), " ")
	}
	text, _, errs := d.templates[i].Render(given)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return text
}

// pickWord is nothing, or a word that no template has.
func pickWord(r *rand.Rand) []string {
	if r.IntN(2) == 0 {
		return nil
	}
	return []string{"zzqx"}
}
