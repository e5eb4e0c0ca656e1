// Package preview makes small JPEG pictures of media files.
//
// In go the bytes of a file and the longest edge wanted; out comes a JPEG
// without any metadata. It never enlarges, never trusts a header about how much
// memory a picture needs, and keeps nothing.
package preview

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders register themselves
	"image/jpeg"
	_ "image/png" // as above
	"io"

	_ "golang.org/x/image/bmp" // as above
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // as above
	_ "golang.org/x/image/webp" // as above
)

// Edges are the lengths, in pixels, of the longest edge that previews come in.
var Edges = []int{256, 512, 1024, 2048}

// DefaultEdge is the thumbnail that every asset gets when it arrives.
const DefaultEdge = 512

// MaxPixels bounds what is decoded: a picture of 64 megapixels takes 256 MiB.
const MaxPixels = 64 << 20

// MaxInline is the largest preview that travels inside a reply (spec §8), in bytes.
const MaxInline = 200 << 10

// ErrUnsupported means that no picture can be made of this kind of file.
var ErrUnsupported = errors.New("no preview can be made of this kind of file")

// ErrTooLarge means that the picture has more than MaxPixels.
var ErrTooLarge = errors.New("the picture has too many pixels to be decoded safely")

// background is what shows through transparent pixels: a mid grey on which both
// dark and light drawings can be seen.
var background = image.NewUniform(color.RGBA{0x80, 0x80, 0x80, 0xff})

// Make decodes a picture and gives a JPEG whose longest edge is at most edge.
// A file that is damaged gives the decoder's error.
func Make(r io.ReaderAt, size int64, edge int) (preview []byte, err error) {
	// Decoders of third parties must not take a worker down with them.
	defer func() {
		if p := recover(); p != nil {
			preview, err = nil, fmt.Errorf("the decoder failed: %v", p)
		}
	}()
	src, err := decode(r, size)
	if err != nil {
		return nil, err
	}
	return encode(shrink(src, edge), 82)
}

// Inline gives a preview of at most MaxInline bytes for a reply.
func Inline(r io.ReaderAt, size int64) ([]byte, error) {
	for _, edge := range []int{1024, 768, 512, 256} {
		b, err := Make(r, size, edge)
		if err != nil || len(b) <= MaxInline {
			return b, err
		}
	}
	return nil, ErrTooLarge
}

func decode(r io.ReaderAt, size int64) (image.Image, error) {
	all := func() io.Reader { return io.NewSectionReader(r, 0, size) }
	if still, err := firstFrame(r, size); err != nil {
		return nil, err
	} else if still != nil {
		all = func() io.Reader { return bytes.NewReader(still) }
	}
	cfg, _, err := image.DecodeConfig(all())
	if errors.Is(err, image.ErrFormat) {
		return nil, ErrUnsupported
	}
	if err != nil {
		return nil, err
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || int64(cfg.Width)*int64(cfg.Height) > MaxPixels {
		return nil, ErrTooLarge
	}
	img, _, err := image.Decode(all())
	return img, err
}

func encode(img image.Image, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// shrink fits a picture into a square of edge pixels on an opaque background. It
// halves while it can, which averages every pixel at little cost, and leaves the
// last step below a factor of two to a proper filter.
func shrink(src image.Image, edge int) *image.RGBA {
	b := src.Bounds()
	w, h := fit(b.Dx(), b.Dy(), edge)
	flat := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	if opaque, ok := src.(interface{ Opaque() bool }); ok && opaque.Opaque() {
		draw.Draw(flat, flat.Bounds(), src, b.Min, draw.Src)
	} else {
		draw.Draw(flat, flat.Bounds(), background, image.Point{}, draw.Src)
		draw.Draw(flat, flat.Bounds(), src, b.Min, draw.Over)
	}
	for flat.Rect.Dx() >= 2*w && flat.Rect.Dy() >= 2*h && flat.Rect.Dx() > 1 && flat.Rect.Dy() > 1 {
		flat = halve(flat)
	}
	if flat.Rect.Dx() == w && flat.Rect.Dy() == h {
		return flat
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.BiLinear.Scale(out, out.Bounds(), flat, flat.Bounds(), draw.Src, nil)
	return out
}

// fit gives the size of w×h inside a square, never larger than it was.
func fit(w, h, edge int) (int, int) {
	if w <= edge && h <= edge {
		return w, h
	}
	if w >= h {
		return edge, max(1, h*edge/w)
	}
	return max(1, w*edge/h), edge
}

// halve averages blocks of two by two pixels.
func halve(src *image.RGBA) *image.RGBA {
	w, h := src.Rect.Dx()/2, src.Rect.Dy()/2
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		a := src.Pix[2*y*src.Stride : 2*y*src.Stride+8*w]
		b := src.Pix[(2*y+1)*src.Stride : (2*y+1)*src.Stride+8*w]
		out := dst.Pix[y*dst.Stride : y*dst.Stride+4*w]
		for x := 0; x < len(out); x += 4 {
			i := 2 * x
			p, q := a[i:i+8:i+8], b[i:i+8:i+8]
			out[x] = uint8((int(p[0]) + int(p[4]) + int(q[0]) + int(q[4]) + 2) / 4)
			out[x+1] = uint8((int(p[1]) + int(p[5]) + int(q[1]) + int(q[5]) + 2) / 4)
			out[x+2] = uint8((int(p[2]) + int(p[6]) + int(q[2]) + int(q[6]) + 2) / 4)
			out[x+3] = 0xff
		}
	}
	return dst
}
