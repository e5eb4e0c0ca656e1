package preview

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"math"
	"slices"

	"vitrine/library"
)

// placeholderEdge is the longest edge of the picture that a placeholder is made of.
const placeholderEdge = 100

// maxPlaceholder is the longest placeholder, in bytes.
const maxPlaceholder = 25

// Thumbnail returns an asset's thumbnail of DefaultEdge, decoded. It is made unless it is kept
// already; the errors are those of Picture.
func (m *Maker) Thumbnail(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (img image.Image, err error) {
	thumbnail, err := m.Picture(ctx, tenant, hash, DefaultEdge)
	if err != nil {
		return nil, err
	}
	s, err := open(file{ctx, bytes.NewReader(thumbnail), int64(len(thumbnail))})
	if err != nil {
		return nil, Error(err)
	}
	err = m.budget.Use(ctx, s.cost, func() (err error) {
		img, err = jpeg.Decode(bytes.NewReader(thumbnail))
		return err
	})
	return img, Error(err)
}

// Placeholder returns the ThumbHash of a thumbnail, which must have pixels: 5 to 25 bytes that
// hold a blurred picture and its aspect ratio, for clients to show while the thumbnail loads.
func Placeholder(thumbnail image.Image) []byte {
	b := thumbnail.Bounds()
	r := newReducer(b.Dx(), b.Dy(), placeholderEdge)
	passRows(thumbnail, r)
	return thumbHash(r.out)
}

// thumbHash encodes an opaque picture of at most 100 pixels a side as a ThumbHash
// (evanw.github.io/thumbhash): the lowest frequencies of its luminance and of two
// color differences, four bits each, behind a header with their means and ranges.
func thumbHash(img *image.RGBA) []byte {
	const limit = 7 // frequencies along the longer side
	w, h := img.Rect.Dx(), img.Rect.Dy()
	longest := float64(max(w, h))
	nx := max(1, int(math.Round(limit*float64(w)/longest)))
	ny := max(1, int(math.Round(limit*float64(h)/longest)))
	light, warm, tint := channels(img)
	l := transform(light, w, h, max(3, nx), max(3, ny))
	p := transform(warm, w, h, 3, 3)
	q := transform(tint, w, h, 3, 3)

	head := level(63*l.mean) | level(31.5+31.5*p.mean)<<6 | level(31.5+31.5*q.mean)<<12 | level(31*l.scale)<<18
	landscape, shorter := 0, nx
	if w > h {
		landscape, shorter = 1, ny
	}
	sizes := shorter | level(63*p.scale)<<3 | level(63*q.scale)<<9 | landscape<<15
	out := append(make([]byte, 0, maxPlaceholder), byte(head), byte(head>>8), byte(head>>16), byte(sizes), byte(sizes>>8))
	waves := slices.Concat(l.waves, p.waves, q.waves)
	for i := 0; i < len(waves); i += 2 {
		pair := level(15 * waves[i])
		if i+1 < len(waves) {
			pair |= level(15*waves[i+1]) << 4
		}
		out = append(out, byte(pair))
	}
	return out
}

// level rounds half up, as the format does.
func level(v float64) int { return int(math.Floor(v + 0.5)) }

// channels splits a picture into luminance, yellow less blue, and red less green, all of 0 to 1 or -1 to 1.
func channels(img *image.RGBA) (light, warm, tint []float64) {
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:]
		for x := range img.Rect.Dx() {
			r, g, b := float64(row[4*x])/255, float64(row[4*x+1])/255, float64(row[4*x+2])/255
			light, warm, tint = append(light, (r+g+b)/3), append(warm, (r+g)/2-b), append(tint, r-g)
		}
	}
	return light, warm, tint
}

// spectrum is the mean of a channel and its lowest frequencies, scaled to 0 to 1 by the
// largest of them.
type spectrum struct {
	mean, scale float64
	waves       []float64
}

// transform returns the cosine transform of a channel up to nx and ny frequencies, those
// in the lower triangle.
func transform(channel []float64, w, h, nx, ny int) spectrum {
	var out spectrum
	across, down := cosines(w, nx), cosines(h, ny)
	for cy := range ny {
		for cx := 0; cx*ny < nx*(ny-cy); cx++ {
			sum := 0.0
			for y := range h {
				fy := down[cy][y]
				for x, fx := range across[cx] {
					sum += channel[y*w+x] * fy * fx
				}
			}
			sum /= float64(w * h)
			if cx == 0 && cy == 0 {
				out.mean = sum
				continue
			}
			out.waves, out.scale = append(out.waves, sum), max(out.scale, math.Abs(sum))
		}
	}
	for i := range out.waves {
		if out.scale > 0 {
			out.waves[i] = 0.5 + 0.5/out.scale*out.waves[i]
		}
	}
	return out
}

// cosines returns the lowest frequencies along a side, each at the middle of every pixel.
func cosines(side, frequencies int) [][]float64 {
	out := make([][]float64, frequencies)
	for c := range out {
		out[c] = make([]float64, side)
		for i := range out[c] {
			out[c][i] = math.Cos(math.Pi / float64(side) * float64(c) * (float64(i) + 0.5))
		}
	}
	return out
}
