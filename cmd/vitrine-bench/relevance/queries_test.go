package relevance

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueries_TheSameSeedGivesTheSameSet(t *testing.T) {
	a, b, other := Generate(400, 70, 5, 7), Generate(400, 70, 5, 7), Generate(400, 70, 5, 8)
	texts := func(s *Set) (list []string) {
		for i, q := range s.Queries {
			list = append(list, q.Half+q.Class+q.Text+string(s.grades[i]))
		}
		for _, a := range s.assets {
			list = append(list, string(a.hash)+a.title+a.prompt+a.filename)
		}
		return list
	}
	if diff := cmp.Diff(texts(a), texts(b)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(texts(a), texts(other)) {
		t.Error("another seed gives the same set")
	}
}

func TestQueries_EveryClassIsAskedAndAnswered(t *testing.T) {
	s := Generate(600, 140, 10, 1)
	count := map[string]int{}
	for i, q := range s.Queries {
		count[q.Half+": "+q.Class]++
		if slices.Max(s.grades[i]) != best {
			t.Errorf("no asset answers %q (%s)", q.Text, q.Class)
		}
	}
	for _, half := range []string{Open, HeldOut} {
		for _, class := range Judged {
			if n := count[half+": "+class]; n != 20 {
				t.Errorf("%s: %d queries of %s instead of 20", half, n, class)
			}
		}
		for _, class := range slices.Concat(Slips, Known, Exact) {
			if n := count[half+": "+class]; n != 10 {
				t.Errorf("%s: %d queries of %s instead of 10", half, n, class)
			}
		}
	}
}

func TestQueries_GradesAreTheShareOfWhatIsAskedFor(t *testing.T) {
	cat, red, forest, snow := &concept{}, &concept{kind: "a"}, &concept{kind: "b"}, &concept{kind: "c"}
	s := &Set{}
	q := func(want ...*concept) *Query { return &Query{known: -1, want: want} }
	shows := func(list ...*concept) *asset {
		return &asset{scene: list, tags: []string{"x"}, prompt: "p", tool: "ComfyUI"}
	}
	for name, c := range map[string]struct {
		q    *Query
		a    *asset
		want uint8
	}{
		"all of three":     {q(cat, red, forest), shows(forest, red, cat, snow), 3},
		"two of three":     {q(cat, red, forest), shows(red, cat), 2},
		"one of three":     {q(cat, red, forest), shows(red), 1},
		"one of two":       {q(cat, red), shows(cat), 1},
		"one of four":      {q(cat, red, forest, snow), shows(cat), 0},
		"none":             {q(cat), shows(red), 0},
		"excluded":         {&Query{known: -1, want: scene{cat}, without: scene{snow}}, shows(cat, snow), 0},
		"filtered out":     {&Query{known: -1, want: scene{cat}, Conditions: []condition{{"tag", "=", "y"}}}, shows(cat), 0},
		"not filtered out": {&Query{known: -1, want: scene{cat}, Conditions: []condition{{"tag", "=", "x"}, {"tool", "=", "comfyui"}}}, shows(cat), 3},
	} {
		if got := s.grade(c.q, c.a); got != c.want {
			t.Errorf("%s: grade %d instead of %d", name, got, c.want)
		}
	}
}

func TestQueries_SlipsMistypeOneWordByOneKey(t *testing.T) {
	s := Generate(600, 140, 30, 3)
	for _, q := range s.of(ClassTypo, ClassSlip).Queries {
		was, is := strings.Fields(q.Intended), strings.Fields(q.Text)
		wrong := 0
		for i := range was {
			if was[i] != is[i] {
				wrong++
				if d := len(was[i]) - len(is[i]); d < -1 || d > 1 || was[i][0] != is[i][0] || isWord[is[i]] {
					t.Errorf("%q was mistyped as %q", was[i], is[i])
				}
			}
		}
		if wrong != 1 {
			t.Errorf("%q has %d words mistyped in %q", q.Intended, wrong, q.Text)
		}
	}
}

func TestQueries_SynonymsAvoidTheUsualWord(t *testing.T) {
	s := Generate(600, 140, 5, 1)
	for _, q := range s.of(ClassSynonym).Queries {
		for _, c := range q.want {
			if !slices.ContainsFunc(c.english[1:], func(w string) bool { return strings.Contains(q.Text, w) }) {
				t.Errorf("%q does not say %q in other words", q.Text, c.usual())
			}
		}
	}
}
