//go:build !amd64

package embed

func tile(in int, a []float32, lda int, b, bias, dst []float32, ldd int) {
	tilePortable(in, a, lda, b, bias, dst, ldd)
}

func wideTile(int, []float32, int, []float32, []float32, []float32, int) bool { return false }

func softmax(v []float32, scale float32) { softmaxPortable(v, scale) }

func gelu(v []float32) { geluPortable(v) }

func normRow(x, y, scale, shift []float32, epsilon float32) {
	normRowPortable(x, y, scale, shift, epsilon)
}
