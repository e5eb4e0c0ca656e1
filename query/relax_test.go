package query

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeftOutSteps_GrammarGoesFirstThenWhatIsNowhereThenTheMostFrequent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words  string
		counts []int64
		want   string
	}{
		{"the best picture of a fox", []int64{90, 50, 20, 80, 70, 10}, "the of a | the best picture of a"},
		{"what is the best picture of a fox?", []int64{9, 90, 90, 50, 20, 80, 70, 10}, "what is the best picture of a"},
		{"best picture of a wyvern", []int64{50, 20, 80, 70, 0}, ""},
		{"best picture", []int64{50, 20}, "best"},
		{"red xyzzy fox", []int64{30, 0, 10}, "xyzzy | red xyzzy"},
		{"a xyzzy fox", []int64{30, 0, 10}, "a | a xyzzy"},
		{"red fox", []int64{10, 30}, "fox"},
		{"red fox", []int64{10, 10}, "red"},
		{"xyzzy plugh", []int64{0, 0}, ""},
		{"xyzzy fox", []int64{0, 1}, "xyzzy"},
		{"to be or not", []int64{9, 8, 7, 6}, "to | to be | to be or"},
		{"the xyzzy", []int64{9, 0}, ""},
		{"fox", []int64{3}, ""},
	} {
		var got []string
		for _, step := range LeftOutSteps(strings.Fields(c.words), c.counts) {
			got = append(got, strings.Join(step, " "))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " | ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.words, diff)
		}
	}
	words, counts := make([]string, 200), make([]int64, 200)
	for i := range words {
		words[i], counts[i] = strings.Repeat("x", i+1), int64(i+1)
	}
	steps := LeftOutSteps(words, counts)
	if n := len(steps); n < 8 || n > mostSteps+1 || len(steps[n-1]) != 199 {
		t.Errorf("200 words have %d steps, the last of %d words", n, len(steps[n-1]))
	}
}

func TestSearch_RelaxableWordsStandBesideOtherText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"red fox": "red fox", "fox": "", "fox tag:x": "", "red fox tag:x": "red fox", `red "old fox"`: "red", `"old fox"`: "", "red OR fox": "",
		"red fox OR blue dog": "red fox blue dog", "red (fox OR dog)": "red", "red -(old fox)": "", "red -fox": "", "red fox red": "red fox", "re* fox": "fox",
	} {
		for _, mode := range Modes {
			s, err := Compile(parsed(t, text), Request{Tenant: tenantA, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			want := want
			if mode != Smart && mode != FullText {
				want = ""
			}
			if got := strings.Join(s.Relaxable(), " "); got != want {
				t.Errorf("%s %q: %q may be left out, want %q", mode, text, got, want)
			}
			if len(s.CountRelaxable()) != len(s.Relaxable())+1 {
				t.Errorf("%s %q: %d counts for %d words", mode, text, len(s.CountRelaxable()), len(s.Relaxable()))
			}
		}
	}
}

func TestSearch_CandidatesHaveAnyWordAndSayWhichHaveAll(t *testing.T) {
	t.Parallel()
	for text, all := range map[string]bool{"fox": true, "fox tag:x": true, "red OR fox": true, "red fox": false, "red fox tag:x": false} {
		s, err := Compile(parsed(t, text), Request{Tenant: tenantA})
		if err != nil {
			t.Fatal(err)
		}
		s = s.Weigh(TermWeights{Weights: []float64{3, 2}})
		c, same := s.Candidates()
		body, _ := json.Marshal(c.Query)
		if same != all || strings.Contains(string(body), ByWords) == all {
			t.Errorf("%q: all candidates match: %v, want %v: %s", text, same, all, body)
		}
		if !all && !strings.Contains(string(body), `"boost":3`) {
			t.Errorf("%q: candidates are ranked without the weights: %s", text, body)
		}
	}
	var long []string
	for i := range 130 {
		long = append(long, fmt.Sprintf("w%d_x", i))
	}
	s, err := Compile(parsed(t, strings.Join(long, " ")), Request{Tenant: tenantA})
	if err != nil {
		t.Fatalf("a query that the index takes is refused for its candidates: %v", err)
	}
	if _, same := s.Candidates(); !same {
		t.Errorf("a query of %d compounds has candidates that are too many clauses", len(long))
	}
}
