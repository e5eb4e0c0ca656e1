package relevance

import (
	"math"
	"math/rand/v2"
	"strings"
)

// scene is what a picture shows: a subject first, then whatever else.
type scene []*concept

func (s scene) has(c *concept) bool {
	for _, own := range s {
		if own == c {
			return true
		}
	}
	return false
}

// of returns the scene's concepts of a kind.
func (s scene) of(kind string) (list []*concept) {
	for _, c := range s {
		if c.kind == kind {
			list = append(list, c)
		}
	}
	return list
}

// zipf is the exponent of how much more often the first concept of a kind is
// drawn than the n-th: n^zipf times.
const zipf = 0.8

// drawScene draws what a picture shows.
func drawScene(r *rand.Rand) scene {
	subject := draw(r, lexicon["subject"])
	s := scene{subject}
	var fitting []*concept
	for _, a := range lexicon["attribute"] {
		if strings.Contains(a.fits, subject.fits) {
			fitting = append(fitting, a)
		}
	}
	for range 1 + r.IntN(2) {
		if a := draw(r, fitting); !s.has(a) {
			s = append(s, a)
		}
	}
	for _, k := range []struct {
		kind   string
		chance float64
	}{{"style", 0.8}, {"setting", 0.9}, {"light", 0.5}, {"mood", 0.5}} {
		if r.Float64() < k.chance {
			s = append(s, draw(r, lexicon[k.kind]))
		}
	}
	return s
}

func draw(r *rand.Rand, list []*concept) *concept {
	sum := 0.0
	for i := range list {
		sum += math.Pow(float64(i+1), -zipf)
	}
	at := r.Float64() * sum
	for i, c := range list {
		if at -= math.Pow(float64(i+1), -zipf); at < 0 {
			return c
		}
	}
	return list[len(list)-1]
}

// pick returns one of several.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// some returns n of a list, in an order that is drawn.
func some[T any](r *rand.Rand, list []T, n int) []T {
	out := make([]T, 0, n)
	for _, i := range r.Perm(len(list))[:min(n, len(list))] {
		out = append(out, list[i])
	}
	return out
}
