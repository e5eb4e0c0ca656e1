//go:build onnx && linux && (amd64 || arm64)

package embed

import (
	"math"
	"strings"
	"sync"
	"testing"

	"vitrine/internal/testenv"
)

func openAccelerated(t testing.TB, dir string) Embedder {
	t.Helper()
	e, err := openONNX(dir, testenv.Runtime(t))
	if err != nil {
		t.Fatal(describe(err))
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestONNX_BothEnginesGiveTheSameVectors(t *testing.T) {
	for name, dir := range map[string]string{"a tiny model": tinyModel(t), "the model of the demo": testenv.Model(t)} {
		t.Run(name, func(t *testing.T) {
			own, other := openModel(t, dir), openAccelerated(t, dir)
			if own.ID() != other.ID() || own.Dimensions() != other.Dimensions() {
				t.Errorf("identities %s and %s, %+v", own.ID(), other.ID(), other.Info())
			}
			var texts []string
			for i := range 90 {
				texts = append(texts, strings.Repeat([]string{"red ", "fox ", "snow, ", "猫 "}[i%4], i%41)+"in foxs")
			}
			texts = append(texts, "", strings.Repeat("red fox ", 1000))
			a, err := own.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			b, err := other.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range texts {
				for j := range a[i] {
					if math.Abs(float64(a[i][j]-b[i][j])) > 1e-5 {
						t.Fatalf("text %d, number %d: %g and %g", i, j, a[i][j], b[i][j])
					}
				}
			}
		})
	}
}

func TestONNX_TheRuntimeServesManyAtOnce(t *testing.T) {
	e := openAccelerated(t, tinyModel(t))
	want := embedOne(t, e, "red fox")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				got, err := e.Embed(t.Context(), []string{"in snow in snow", "red fox"})
				if err != nil || cosine(got[1], want) < 0.99999 {
					t.Errorf("%v, error %v", got, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkONNX(b *testing.B) { benchmarkEmbedder(b, openAccelerated(b, testenv.Model(b))) }
