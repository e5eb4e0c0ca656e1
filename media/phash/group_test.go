package phash

import (
	"math/rand/v2"
	"slices"
	"testing"

	"vitrine/internal/randtest"
)

// flip changes n different bits of a hash.
func flip(r *rand.Rand, h Hash, n int) Hash {
	for _, bit := range r.Perm(64)[:n] {
		h ^= 1 << bit
	}
	return h
}

// TestGroup_FindsEveryPairWithinTheDistance compares with all pairs: whatever is near
// something is in a group, and within the distance of its group's first member.
func TestGroup_FindsEveryPairWithinTheDistance(t *testing.T) {
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 40 {
			distance := r.IntN(MaxDistance + 1)
			var hashes []Hash
			for range 1 + r.IntN(60) {
				h := Hash(r.Uint64())
				hashes = append(hashes, h)
				for range r.IntN(6) {
					hashes = append(hashes, flip(r, h, r.IntN(distance+3)))
				}
			}
			r.Shuffle(len(hashes), func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
			check(t, hashes, distance)
		}
	}
}

func check(t *testing.T, hashes []Hash, distance int) {
	t.Helper()
	groupOf := map[int]int{}
	for g, group := range Group(hashes, distance, nil) {
		if len(group) < 2 {
			t.Fatalf("a group has %d members", len(group))
		}
		for _, i := range group {
			if _, twice := groupOf[i]; twice {
				t.Fatalf("%d is in two groups", i)
			}
			if groupOf[i] = g; hashes[i].Distance(hashes[group[0]]) > distance {
				t.Fatalf("%d is %d from the first of its group, more than %d", i, hashes[i].Distance(hashes[group[0]]), distance)
			}
		}
	}
	for i := range hashes {
		for j := range i {
			_, a := groupOf[i]
			_, b := groupOf[j]
			if hashes[i].Distance(hashes[j]) <= distance && !a && !b {
				t.Fatalf("%x and %x are %d apart and in no group (distance %d)", hashes[i], hashes[j], hashes[i].Distance(hashes[j]), distance)
			}
		}
	}
}

func TestGroup_AChainOfSmallDifferencesJoinsNothingFarApart(t *testing.T) {
	var chain []Hash
	for i := range 60 {
		chain = append(chain, Hash(1)<<i-1)
	}
	for _, group := range Group(chain, 6, nil) {
		for _, i := range group {
			if d := chain[i].Distance(chain[group[0]]); d > 6 {
				t.Errorf("%d is %d away", i, d)
			}
		}
		if len(group) > 13 {
			t.Errorf("a group has %d members", len(group))
		}
	}
}

func TestGroup_EqualHashesAreOneGroupHoweverMany(t *testing.T) {
	groups := Group(slices.Repeat([]Hash{7}, 200_000), 6, nil)
	if len(groups) != 1 || len(groups[0]) != 200_000 || groups[0][0] != 0 {
		t.Errorf("there are %d groups", len(groups))
	}
}

// million returns hashes of which a tenth are copies of others with up to six bits changed.
func million() []Hash {
	r := rand.New(rand.NewPCG(1, 2))
	hashes := make([]Hash, 1_000_000)
	for i := range hashes {
		if hashes[i] = Hash(r.Uint64()); i%10 == 9 {
			hashes[i] = flip(r, hashes[r.IntN(i)], r.IntN(7))
		}
	}
	return hashes
}

// BenchmarkGroup_AMillionHashesAtDistanceSix also reports how many of the planted copies
// are grouped.
func BenchmarkGroup_AMillionHashesAtDistanceSix(b *testing.B) {
	hashes := million()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, g := range Group(hashes, 6, nil) {
			n += len(g) - 1
		}
		b.ReportMetric(float64(n)/100_000, "grouped/planted")
	}
}

// TestGroup_WhatIsKeptApartIsNeverInOneGroup keeps random pairs apart, most of them near.
func TestGroup_WhatIsKeptApartIsNeverInOneGroup(t *testing.T) {
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 2))
		for range 60 {
			var hashes []Hash
			for range 1 + r.IntN(10) {
				h := Hash(r.Uint64())
				for range 1 + r.IntN(6) {
					hashes = append(hashes, flip(r, h, r.IntN(5)))
				}
			}
			kept := map[[2]int]bool{}
			for range r.IntN(3 * len(hashes)) {
				kept[[2]int{r.IntN(len(hashes)), r.IntN(len(hashes))}] = true
			}
			apart := func(i, j int) bool { return kept[[2]int{i, j}] || kept[[2]int{j, i}] }
			grouped := map[int]bool{}
			for _, group := range Group(hashes, Alike, apart) {
				for n, i := range group {
					if grouped[i] || hashes[i].Distance(hashes[group[0]]) > Alike || slices.ContainsFunc(group[:n], func(j int) bool { return apart(i, j) }) {
						t.Fatalf("seed %d: %v is a group of %x", seed, group, hashes)
					}
					grouped[i] = true
				}
			}
			near := Around(hashes, 0, Alike, apart)
			for n, i := range near {
				if slices.ContainsFunc(near[:n], func(j int) bool { return apart(i, j) }) {
					t.Fatalf("seed %d: %v are around the first of %x", seed, near, hashes)
				}
			}
		}
	}
}
