package draw

import "math"

// Rand is a small deterministic generator (splitmix64). It is our own rather
// than math/rand so that the bytes of a sample never change with a Go release.
type Rand struct{ state uint64 }

// NewRand returns a generator for the given seed; equal seeds give equal streams.
func NewRand(seed uint64) *Rand { return &Rand{state: seed} }

// Mix folds values into one well spread seed, so that streams derived from
// neighbouring numbers share nothing visible.
func Mix(values ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range values {
		h = scramble(h ^ scramble(v+0x9e3779b97f4a7c15))
	}
	return h
}

func scramble(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return scramble(r.state)
}

// Float returns a number in [0,1).
func (r *Rand) Float() float32 { return float32(r.Uint64()>>40) / (1 << 24) }

// Range returns a number in [lo,hi).
func (r *Rand) Range(lo, hi float32) float32 { return lo + (hi-lo)*r.Float() }

// Intn returns an integer in [0,n); n must be positive.
func (r *Rand) Intn(n int) int { return int(r.Uint64() % uint64(n)) }

// Between returns an integer in [lo,hi], both ends included.
func (r *Rand) Between(lo, hi int) int { return lo + r.Intn(hi-lo+1) }

// Chance reports true with probability p.
func (r *Rand) Chance(p float32) bool { return r.Float() < p }

// Normal returns a bell shaped number with mean 0 and deviation 1 (sum of
// uniforms: bounded by ±3.5, which keeps outliers out of a composition).
func (r *Rand) Normal() float32 {
	return (r.Float() + r.Float() + r.Float() + r.Float() - 2) * 1.7320508
}

// Angle returns a direction in radians, [0,2π).
func (r *Rand) Angle() float32 { return r.Float() * 2 * math.Pi }

// Pick returns one element of a non-empty list.
func Pick[T any](r *Rand, list []T) T { return list[r.Intn(len(list))] }

// Shuffle reorders the list in place.
func Shuffle[T any](r *Rand, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.Intn(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
