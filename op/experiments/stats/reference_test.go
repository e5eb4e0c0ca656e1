package stats_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/op/experiments/stats"
)

// reference asks the Python packages krippendorff, scipy and choix.
type reference struct {
	questions []string
	checks    []func(answer json.RawMessage)
}

func (r *reference) ask(t *testing.T, question map[string]any, check func(json.RawMessage)) {
	t.Helper()
	q, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	r.questions, r.checks = append(r.questions, string(q)), append(r.checks, check)
}

func (r *reference) run(t *testing.T) {
	t.Helper()
	c := exec.CommandContext(t.Context(), testenv.Tool(t, "statistics"), filepath.Join("testdata", "reference.py"))
	c.Stdin = strings.NewReader(strings.Join(r.questions, "\n"))
	var problems strings.Builder
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answers) != len(r.checks) {
		t.Fatalf("%d answers to %d questions", len(answers), len(r.checks))
	}
	for i, check := range r.checks {
		check(json.RawMessage(answers[i]))
	}
}

func decode[T any](t *testing.T, answer json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return v
}

// TestStats_AgreeWithKrippendorffScipyAndChoix compares random data with the packages of
// others: alpha with krippendorff; the test of groups and the bootstrap with scipy; rankings
// without ties with choix, rankings with ties with a general optimizer of scipy.
func TestStats_AgreeWithKrippendorffScipyAndChoix(t *testing.T) {
	var ref reference
	for _, seed := range append([]uint64{1, 2, 3}, randtest.Seeds(t)...) {
		r := rand.New(rand.NewPCG(seed, 7))
		for range 5 {
			askAlpha(t, &ref, r)
			askGroups(t, &ref, r)
		}
		askBootstrap(t, &ref, r)
		askRanking(t, &ref, r, false)
		askRanking(t, &ref, r, true)
	}
	ref.run(t)
}

func askAlpha(t *testing.T, ref *reference, r *rand.Rand) {
	raters, n := 2+r.IntN(4), 3+r.IntN(20)
	rows, units := make([][]any, raters), make([][]int, n)
	for i := range raters {
		for u := range n {
			if r.IntN(3) == 0 {
				rows[i] = append(rows[i], nil)
				continue
			}
			v := 1 + r.IntN(5)
			if r.IntN(2) == 0 {
				v = 1 + u%5
			}
			rows[i], units[u] = append(rows[i], v), append(units[u], v)
		}
	}
	got, ok := stats.OrdinalAlpha(units)
	if !ok {
		return
	}
	ref.ask(t, map[string]any{"kind": "alpha", "ratings": rows}, func(answer json.RawMessage) { near(t, "alpha", got.Alpha, decode[float64](t, answer), 1e-9) })
}

func askGroups(t *testing.T, ref *reference, r *rand.Rand) {
	groups := make([][]float64, 2+r.IntN(4))
	for i := range groups {
		for range 1 + r.IntN(12) {
			groups[i] = append(groups[i], float64(1+r.IntN(9)+i)/2)
		}
	}
	got, ok := stats.KruskalWallis(groups)
	if !ok {
		return
	}
	ref.ask(t, map[string]any{"kind": "kruskal", "groups": groups}, func(answer json.RawMessage) {
		want := decode[struct{ H, P, Permuted float64 }](t, answer)
		near(t, "H", got.H, want.H, 1e-9)
		near(t, "p", got.PChi2, want.P, 1e-9)
		if got.Permuted() {
			near(t, "p of permutations", got.PPermutation, want.Permuted, 0.03)
		}
	})
}

func askBootstrap(t *testing.T, ref *reference, r *rand.Rand) {
	var values []float64
	for range 8 + r.IntN(20) {
		values = append(values, float64(2+r.IntN(9))/2)
	}
	got, ok := stats.BootstrapMean(values)
	if !ok {
		t.Errorf("no interval of %v", values)
	}
	ref.ask(t, map[string]any{"kind": "bootstrap", "values": values}, func(answer json.RawMessage) {
		want := decode[struct{ Low, High float64 }](t, answer)
		near(t, fmt.Sprintf("the lower end of %v", values), got.Low, want.Low, 0.12)
		near(t, fmt.Sprintf("the upper end of %v", values), got.High, want.High, 0.12)
	})
}

func askRanking(t *testing.T, ref *reference, r *rand.Rand, ties bool) {
	n := 3 + r.IntN(6)
	list := []stats.Comparison{{A: 0, B: n - 1, Won: 0}}
	for i := range n - 1 { // each leads to the next, so all are connected
		list = append(list, stats.Comparison{A: i, B: i + 1, Won: i + 1})
	}
	for range r.IntN(40) {
		a := r.IntN(n)
		b := (a + 1 + r.IntN(n-1)) % n
		list = append(list, stats.Comparison{A: a, B: b, Won: []int{a, b, max(a, b)}[r.IntN(3)]})
		if ties && r.IntN(3) == 0 {
			list[len(list)-1].Won = stats.Tie
		}
	}
	if ties {
		list = append(list, stats.Comparison{A: 0, B: 1, Won: stats.Tie})
	}
	if r.IntN(2) == 0 { // nobody beats the last one: needs the prior
		for i := range list {
			if list[i].A == n-1 || list[i].B == n-1 {
				list[i].Won = n - 1
			}
		}
	}
	g := stats.Rank(n, list).Groups[0]
	weight := 0.0
	if g.Regularized {
		weight = 0.5
	}
	question := map[string]any{"kind": "bradley-terry", "n": n, "weight": weight}
	var wins, comparisons [][]int
	for _, c := range list {
		wins, comparisons = append(wins, []int{c.Won, c.A + c.B - c.Won}), append(comparisons, []int{c.A, c.B, c.Won})
	}
	question["wins"] = wins
	if ties {
		question["kind"], question["comparisons"] = "davidson", comparisons
	}
	ref.ask(t, question, func(answer json.RawMessage) {
		want := decode[struct {
			Theta []float64
			Tie   float64
		}](t, answer)
		for _, s := range g.Items {
			near(t, fmt.Sprintf("strength %d of %v", s.Item, list), s.LogStrength, want.Theta[s.Item], 1e-4)
		}
		if ties {
			near(t, "the share of ties", g.TieRatio, want.Tie, 1e-4*(1+want.Tie))
		}
	})
}
