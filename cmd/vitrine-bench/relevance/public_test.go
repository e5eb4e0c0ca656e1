package relevance

import (
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/query"
)

func publicTexts(t *testing.T) *Texts {
	t.Helper()
	var folders [len(TextTools)]string
	for i, name := range TextTools {
		folders[i] = testenv.Tool(t, name)
	}
	return TextsIn(folders)
}

func TestPublic_CollectionsAreDrawnAlikeAndEveryQueryHasAnAnswer(t *testing.T) {
	texts := publicTexts(t)
	first, err := texts.Collections(300, 7)
	if err != nil {
		t.Fatal(err)
	}
	second, err := texts.Collections(300, 7)
	if err != nil {
		t.Fatal(err)
	}
	halves := map[string]int{}
	for i, set := range first {
		if len(set.assets) < 300 || len(set.Queries) < 50 {
			t.Errorf("collection %d has %d documents and %d queries", i, len(set.assets), len(set.Queries))
		}
		for n, q := range set.Queries {
			halves[q.Class+q.Half]++
			if !strings.ContainsAny(string(set.grades[n]), string([]byte{best})) {
				t.Errorf("%s: nothing answers %q", q.Class, q.Text)
			}
			if other := second[i].Queries[n]; other.Text != q.Text {
				t.Errorf("the same seed drew %q and %q", q.Text, other.Text)
			}
		}
	}
	if len(halves) != 2*len(Public) {
		t.Errorf("queries of %d classes and halves, want %d: %v", len(halves), 2*len(Public), halves)
	}
}

// TestPublic_LeavingWordsOutKeepsATellingOne leaves words out of the definitions of
// WordNet, counted as a library of them would.
func TestPublic_LeavingWordsOutKeepsATellingOne(t *testing.T) {
	synsets, err := readSynsets(publicTexts(t).WordNet)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int64{}
	words := func(s synset) []string { return strings.Fields(strings.ToLower(typedWords(s.definition))) }
	for _, s := range synsets {
		for _, w := range words(s) {
			count[strings.Trim(w, ".,;?!")]++
		}
	}
	asked := 0
	for i, s := range synsets {
		if i%7 != 0 || len(words(s)) < minQuery {
			continue
		}
		question := append(strings.Fields("what is the best picture of"), words(s)...)
		question[len(question)-1] += "?"
		counts, rarest := make([]int64, len(question)), int64(1<<40)
		for j, w := range question {
			if counts[j] = count[strings.Trim(w, ".,;?!")]; !query.IsWeakWord(w) && counts[j] > 0 {
				rarest = min(rarest, counts[j])
			}
		}
		steps := query.LeftOutSteps(question, counts)
		if rarest == 1<<40 {
			continue // nothing but words that fit anything
		}
		asked++
		left := map[string]bool{}
		for _, w := range steps[len(steps)-1] {
			left[w] = true
		}
		for j, w := range question {
			if !left[w] && (query.IsWeakWord(w) || counts[j] > rarest) {
				t.Errorf("%q keeps %s, which %d have; the rarest has %d", question, w, counts[j], rarest)
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d questions", asked)
	}
}
