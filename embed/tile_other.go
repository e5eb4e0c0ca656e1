//go:build !amd64

package embed

func tile(in int, a []float32, lda int, b, bias, dst []float32, ldd int) {
	tilePortable(in, a, lda, b, bias, dst, ldd)
}
