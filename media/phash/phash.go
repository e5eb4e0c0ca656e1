// Package phash tells pictures that look alike by 64 bits each.
//
// In comes a picture; out comes its perceptual hash: the signs of the lowest frequencies of
// its brightness, which survive resizing, another encoding and a small crop. Hashes that
// differ in few bits belong to pictures that look alike. The package also groups many hashes
// by their distance.
package phash

import (
	"image"
	"math"
	"math/bits"
	"sort"
)

// Hash is the perceptual hash of a picture.
type Hash uint64

// Distance returns in how many of their 64 bits two hashes differ.
func (h Hash) Distance(other Hash) int { return bits.OnesCount64(uint64(h ^ other)) }

const (
	side = 32 // of the reduced picture
	low  = 11 // frequencies per direction
	// flat is the contrast below which the signs of the frequencies are noise: such pictures
	// would all be alike, or nothing.
	flat = 2.0
	// Alike is the distance up to which pictures are alike unless another one is asked for.
	Alike = 8
)

// Of returns the hash of a picture. It is false for a picture without contrast, such as one
// of a single color, which nothing can be told by.
func Of(img image.Image) (Hash, bool) {
	small := reduce(img)
	f := frequencies(small)
	var sorted [64]float64
	copy(sorted[:], f[:])
	sort.Float64s(sorted[:])
	if sorted[len(sorted)-1]-sorted[0] < flat*side {
		return 0, false
	}
	median := (sorted[31] + sorted[32]) / 2
	var h Hash
	for i, v := range f {
		if v > median {
			h |= 1 << i
		}
	}
	return h, true
}

// reduce returns a picture's brightness as 32 by 32 means of the areas that they cover.
func reduce(img image.Image) *[side][side]float64 {
	var sums, weights [side][side]float64
	b := img.Bounds()
	columns := coverage(b.Dx())
	for y, rows := range coverage(b.Dy()) {
		for x, cols := range columns {
			v := brightness(img, b.Min.X+x, b.Min.Y+y)
			for _, r := range rows {
				for _, c := range cols {
					sums[r.cell][c.cell] += v * r.share * c.share
					weights[r.cell][c.cell] += r.share * c.share
				}
			}
		}
	}
	for y := range side {
		for x := range side {
			sums[y][x] /= weights[y][x]
		}
	}
	return &sums
}

// covered is how much of a pixel lies in one of the 32 cells along a side.
type covered struct {
	cell  int
	share float64
}

// coverage returns for each pixel of a side which cells it covers. A pixel of a side shorter
// than 32 covers several.
func coverage(pixels int) [][]covered {
	out := make([][]covered, pixels)
	scale := float64(side) / float64(pixels)
	for i := range out {
		from, to := float64(i)*scale, float64(i+1)*scale
		for cell := int(from); cell < side && float64(cell) < to; cell++ {
			if share := min(to, float64(cell+1)) - max(from, float64(cell)); share > 1e-9 {
				out[i] = append(out[i], covered{cell, share})
			}
		}
	}
	return out
}

// brightness returns the luma of a pixel, 0 to 255, over white where it is transparent.
func brightness(img image.Image, x, y int) float64 {
	switch img := img.(type) {
	case *image.YCbCr:
		return float64(img.Y[img.YOffset(x, y)])
	case *image.Gray:
		return float64(img.GrayAt(x, y).Y)
	}
	r, g, b, a := img.At(x, y).RGBA()
	return (0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b) + float64(0xffff-a)) / 257
}

// frequencies returns the 64 lowest frequencies of the cosine transform but the mean.
func frequencies(p *[side][side]float64) (out [64]float64) {
	var rows [side][low]float64
	for y := range side {
		for u := range low {
			for x := range side {
				rows[y][u] += p[y][x] * cosines[u][x]
			}
		}
	}
	for i, f := range lowest {
		for y := range side {
			out[i] += rows[y][f.u] * cosines[f.v][y]
		}
	}
	return out
}

// lowest are the frequencies of the hash's bits, along the width and along the height.
var lowest = func() (list [64]struct{ u, v int }) {
	n := 0
	for sum := 1; n < len(list); sum++ {
		for u := 0; u <= sum && n < len(list); u++ {
			list[n].u, list[n].v = u, sum-u
			n++
		}
	}
	return list
}()

var cosines = func() (t [low][side]float64) {
	for u := range t {
		for x := range side {
			t[u][x] = math.Cos(math.Pi * float64(u) * (float64(x) + 0.5) / side)
		}
	}
	return t
}()
