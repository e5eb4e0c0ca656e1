package embed

import "golang.org/x/sys/cpu"

// fast says that the processor can make a tile with AVX2 and FMA.
var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func tile(in int, a []float32, lda int, b, bias, dst []float32, ldd int) {
	if !fast {
		tilePortable(in, a, lda, b, bias, dst, ldd)
		return
	}
	// The assembly checks no bounds: what it reads and writes last must be there.
	_, _, _, _ = a[(tileRows-1)*lda+in-1], b[in*tileCols-1], bias[tileCols-1], dst[(tileRows-1)*ldd+tileCols-1]
	tileAVX2(in, &a[0], lda, &b[0], &bias[0], &dst[0], ldd)
}

// tileAVX2 is tilePortable for in ≥ 1.
//
//go:noescape
func tileAVX2(in int, a *float32, lda int, b, bias, dst *float32, ldd int)
