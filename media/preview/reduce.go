package preview

import (
	"image"
)

// reducer shrinks a picture by averaging: every pixel of the result is the mean of
// the area of the source that it covers, to fractions of a source pixel. Rows come
// from top to bottom, so that the source need never be in memory as a whole. The
// result has the size of the source where that fits.
type reducer struct {
	w, h int // of the source
	out  *image.RGBA
	y    int      // next row of the result
	need int      // what its area still lacks, in units of which a source row has out's height
	acc  []uint64 // sums of the result's row under way: three channels a pixel
	sums []uint64 // of one source row
}

// encodedPixel is what a pixel takes at most in the buffer that a JPEG grows in.
const encodedPixel = 4

// reducerCost returns the bytes that the result takes, as pixels and as a JPEG.
func reducerCost(w, h, edge int) int64 {
	tw, th := fit(w, h, edge)
	return (4+encodedPixel)*int64(tw)*int64(th) + 2*3*8*int64(tw) + 64<<10
}

func newReducer(w, h, edge int) *reducer {
	tw, th := fit(w, h, edge)
	return &reducer{w: w, h: h, out: image.NewRGBA(image.Rect(0, 0, tw, th)), need: h, acc: make([]uint64, 3*tw), sums: make([]uint64, 3*tw)}
}

// fit returns the size of w×h inside a square, never larger than it was.
func fit(w, h, edge int) (int, int) {
	if w <= edge && h <= edge {
		return w, h
	}
	if w >= h {
		return edge, max(1, int(int64(h)*int64(edge)/int64(w)))
	}
	return max(1, int(int64(w)*int64(edge)/int64(h))), edge
}

// row takes the next row of the source: red, green and blue of each pixel, each
// pixel stride bytes behind the one before.
func (r *reducer) row(px []byte, stride int) {
	r.squeeze(px, stride)
	have := r.out.Rect.Dy()
	for have > 0 && r.y < r.out.Rect.Dy() {
		part := uint64(min(have, r.need))
		for i, v := range r.sums {
			r.acc[i] += v * part
		}
		have, r.need = have-int(part), r.need-int(part)
		if r.need == 0 {
			r.finish()
		}
	}
}

// squeeze sums a row of the source into r.sums, over the width that each pixel of
// the result covers. A source pixel is as wide as the result has pixels, and a
// pixel of the result as the source has.
func (r *reducer) squeeze(px []byte, stride int) {
	width := r.out.Rect.Dx()
	x, left := 0, width // the next source pixel, and how much of it is not used up
	for i := range width {
		need := r.w
		var red, green, blue uint64
		if left < width {
			p, part := px[x:x+3:x+3], uint64(left)
			red, green, blue = part*uint64(p[0]), part*uint64(p[1]), part*uint64(p[2])
			need, x, left = need-left, x+stride, width
		}
		var a, b, c uint64
		for ; need >= width; need -= width {
			p := px[x : x+3 : x+3]
			a, b, c = a+uint64(p[0]), b+uint64(p[1]), c+uint64(p[2])
			x += stride
		}
		full := uint64(width)
		red, green, blue = red+a*full, green+b*full, blue+c*full
		if need > 0 {
			p, part := px[x:x+3:x+3], uint64(need)
			red, green, blue = red+part*uint64(p[0]), green+part*uint64(p[1]), blue+part*uint64(p[2])
			left -= need
		}
		r.sums[3*i], r.sums[3*i+1], r.sums[3*i+2] = red, green, blue
	}
}

// finish writes a row of the result.
func (r *reducer) finish() {
	area := uint64(r.w) * uint64(r.h)
	out := r.out.Pix[r.y*r.out.Stride:]
	for i := range r.out.Rect.Dx() {
		for c := range 3 {
			out[4*i+c] = uint8((r.acc[3*i+c] + area/2) / area)
		}
		out[4*i+3] = 0xff
	}
	clear(r.acc)
	r.y, r.need = r.y+1, r.h
}
