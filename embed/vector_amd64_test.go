package embed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
)

// onEachPath runs f with the vector code of each kind of processor that this one can
// stand for, the portable code first.
func onEachPath(t *testing.T, f func(path string)) {
	t.Helper()
	avx2, avx512 := hasAVX2, hasAVX512
	defer func() { hasAVX2, hasAVX512 = avx2, avx512 }()
	hasAVX2, hasAVX512 = false, false
	f("portable")
	if hasAVX2 = avx2; avx2 {
		f("AVX2")
	}
	if hasAVX512 = avx512; avx512 {
		f("AVX-512")
	}
}

func farthest(a, b []float32) (most float64) {
	for i := range a {
		most = max(most, math.Abs(float64(a[i])-float64(b[i])))
	}
	return most
}

// TestVector_EveryPathComputesTheSame compares products, softmax, GELU and
// normalization of random sizes and numbers.
func TestVector_EveryPathComputesTheSame(t *testing.T) {
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		numbers := func(n int, spread float64) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(r.NormFloat64() * spread)
			}
			return v
		}
		for range randtest.Cases(t, 60) {
			rows, in, out := 1+r.IntN(40), 1+r.IntN(50), 1+r.IntN(100)
			gap := r.IntN(5) // rows lie apart
			a, weight := numbers(rows*(in+gap), 1), numbers(in*out, 1)
			scores, wide, x, y := numbers(lanes*(1+r.IntN(12)), 5), numbers(1+r.IntN(60), 3), numbers(lanes*(1+r.IntN(50)), 2), []float32(nil)
			if r.IntN(4) > 0 {
				y = numbers(len(x), 2)
			}
			scale, shift := numbers(len(x), 1), numbers(len(x), 1)
			var want [][]float32
			onEachPath(t, func(path string) {
				var p panels
				p.pack(weight, out, in, in, 1)
				product := make([]float32, (rows-1)*(out+gap)+out) // no number behind the last row
				p.multiply(product, out+gap, a, in+gap, rows)
				s, g, n := append([]float32{}, scores...), append([]float32{}, wide...), append([]float32{}, x...)
				softmax(s, 0.3)
				gelu(g)
				normRow(n, y, scale, shift, 1e-12)
				got := [][]float32{product, s, g, n}
				if path == "portable" {
					want = got
					return
				}
				for i, tolerance := range []float64{1e-4, 1e-6, 2e-6, 2e-5} {
					if d := farthest(want[i], got[i]); d > tolerance || math.IsNaN(d) {
						t.Errorf("%s, part %d of %d×%d by %d: off by %g", path, i, rows, in, out, d)
					}
				}
			})
		}
	})
}

// TestVector_SoftmaxAndGELUStandExtremes holds the ends of what floats can be.
func TestVector_SoftmaxAndGELUStandExtremes(t *testing.T) {
	onEachPath(t, func(path string) {
		s := []float32{-1e30, 1e4, 1e4, -1e4, lowest, 0, lowest, lowest}
		softmax(s, 0.5)
		if math.Abs(float64(s[1])-0.5) > 1e-6 || math.Abs(float64(s[2])-0.5) > 1e-6 || s[0] > 1e-30 || s[3] > 1e-30 || s[4] > 1e-30 {
			t.Errorf("%s: %v", path, s)
		}
		g := []float32{-1e30, -100, -6, 0, 6, 100, 1e30, 1}
		gelu(g)
		for i, want := range []float64{0, 0, 0, 0, 6, 100, 1e30, 0.8413447} {
			if math.Abs(float64(g[i])-want) > 2e-6*max(1, want) {
				t.Errorf("%s: gelu %d is %g, want %g", path, i, g[i], want)
			}
		}
	})
}

// TestVector_EveryPathGivesTheSameEmbedding embeds texts of many lengths.
func TestVector_EveryPathGivesTheSameEmbedding(t *testing.T) {
	e := openModel(t, testenv.Model(t))
	var texts []string
	for n := range 14 {
		texts = append(texts, fmt.Sprint(n, strings.Repeat(" a red fox in snow, 8k", n*n/8)))
	}
	var want [][]float32
	onEachPath(t, func(path string) {
		got, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		if path == "portable" {
			want = got
			return
		}
		for i := range texts {
			if d := farthest(want[i], got[i]); d > 1e-5 {
				t.Errorf("%s: text %d is off by %g", path, i, d)
			}
		}
	})
}
