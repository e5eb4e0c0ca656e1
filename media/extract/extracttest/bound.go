// Package extracttest holds what the tests of the extraction packages share: the
// promise that no input, however hostile, takes much memory or time.
//
// In goes a function that reads an input; a test fails when the function exceeds
// the bounds. It never runs in the product.
package extracttest

import (
	"runtime/metrics"
	"testing"
	"time"
)

// Bounds of reading one input, whatever it declares about itself. Memory counts
// everything allocated, freed or not, and so is never less than the peak.
const (
	MaxMemory = 64 << 20        // bytes
	MaxTime   = 5 * time.Second // of processor time, in all threads
)

// Bounded runs read and fails the test when it allocates more than MaxMemory and
// a hundred times the input's length in bytes, or takes longer than MaxTime.
// Nothing else may allocate meanwhile.
func Bounded(t testing.TB, length int, read func()) {
	t.Helper()
	before, start := allocated(), clock()
	read()
	took, used := clock()-start, allocated()-before
	if limit := uint64(MaxMemory + 100*length); used > limit {
		t.Errorf("%d MiB were allocated for %d bytes, more than %d MiB", used>>20, length, limit>>20)
	}
	if took > MaxTime {
		t.Errorf("took %v of processor time for %d bytes", took, length)
	}
}

// allocated returns the bytes allocated so far. Unlike runtime.ReadMemStats it does
// not stop the world, which a fuzz test would do thousands of times a second.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
