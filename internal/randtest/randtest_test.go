package randtest_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

// drawn returns what a random test draws in one run.
func drawn(t *testing.T, test func(t *testing.T, out *[]uint64)) (out []uint64) {
	t.Run("run", func(t *testing.T) { test(t, &out) })
	return out
}

func byRapid(t *testing.T, out *[]uint64) {
	randtest.Check(t, func(t *rapid.T) { *out = append(*out, rapid.Uint64().Draw(t, "n")) })
}

func byRand(t *testing.T, out *[]uint64) {
	randtest.Run(t, func(_ *testing.T, r *rand.Rand) {
		for range 100 {
			*out = append(*out, r.Uint64())
		}
	})
}

func TestSeeds_FixedCasesStayAndFreshOnesFollowTheSeedOfTheRun(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *[]uint64){"rapid": byRapid, "rand": byRand} {
		t.Setenv(randtest.SeedVariable, "77")
		first, again := drawn(t, test), drawn(t, test)
		t.Setenv(randtest.SeedVariable, "78")
		other := drawn(t, test)
		if len(first) != 200 || len(again) != 200 || len(other) != 200 {
			t.Fatalf("%s: %d, %d and %d cases, want 100 for each of two seeds", name, len(first), len(again), len(other))
		}
		fresh := 0
		for i := range first {
			if first[i] != again[i] || i < 100 && first[i] != other[i] {
				t.Fatalf("%s: case %d is %d, %d, and %d with another seed", name, i, first[i], again[i], other[i])
			}
			if i >= 100 && first[i] != other[i] && first[i] != first[i-100] {
				fresh++
			}
		}
		if fresh < 50 {
			t.Errorf("%s: only %d of 100 cases change with the seed", name, fresh)
		}
	}
}

func TestCases_FactorMultipliesThem(t *testing.T) {
	t.Setenv(randtest.FactorVariable, "3")
	if n := randtest.Cases(t, 20); n != 60 {
		t.Errorf("%d cases, want 60", n)
	}
	if got := drawn(t, byRapid); len(got) != 600 {
		t.Errorf("rapid tried %d cases, want 600", len(got))
	}
}
