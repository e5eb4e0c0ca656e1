package embed

import "golang.org/x/sys/cpu"

// What the processor has: instructions for 8 numbers at once, or for 16. Variables,
// so that tests reach every path.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F
)

// wideTile makes a tile of 12 rows and two panels where the processor can, and
// reports whether it did.
func wideTile(in int, a []float32, lda int, b, bias, dst []float32, ldd int) bool {
	if !hasAVX512 {
		return false
	}
	// The assembly checks no bounds: what it reads and writes last must be there.
	_, _, _, _ = a[(2*tileRows-1)*lda+in-1], b[in*2*tileCols-1], bias[2*tileCols-1], dst[(2*tileRows-1)*ldd+2*tileCols-1]
	tileAVX512(in, &a[0], lda, &b[0], &bias[0], &dst[0], ldd)
	return true
}

func tile(in int, a []float32, lda int, b, bias, dst []float32, ldd int) {
	if !hasAVX2 {
		tilePortable(in, a, lda, b, bias, dst, ldd)
		return
	}
	_, _, _, _ = a[(tileRows-1)*lda+in-1], b[in*tileCols-1], bias[tileCols-1], dst[(tileRows-1)*ldd+tileCols-1]
	tileAVX2(in, &a[0], lda, &b[0], &bias[0], &dst[0], ldd)
}

// softmax turns scores into shares of 1.
func softmax(v []float32, scale float32) {
	if !hasAVX2 || len(v)%lanes != 0 || len(v) == 0 {
		softmaxPortable(v, scale)
		return
	}
	softmaxAVX2(&v[0], len(v), scale)
}

// gelu applies the Gaussian error linear unit to each number.
func gelu(v []float32) {
	whole := 0
	if hasAVX2 {
		if whole = len(v) - len(v)%lanes; whole > 0 {
			geluAVX2(&v[0], whole)
		}
	}
	geluPortable(v[whole:])
}

// normRow adds y to x, unless it is nil, and normalizes x.
func normRow(x, y, scale, shift []float32, epsilon float32) {
	if !hasAVX2 || len(x)%lanes != 0 || len(x) == 0 {
		normRowPortable(x, y, scale, shift, epsilon)
		return
	}
	var add *float32
	if y != nil {
		_ = y[len(x)-1]
		add = &y[0]
	}
	_, _ = scale[len(x)-1], shift[len(x)-1]
	normAVX2(&x[0], add, &scale[0], &shift[0], len(x), epsilon)
}

// tileAVX2 is tilePortable for in ≥ 1.
//
//go:noescape
func tileAVX2(in int, a *float32, lda int, b, bias, dst *float32, ldd int)

// tileAVX512 makes 12 rows of two panels that lie one behind the other, for in ≥ 1.
//
//go:noescape
func tileAVX512(in int, a *float32, lda int, b, bias, dst *float32, ldd int)

//go:noescape
func softmaxAVX2(v *float32, n int, scale float32)

//go:noescape
func geluAVX2(v *float32, n int)

//go:noescape
func normAVX2(x, y, scale, shift *float32, h int, epsilon float32)
