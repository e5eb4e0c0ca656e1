package library_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vitrine/library"
)

func TestCollectionLabel_KeepsLatinLettersAndDigits(t *testing.T) {
	for name, want := range map[string]string{
		"Neon Street!": "neonstreet", "  Ünïcode Straße 7 ": "unicodestrasse7", "Łódź": "lodz", "夜景 2": "2", "ﬁnal": "final", "a.b/c": "abc",
		"": "", " \t ": "", "\u200b": "",
	} {
		if got := library.CollectionLabel(name); got != want {
			t.Errorf("%q has the label %q, not %q", name, got, want)
		}
	}
	night, day := library.CollectionLabel("夜景"), library.CollectionLabel("朝")
	if night == day || len(night) != 13 || night[0] != 'x' || library.CollectionLabel(" 夜景 ") != night {
		t.Errorf("names without Latin letters have the labels %q and %q", night, day)
	}
	if got := library.CollectionLabel(strings.Repeat("long", 100)); len(got) != library.MaxCollectionName {
		t.Errorf("a long name has a label of %d characters", len(got))
	}
}

func TestCollectionPath_NormalizesEachPart(t *testing.T) {
	for path, want := range map[string]string{"Portfolio.Neon Street": "portfolio.neonstreet", "/a/B/": "a.b", "a/b": "a.b", "a..b": "", "夜景.x": library.CollectionLabel("夜景") + ".x"} {
		if got := library.CollectionPath(path); got != want {
			t.Errorf("%q is %q, not %q", path, got, want)
		}
	}
}

// TestRanks_AlwaysFindPlacesBetween inserts at random places for long, and keeps inserting
// at one place, which is the worst case.
func TestRanks_AlwaysFindPlacesBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var order []string
	insert := func(at, n int) {
		lo, hi := "", ""
		if at > 0 {
			lo = order[at-1]
		}
		if at < len(order) {
			hi = order[at]
		}
		order = slices.Insert(order, at, library.Ranks(lo, hi, n)...)
	}
	for range 3000 {
		insert(r.IntN(len(order)+1), 1+r.IntN(4))
	}
	for range 500 {
		insert(0, 1)
		insert(len(order), 1)
		insert(len(order)/2, 3)
	}
	insert(17, 20_000)
	longest := 0
	for i, rank := range order {
		if i > 0 && order[i-1] >= rank {
			t.Fatalf("%q is not before %q", order[i-1], rank)
		}
		if len(rank) < 12 || len(rank) > 12 && strings.HasSuffix(rank, "0") || strings.Trim(rank, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			t.Fatalf("%q is no rank", rank)
		}
		longest = max(longest, len(rank))
	}
	t.Logf("%d ranks, the longest has %d characters", len(order), longest)
	if longest > 400 {
		t.Errorf("a rank has %d characters", longest)
	}
	if library.Ranks("i00000000001", "i00000000001", 1) != nil {
		t.Error("there is no rank between equal ones")
	}
}
