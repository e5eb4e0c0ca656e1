package bench

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"vitrine/library"
)

// dimensions is the length of a vector, as the usual small sentence models have it.
const dimensions = 384

// noise is how far a text's vector is off the sum of its words, as a part of that
// sum's length.
const noise = 0.6

// vectorOf returns the unit vector of a text: the sum of what its words mean, and
// noise that depends on the text alone.
func (c *corpus) vectorOf(text string) []float32 {
	sum := make([]float32, dimensions)
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if kind, n, ok := readWord(w); ok && wordKinds[kind].weight > 0 {
			add(sum, c.directions[n], wordKinds[kind].weight)
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	length := max(norm(sum), 1)
	off := gaussian(rand.New(rand.NewPCG(c.seed, h.Sum64())))
	add(sum, off, noise*length/norm(off))
	return unit(sum)
}

// readWord is the reverse of word: its kind, and its number among all words.
func readWord(w string) (kind, n int, ok bool) {
	if len(w) != 6 {
		return 0, 0, false
	}
	x := 0
	for i := 4; i >= 0; i -= 2 {
		a, b := strings.IndexByte(consonants, w[i]), strings.IndexByte(vowels, w[i+1])
		if a < 0 || b < 0 {
			return 0, 0, false
		}
		x = x*syllables + b*len(consonants) + a
	}
	n = (x - 4242 + allWords) % allWords * strideInverse % allWords
	at := n
	for kind := range wordKinds {
		if at < wordKinds[kind].words {
			return kind, n, true
		}
		at -= wordKinds[kind].words
	}
	return 0, 0, false
}

// strideInverse undoes stride: stride × strideInverse is 1 modulo allWords.
var strideInverse = inverse(stride, allWords)

func inverse(a, m int) int {
	x, y, r, s := 0, 1, m, a
	for s != 0 {
		q := r / s
		x, y, r, s = y, x-q*y, s, r-q*s
	}
	return (x%m + m) % m
}

func gaussian(r *rand.Rand) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func add(sum, v []float32, weight float32) {
	for i, x := range v {
		sum[i] += weight * x
	}
}

func norm(v []float32) float32 { return float32(math.Sqrt(float64(dot(v, v)))) }

func unit(v []float32) []float32 {
	n := norm(v)
	for i := range v {
		v[i] /= n
	}
	return v
}

// dot adds in four lanes, which lets the processor overlap them.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for i := 0; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}

// nearness is how near every text of the corpus is to a vector.
func (c *corpus) nearness(v []float32) []float32 {
	near := make([]float32, len(c.vectors))
	for i := range near {
		near[i] = dot(c.vectors[i], v)
	}
	return near
}

// exact returns how many assets stand on all shelves of a mask, and how near the
// k-th nearest of them is.
func (c *corpus) exact(near []float32, mask uint8, k int) (matches int, worst float32) {
	var all []float32
	for _, a := range c.assets {
		if a.shelf&mask == mask {
			all = append(all, near[a.vector])
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.SortFunc(all, func(a, b float32) int { // the nearest first
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	return len(all), all[min(k, len(all))-1]
}

// rounding is by how much two ways of adding up may differ.
const rounding = 1e-5

// share returns which part of the k nearest a list of hits has. What is as near as
// the k-th counts: variants of one prompt have one vector.
func (c *corpus) share(hits []library.AssetHash, near []float32, mask uint8, k int) (recall float64, matches int) {
	matches, worst := c.exact(near, mask, k)
	want := min(k, matches)
	if want == 0 {
		return 1, matches
	}
	right := 0
	for _, h := range hits {
		if i, ok := c.byHash[h]; ok && c.assets[i].shelf&mask == mask && near[c.assets[i].vector] >= worst-rounding {
			right++
		}
	}
	return float64(min(right, want)) / float64(want), matches
}
