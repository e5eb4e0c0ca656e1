// Package randtest runs random tests so that what they find can be found again.
//
// Each random test runs with two seeds: a fixed one, whose cases are those of the
// last run, and a fresh one, which tries new cases every time. `make test` chooses
// the fresh seed and prints it; a test that runs alone logs its own. To repeat a run:
//
//	VITRINE_TEST_SEED=1234 go test ./query/run -run TestHighlights
//
// VITRINE_RANDOM_FACTOR makes every random test try that many times as many cases,
// which is what `make random` does. A find becomes a case of its own beside the test.
package randtest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Variables of the environment.
const (
	SeedVariable   = "VITRINE_TEST_SEED"
	FactorVariable = "VITRINE_RANDOM_FACTOR"
)

// fixed is the seed that every run tries.
const fixed = 1

// Fresh returns the seed of this run: VITRINE_TEST_SEED, else a new one, which is logged.
func Fresh(t testing.TB) uint64 {
	t.Helper()
	seed, err := freshSeed(os.Getenv(SeedVariable))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("random cases of this run: %s=%d", SeedVariable, seed)
	return seed
}

func freshSeed(given string) (uint64, error) {
	if given == "" {
		return fixed + 1 + rand.Uint64N(1<<31), nil
	}
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil || seed == 0 {
		return 0, fmt.Errorf("%s is %q; it must be a number above 0", SeedVariable, given)
	}
	return seed, nil
}

// Long reports whether this is a long run, with VITRINE_RANDOM_FACTOR set.
func Long() bool { return os.Getenv(FactorVariable) != "" }

// Seeds returns the fixed and the fresh seed, for tests that Run and Check do not fit.
func Seeds(t testing.TB) []uint64 {
	t.Helper()
	return []uint64{fixed, Fresh(t)}
}

// Cases returns how many random cases a test tries where it usually tries n: a tenth
// of them with -short, VITRINE_RANDOM_FACTOR times as many where that is set.
func Cases(t testing.TB, n int) int {
	t.Helper()
	if given := os.Getenv(FactorVariable); given != "" {
		factor, err := strconv.Atoi(given)
		if err != nil || factor < 1 {
			t.Fatalf("%s is %q; it must be a number above 0", FactorVariable, given)
		}
		return n * factor
	}
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

// Run calls test twice as a subtest, with numbers from the fixed seed and from the
// fresh one. The second subtest's name does not change with the seed.
func Run(t *testing.T, test func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	t.Run("fixed seed", func(t *testing.T) { test(t, NewRand(fixed)) })
	t.Run("fresh seed", func(t *testing.T) { test(t, NewRand(Fresh(t))) })
}

// NewRand returns numbers that follow from seeds: of the run, and of parts of a test
// that draw side by side.
func NewRand(seed uint64, part ...uint64) *rand.Rand {
	second := uint64(0)
	for _, p := range part {
		second = second*31 + p + 1
	}
	return rand.New(rand.NewPCG(seed, second))
}

// flags guards rapid's flags, which are the only way to tell it a seed.
var flags sync.Mutex

// Check is rapid.Check with both seeds. It runs no property beside another one.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	flags.Lock()
	defer flags.Unlock()
	set(t, "rapid.checks", strconv.Itoa(Cases(t, 100)))
	for _, seed := range Seeds(t) {
		set(t, "rapid.seed", strconv.FormatUint(seed, 10))
		rapid.Check(t, property)
	}
}

// set changes a flag of rapid's, unless it was given on the command line.
func set(t *testing.T, name, value string) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name && !changed[name] })
	if given {
		return
	}
	changed[name] = true
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}

var changed = map[string]bool{} // flags that set has set; guarded by flags
