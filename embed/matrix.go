package embed

// tileRows and tileCols are the size of the piece of a product that is made at
// once: as much as fits into the registers of a processor with AVX2. One with
// AVX-512 makes pieces of twice as many of both. lanes is how many numbers the
// other vector code takes at once.
const (
	tileRows = 6
	tileCols = 16
	lanes    = 8
)

// panels is the right side of a product, a matrix of out × in numbers, laid out
// as the product reads it: panels of 16 outputs, and of each the 16 numbers for
// the first input, then those for the second, and so on. The last panel is filled
// up with zeros.
type panels struct {
	out, in int
	data    []float32
	bias    []float32 // one per output, filled up to whole panels; zeros when there is none
}

// count is the number of panels.
func (p *panels) count() int { return (p.out + tileCols - 1) / tileCols }

// pack lays out a matrix whose number of output o and input i is at
// src[o*byOut+i*byIn]. It reuses what the panels held.
func (p *panels) pack(src []float32, out, in, byOut, byIn int) {
	p.out, p.in = out, in
	size := p.count() * tileCols
	p.data, p.bias = sized(p.data, size*in), sized(p.bias, size)
	clear(p.bias)
	for panel := range p.count() {
		dst := p.data[panel*tileCols*in:][:tileCols*in]
		from := panel * tileCols
		width := min(tileCols, out-from)
		if width < tileCols {
			clear(dst)
		}
		for i := range in {
			row := dst[i*tileCols:][:width]
			at := from*byOut + i*byIn
			if byOut == 1 {
				copy(row, src[at:at+width])
				continue
			}
			for o := range row {
				row[o] = src[at+o*byOut]
			}
		}
	}
}

// sized returns a slice of n numbers, the given one where it is large enough.
func sized(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

// multiply writes rows × p.out numbers to dst: the rows of a times the panels,
// plus the bias. lda and ldd are how far apart the rows of a and dst begin.
func (p *panels) multiply(dst []float32, ldd int, a []float32, lda, rows int) {
	wide := p.multiplyWide(dst, ldd, a, lda, rows)
	if left := rows - wide; wide > 0 && left > 2 { // a tile that is not full still beats two small ones
		p.multiplyRest(dst[wide*ldd:], ldd, a[wide*lda:], lda, left)
		wide = rows
	}
	if wide < rows {
		p.multiplyFrom(0, dst[wide*ldd:], ldd, a[wide*lda:], lda, rows-wide)
	}
	if pairs := p.out / (2 * tileCols); wide > 0 && pairs*2 < p.count() {
		p.multiplyFrom(2*pairs, dst, ldd, a, lda, wide)
	}
}

// multiplyWide makes what it can of a product in tiles of twice the size: pairs of
// whole panels, and as many rows as it returns.
func (p *panels) multiplyWide(dst []float32, ldd int, a []float32, lda, rows int) (done int) {
	const step = 2 * tileRows
	for panel := 0; (panel+2)*tileCols <= p.out; panel += 2 {
		b := p.data[panel*tileCols*p.in:][:2*tileCols*p.in]
		bias := p.bias[panel*tileCols:][:2*tileCols]
		r := 0
		for r+step <= rows && wideTile(p.in, a[r*lda:], lda, b, bias, dst[r*ldd+panel*tileCols:], ldd) {
			r += step
		}
		done = r
	}
	return done
}

// multiplyRest makes the whole pairs of panels of fewer rows than a wide tile has,
// in a tile of its own.
func (p *panels) multiplyRest(dst []float32, ldd int, a []float32, lda, rows int) {
	var out [4 * tileRows * tileCols]float32
	full := make([]float32, 2*tileRows*p.in) // the rows that are missing are zeros
	for r := range rows {
		copy(full[r*p.in:], a[r*lda:][:p.in])
	}
	for panel := 0; (panel+2)*tileCols <= p.out; panel += 2 {
		wideTile(p.in, full, p.in, p.data[panel*tileCols*p.in:][:2*tileCols*p.in], p.bias[panel*tileCols:][:2*tileCols], out[:], 2*tileCols)
		for r := range rows {
			copy(dst[r*ldd+panel*tileCols:][:2*tileCols], out[r*2*tileCols:])
		}
	}
}

// multiplyFrom makes the panels from the given one on.
func (p *panels) multiplyFrom(first int, dst []float32, ldd int, a []float32, lda, rows int) {
	whole := rows - rows%tileRows
	for panel := first; panel < p.count(); panel++ {
		b := p.data[panel*tileCols*p.in:][:tileCols*p.in]
		bias := p.bias[panel*tileCols:][:tileCols]
		col := panel * tileCols
		if p.out-col < tileCols {
			p.edge(dst[col:], ldd, a, lda, rows, b, bias, p.out-col)
			continue
		}
		for r := 0; r < whole; r += tileRows {
			tile(p.in, a[r*lda:], lda, b, bias, dst[r*ldd+col:], ldd)
		}
		if whole < rows {
			p.edge(dst[whole*ldd+col:], ldd, a[whole*lda:], lda, rows-whole, b, bias, tileCols)
		}
	}
}

// edge makes the part of a product that is no whole tile, in a tile of its own.
func (p *panels) edge(dst []float32, ldd int, a []float32, lda, rows int, b, bias []float32, width int) {
	var out [tileRows * tileCols]float32
	short := make([]float32, tileRows*p.in)
	for r := 0; r < rows; r += tileRows {
		n := min(tileRows, rows-r)
		from, step := a[r*lda:], lda
		if n < tileRows {
			for i := range n {
				copy(short[i*p.in:], from[i*lda:][:p.in])
			}
			from, step = short, p.in
		}
		tile(p.in, from, step, b, bias, out[:], tileCols)
		for i := range n {
			copy(dst[(r+i)*ldd:][:width], out[i*tileCols:])
		}
	}
}

// tilePortable makes one tile: 6 rows of a, lda apart, times a panel of in × 16
// numbers, plus the bias, written to 6 rows of dst, ldd apart.
func tilePortable(in int, a []float32, lda int, b, bias, dst []float32, ldd int) {
	for r := 0; r < tileRows; r += 3 {
		a0, a1, a2 := a[r*lda:][:in], a[(r+1)*lda:][:in], a[(r+2)*lda:][:in]
		for c := 0; c < tileCols; c += 4 {
			s00, s01, s02, s03 := bias[c], bias[c+1], bias[c+2], bias[c+3]
			s10, s11, s12, s13 := s00, s01, s02, s03
			s20, s21, s22, s23 := s00, s01, s02, s03
			for i := range in {
				w := b[i*tileCols+c:][:4]
				x, y, z := a0[i], a1[i], a2[i]
				s00, s01, s02, s03 = s00+x*w[0], s01+x*w[1], s02+x*w[2], s03+x*w[3]
				s10, s11, s12, s13 = s10+y*w[0], s11+y*w[1], s12+y*w[2], s13+y*w[3]
				s20, s21, s22, s23 = s20+z*w[0], s21+z*w[1], s22+z*w[2], s23+z*w[3]
			}
			copy(dst[r*ldd+c:], []float32{s00, s01, s02, s03})
			copy(dst[(r+1)*ldd+c:], []float32{s10, s11, s12, s13})
			copy(dst[(r+2)*ldd+c:], []float32{s20, s21, s22, s23})
		}
	}
}
